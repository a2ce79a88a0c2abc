// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scripts by which shells complete icepath's command line: commands, options, and values as value_names.h offers them.
// They call `icepath list` for targets, and look for run directories themselves.
#include <string>

#include "profiler/cli/described.h"

namespace icepath::cli {

std::string bash_completion(const ProgramDescription &program);
std::string zsh_completion(const ProgramDescription &program);
std::string fish_completion(const ProgramDescription &program);

} // namespace icepath::cli
