// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a worker has loaded, so that a run tells which build it measured.
#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "profiler/model/arm.h"

namespace icepath::run {

// Files whose code the process has mapped, but for the worker program; `plugin` has `version`. None if the process or
// its maps can't be read. They are opened as this process's user.
std::vector<model::LoadedFile> loaded_files(pid_t process, const std::string &target, const std::string &plugin,
											const std::string &version);

// Of an ELF file of this machine's kind, by its first bytes, which may be anything: the linker's build-id in hex;
// empty: it has none there.
std::string build_id_of(std::span<const std::byte> begin);

} // namespace icepath::run
