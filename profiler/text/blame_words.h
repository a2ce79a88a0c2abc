// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of what a message's time is booked on (explain/one_message.h).
#include <string>

#include "profiler/explain/one_message.h"

namespace icepath::text {

// "CPU 1 ran hog (4711)", "woken by hog (4711)", "timer interrupt"; empty if nothing is to blame.
std::string words_of(const explain::Blame &blame);

} // namespace icepath::text
