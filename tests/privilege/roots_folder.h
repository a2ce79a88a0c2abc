// SPDX-License-Identifier: Apache-2.0
#pragma once
// A folder to which nobody but root may write, as may no folder above it, with a helper in it: where icepath is
// installed. It is on a file system of a mount namespace of this process, so nothing of it is left.
#include <filesystem>
#include <string>

namespace icepath::privilege {

// Why there is none here; empty: enter it.
std::string why_no_roots_folder();

// Once for a process; the helper is then a file of mode 0755.
std::filesystem::path roots_folder();

} // namespace icepath::privilege
