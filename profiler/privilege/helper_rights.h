// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace icepath::privilege {

// Of the calling process, which is the root helper: takes away what of root it doesn't need. It keeps the capabilities for BPF,
// for perf events, for pinning others' tasks and for reading their /proc (helper_rights.cc), gets no new ones by executing
// anything, and has a session, a working directory and an environment of nobody's. What can't be taken away stays: a helper that isn't root has
// none of it.
void keep_rights_for_capturing();

// Of the process that starts workers in namespaces which it makes: likewise, but it has icepath's environment, working directory and
// session, as the workers have them from it.
void keep_rights_for_spaces();

} // namespace icepath::privilege
