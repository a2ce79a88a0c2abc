// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who reads a stored run, and how that one writes where root wants it.
#include "profiler/cli/options.h"
#include "profiler/report/written_file.h"

namespace icepath::cli {

// Of a command that reads a run: becomes who reads it, before anything of it is looked at; of another command, the invoking user. Root without an
// invoking user becomes the owner of the run, or of its container. Returns how that one opens the folder of -o: by a process that keeps root for
// it, where root named it.
report::OpenFolder become_reader(const Command &command);

} // namespace icepath::cli
