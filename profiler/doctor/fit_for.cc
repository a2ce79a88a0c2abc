// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/fit_for.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/noise/gaps.h"
#include "profiler/text/fitness_words.h"

namespace icepath::doctor {
namespace {

double share(uint64_t ns, const model::CpuNoise &of)
{
	return of.of_ns > 0 ? static_cast<double>(ns) / static_cast<double>(of.of_ns) : 0;
}

// The sources that took most, until what the others took is below `threshold`.
std::vector<model::NoiseSource> most_of(const model::CpuNoise &noise, double threshold)
{
	constexpr size_t kMost = 3;
	std::vector<model::NoiseSource> most;
	uint64_t left_ns = noise.ns;
	for (const model::NoiseSource &source : noise.sources) {
		if (most.size() == kMost || share(left_ns, noise) < threshold)
			break;
		most.push_back(source);
		left_ns -= std::min(left_ns, source.ns);
	}
	return most;
}

void add(std::string &all, const std::string &one, const char *between) { all += (all.empty() ? "" : between) + one; }

// Of what took the CPU.
void add_remedies(FitFor &one, const std::vector<model::NoiseSource> &most, double tick_share, double threshold,
				  bool can_stop_tick)
{
	if (tick_share >= threshold) { // whatever else is done
		add(one.remedy,
			fmt::format("the tick alone takes {}{}", text::share_text(tick_share),
						can_stop_tick ? ": stop it (timer tick, above)" : ", and this kernel can't stop it"),
			"; ");
		one.possible = can_stop_tick ? Possible::AfterReboot : Possible::NotHere;
		return;
	}
	if (std::ranges::any_of(most, noise::is_task, &model::NoiseSource::name))
		add(one.remedy, "end these tasks, or wait, or icepath run --sched fifo", "; ");
}

FitFor with_reasons(const model::Fitness &fitness, const std::vector<model::CpuNoise> &named, bool can_stop_tick)
{
	FitFor one{fitness, "", "", Possible::Now};
	const bool is_of_tails = fitness.purpose == model::Purpose::Tails;
	const double threshold = is_of_tails ? model::kTakenForTails : model::kTakenForMedians;
	if (fitness.fit.value_or(true) || !fitness.taken)
		return one;
	const auto noise = std::ranges::find(named, fitness.taken->cpu, &model::CpuNoise::cpu);
	if (noise == named.end() || noise->sources.empty())
		return one;
	const std::vector<model::NoiseSource> most = most_of(*noise, threshold);
	for (const model::NoiseSource &source : most)
		add(one.taken_by, fmt::format("{} {}", source.name, text::share_text(share(source.ns, *noise))), ", ");
	const auto tick = std::ranges::find(noise->sources, noise::kTick, &model::NoiseSource::name);
	const double tick_share = tick == noise->sources.end() ? 0 : share(tick->ns, *noise);
	add_remedies(one, most, tick_share, threshold, can_stop_tick);
	return one;
}

} // namespace

std::vector<FitFor> fit_for(const model::Quietness &look, const std::vector<model::CpuNoise> &named, bool can_stop_tick)
{
	std::vector<FitFor> all;
	for (const model::Fitness &one : model::fitness(look))
		all.push_back(with_reasons(one, named, can_stop_tick));
	return all;
}

} // namespace icepath::doctor
