// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `icepath setup` does to the root helper's file: it gives it capabilities, and lets only the members of a group
// execute it, or undoes both. What the file was before is kept with it, in an attribute that only root can read or
// write. So it ends with the file, as the capabilities do when a package replaces it.
#include <sys/types.h>

#include <string>

namespace icepath::privilege {

// Owner, group, mode and capabilities: "root:icepath 0750, cap_perfmon,cap_bpf=p".
std::string describe_rights(const std::string &path);

// Throws Failure(MachineCannot), naming what is at fault, unless `path` is a file of root's, nobody else may write to
// it or to any folder above it, and its file system lets programs have capabilities.
void check_may_have_capabilities(const std::string &path);

// As root. The file becomes root's, to be executed by members of `group` alone, and gets the capabilities
// for_members(). Another time, it only changes the group. Throws Failure(MachineCannot); then the file is as it was
// before the call.
void give_capabilities(const std::string &path, gid_t group);

// As root: makes the file what it was before give_capabilities(). False: that wasn't called, or is undone already.
// Throws Failure(MachineCannot).
bool take_capabilities_back(const std::string &path);

} // namespace icepath::privilege
