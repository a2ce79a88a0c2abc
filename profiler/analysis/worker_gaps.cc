// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/worker_gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "profiler/analysis/origin.h"
#include "profiler/model/handlers.h"
#include "profiler/path/shares.h"

namespace icepath::analysis {
namespace {

constexpr size_t kMostSources = 1024; // any user of the machine can choose names

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

void WorkerGaps::add(const resolve::ResolvedBlock &resolved, const model::Cell &cell)
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
					if (!is_a_side(one.who, workers) && !is_own(origin_of(one.who, false, seen)))
						of.add(one, path::culprit_name(one.who, seen.task_names));
	}
}

void WorkerGaps::OfCpu::add(const path::Interference &one, std::string name)
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

std::vector<model::CpuNoise> WorkerGaps::take() const
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

} // namespace icepath::analysis
