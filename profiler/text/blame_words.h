// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of what a message's time is booked on (explain/one_message.h).
#include <string>

#include "profiler/explain/one_message.h"

namespace icepath::text {

// "CPU 1 ran hog (4711)", "woken by hog (4711)", "timer interrupt"; empty if nothing is to blame.
std::string words_of(const explain::Blame &blame);
// Likewise of `ns`, with the time of each where several had the CPU: "CPU 1 ran hog (4711) 5.70 ms, ld 2.01 ms, 4 more
// 1.20 ms". What had practically all of it has no time.
std::string words_of(const explain::Blame &blame, const explain::Taken &taken, uint64_t ns);

} // namespace icepath::text
