// SPDX-License-Identifier: Apache-2.0
#pragma once
// --arm NAME:plugins=FOLDER,lib=FOLDER,config=FILE,env=NAME=VALUE. Only words are looked at here: icepath may still be
// root, and looks no path up before it is the user.
#include <string>
#include <vector>

#include "profiler/model/arm.h"

namespace icepath::cli {

// The arms of a run, in their order: with a single one, the build that icepath has without it comes first, and with
// `control` the first one comes again at the end. None of no texts. Throws Failure(Usage).
std::vector<model::Arm> arms_of(const std::vector<std::string> &texts, bool control);

} // namespace icepath::cli
