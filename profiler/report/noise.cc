// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "profiler/model/handlers.h"
#include "profiler/path/shares.h"
#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

constexpr size_t kMostSources = 1024; // any user of the machine can choose names
constexpr size_t kNamedInLine = 3;

std::string time_of(uint64_t ns) { return duration(static_cast<double>(ns)); }

// The threads that work for each side: its own, and those of a library that handle its messages.
std::vector<std::set<uint32_t>> workers_of(const model::Block &block, const model::Cell &cell)
{
	std::vector<std::set<uint32_t>> workers = model::handlers_of(block, cell.graph);
	for (size_t side = 0; side < block.sides.size(); ++side)
		workers[side].insert(block.sides[side].tid);
	return workers;
}

// Sides that share a CPU take turns: that is what was asked for.
bool is_a_side(const path::Culprit &who, const std::vector<std::set<uint32_t>> &workers)
{
	return who.kind == path::Culprit::Kind::Task &&
		   std::ranges::any_of(workers, [&](const auto &of_side) { return of_side.contains(who.id); });
}

} // namespace

void Interference::add(const resolve::ResolvedBlock &resolved, const model::Cell &cell)
{
	const path::Observations &seen = resolved.seen;
	const std::vector<std::set<uint32_t>> workers = workers_of(resolved.block, cell);
	for (size_t side = 0; side < resolved.block.sides.size(); ++side) {
		if (!seen.threads.contains(resolved.block.sides[side].tid))
			continue;
		OfCpu &of = by_cpu_[cell.graph.sides.at(side).cpu];
		of.noise.cpu = cell.graph.sides[side].cpu;
		of.noise.of_ns += seen.end_ns - seen.begin_ns;
		for (const uint32_t tid : workers[side])
			if (const auto thread = seen.threads.find(tid); thread != seen.threads.end())
				for (const path::Interference &one :
					 path::interferences(seen, thread->second, seen.begin_ns, seen.end_ns))
					if (!is_a_side(one.who, workers))
						of.add(one, path::culprit_name(one.who, seen.task_names));
	}
}

void Interference::OfCpu::add(const path::Interference &one, std::string name)
{
	if (sources.size() >= kMostSources && !sources.contains(name))
		name = "others";
	model::NoiseSource &source = sources[name];
	source.name = name;
	source.gaps++;
	source.ns += one.ns;
	source.longest_ns = std::max(source.longest_ns, one.ns);
	noise.gaps++;
	noise.ns += one.ns;
	if (one.ns > noise.longest_ns) {
		noise.longest_ns = one.ns;
		noise.longest_source = name;
	}
}

std::vector<model::CpuNoise> Interference::take() const
{
	std::vector<model::CpuNoise> all;
	for (const auto &[cpu, of] : by_cpu_) {
		model::CpuNoise &noise = all.emplace_back(of.noise);
		for (const auto &[name, source] : of.sources)
			noise.sources.push_back(source);
		std::ranges::stable_sort(noise.sources, std::ranges::greater(), &model::NoiseSource::ns);
	}
	return all;
}

std::string noise_text(const model::CpuNoise &noise)
{
	if (noise.gaps == 0)
		return fmt::format("no gap in {}", time_of(noise.of_ns));
	return fmt::format("{} gap{}, {} of {}, longest {}{}", count(noise.gaps), noise.gaps == 1 ? "" : "s",
					   time_of(noise.ns), time_of(noise.of_ns), time_of(noise.longest_ns),
					   noise.longest_source.empty() ? "" : fmt::format(" ({})", noise.longest_source));
}

void add_noise_of_cpus(Page &page, const std::vector<model::CpuNoise> &noise)
{
	for (const model::CpuNoise &one : noise) {
		page.paragraph(fmt::format("CPU {}", one.cpu), noise_text(one));
		size_t width = 0;
		for (const model::NoiseSource &source : one.sources)
			width = std::max(width, columns(source.name));
		for (const model::NoiseSource &source : one.sources)
			page.line(page.spelled(fmt::format("  {}  {}  {} in all, longest {}", pad_right(source.name, width),
											   pad_left(count(source.gaps), 8), pad_left(time_of(source.ns), 8),
											   pad_left(time_of(source.longest_ns), 8))));
	}
}

void add_quiet(Page &page, const model::Head &head)
{
	std::string text;
	for (const model::CpuNoise &one : head.noise) {
		text += fmt::format("{}CPU {}: {}", text.empty() ? "" : " · ", one.cpu, noise_text(one));
		for (const model::CpuNoise &before : head.noise_before)
			if (before.cpu == one.cpu)
				text += fmt::format("; before it was isolated {}", noise_text(before));
	}
	if (!text.empty())
		page.paragraph("quiet", "before the first block: " + text);
}

void add_interference(Page &page, const std::vector<model::CpuNoise> &interference)
{
	std::string text;
	for (const model::CpuNoise &one : interference) {
		if (one.gaps == 0)
			continue;
		text +=
			fmt::format("{}CPU {} {} of {}:", text.empty() ? "" : " · ", one.cpu, time_of(one.ns), time_of(one.of_ns));
		for (size_t i = 0; i < std::min(one.sources.size(), kNamedInLine); ++i)
			text += fmt::format("{} {} {} times", i == 0 ? "" : ",", one.sources[i].name, count(one.sources[i].gaps));
	}
	if (!text.empty())
		page.paragraph("kept off", "workers that could have run, of their time in blocks with probes: " + text);
}

} // namespace icepath::report
