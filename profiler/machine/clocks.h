// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "profiler/model/window.h"

namespace icepath::machine {

model::ClockPair read_clocks();

} // namespace icepath::machine
