// SPDX-License-Identifier: Apache-2.0
#pragma once
// The user who reads a stored run, and how that user writes to a folder that root named.
#include "profiler/cli/options.h"
#include "profiler/exports/written_file.h"

namespace icepath::cli {

// What -o names, and how the reader opens its folder: if root named it, through a process that keeps root's rights.
struct Output {
	exports::OutputPlace place;
	exports::OpenFolder open = exports::made_folder;
};

// Becomes the run's reader before anything of the run is read: the invoking user, or, for root without an invoking
// user, the owner of the run or of its container. Runs of different strangers can't be read at once. For a command
// without a run: becomes the invoking user.
Output become_reader(const Command &command);

} // namespace icepath::cli
