// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a run may be written.
#include <string>

namespace icepath::run {

// Throws Failure(Usage) unless `directory` is empty, or can be made in a folder that is there, or, `with_parent`, with the folder
// that it is in. Changes nothing: the directory is made when there is something to write.
void check_run_folder(const std::string &directory, bool with_parent = false);

} // namespace icepath::run
