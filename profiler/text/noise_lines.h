// SPDX-License-Identifier: Apache-2.0
#pragma once
// How quiet the run's CPUs were.
#include <string>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/text/page.h"

namespace icepath::text {

// "51 gaps, 420 µs of 200 ms, longest 38.0 µs (timer interrupt)"
std::string noise_text(const model::CpuNoise &noise);

// A paragraph for each CPU, with the sources below it.
void add_noise_of_cpus(Page &page, const std::vector<model::CpuNoise> &noise);

// One line each; nothing if there is nothing to say.
void add_quiet(Page &page, const model::Head &head);
void add_interference(Page &page, const std::vector<model::CpuNoise> &interference);

} // namespace icepath::text
