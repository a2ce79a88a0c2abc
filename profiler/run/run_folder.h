// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks where a run may be written.
#include <string>

namespace icepath::run {

// Throws Failure(Usage) unless `directory` is empty, or can be made in an existing folder; `with_parent`: or together
// with its parent. Changes nothing: the Writer makes the directory once there is something to write.
void check_run_folder(const std::string &directory, bool with_parent = false);

} // namespace icepath::run
