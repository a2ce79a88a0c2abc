// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/sampled.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ebpf/contexts.h"
#include "profiler/path/timeline.h"

namespace icepath::path {
namespace {

bool has_cpu(const Thread &thread, uint16_t cpu, uint64_t at_ns)
{
	if (off_across(thread, at_ns) || at_ns == UINT64_MAX)
		return false;
	const Stretches instant = stretches(thread, at_ns, at_ns + 1);
	return !instant.empty() && !instant.front().off && instant.front().cpu == cpu;
}

// The thread that had the sample's CPU at `at_ns`: the current one, unless it was switched in since.
const Thread *thread_at(const Observations &seen, const Sample &sample, uint64_t at_ns)
{
	const auto current = seen.threads.find(sample.tid);
	if (current != seen.threads.end() && has_cpu(current->second, sample.cpu, at_ns))
		return &current->second;
	for (const auto &[tid, thread] : seen.threads)
		if (has_cpu(thread, sample.cpu, at_ns))
			return &thread;
	return nullptr;
}

// The thread whose samples belong to the segment.
uint32_t runner_of(const Observations &seen, uint64_t message, const Segment &segment)
{
	const bool until_announced = segment.part == Part::Notify || segment.layer == Layer::Network;
	if (!until_announced || segment.part == Part::Held)
		return segment.thread;
	for (const Transfer &transfer : std::ranges::equal_range(seen.transfers, message, {}, &Transfer::message))
		if (transfer.to == segment.thread && transfer.ready_tid != 0)
			return transfer.ready_tid;
	return segment.thread;
}

struct Instant {
	uint64_t at_ns = 0;
	uint64_t stopped_ns = 0;
	uint32_t sample = 0;
};

// The phase of a timer that expires every `period_ns`, from the times at which its interrupts came. An interrupt may
// come late but not early, so the phase is the earliest time modulo the period, which follows the widest gap. The
// earliest hundredth is left out.
uint64_t phase_of(std::vector<uint64_t> times_ns, uint64_t period_ns)
{
	for (uint64_t &time_ns : times_ns)
		time_ns %= period_ns;
	std::ranges::sort(times_ns);
	size_t first = 0;
	uint64_t widest_ns = times_ns.front() + period_ns - times_ns.back();
	for (size_t i = 1; i < times_ns.size(); ++i)
		if (const uint64_t gap_ns = times_ns[i] - times_ns[i - 1]; gap_ns > widest_ns) {
			widest_ns = gap_ns;
			first = i;
		}
	return times_ns[(first + times_ns.size() / 100) % times_ns.size()];
}

} // namespace

uint64_t stopped_at(const Observations &seen, const Sample &sample)
{
	const auto cpu = seen.cpus.find(sample.cpu);
	if (cpu == seen.cpus.end())
		return sample.handled_ns;
	const std::vector<Interrupt> &all = cpu->second.interrupts;
	auto after = std::ranges::upper_bound(all, sample.handled_ns, {}, &Interrupt::begin_ns);
	constexpr int kMostNested = 8; // interrupts that began between the timer's and the sample
	for (int i = 0; i < kMostNested && after != all.begin(); ++i)
		if (--after; after->kind == ICEPATH_INTERRUPT_TIMER && after->end_ns >= sample.handled_ns)
			return after->begin_ns;
	return sample.handled_ns;
}

std::vector<uint64_t> planned_times(const Observations &seen, uint64_t period_ns)
{
	std::vector<uint64_t> planned_ns;
	std::map<uint16_t, std::vector<uint64_t>> stopped_ns; // by CPU, of samples whose planned time isn't known
	for (const Sample &sample : seen.samples) {
		planned_ns.push_back(sample.planned_ns);
		if (sample.planned_ns == 0)
			stopped_ns[sample.cpu].push_back(stopped_at(seen, sample));
	}
	if (period_ns == 0)
		return planned_ns;
	std::map<uint16_t, uint64_t> phases_ns;
	for (const auto &[cpu, times_ns] : stopped_ns)
		phases_ns[cpu] = phase_of(times_ns, period_ns);
	for (size_t i = 0; i < planned_ns.size(); ++i)
		if (planned_ns[i] == 0) {
			const uint64_t at_ns = stopped_at(seen, seen.samples[i]);
			const uint64_t late_ns = (at_ns % period_ns + period_ns - phases_ns[seen.samples[i].cpu]) % period_ns;
			planned_ns[i] = at_ns - std::min(late_ns, at_ns);
		}
	return planned_ns;
}

std::vector<uint32_t> sampled_threads(const Observations &seen, uint64_t period_ns)
{
	const std::vector<uint64_t> planned_ns = planned_times(seen, period_ns);
	std::vector<uint32_t> tids;
	for (size_t i = 0; i < planned_ns.size(); ++i) {
		const Thread *thread = thread_at(seen, seen.samples[i], planned_ns[i]);
		tids.push_back(thread ? thread->tid : 0);
	}
	return tids;
}

std::vector<SampledSegment> sampled_segments(const Observations &seen, const std::vector<Path> &paths,
											 uint64_t period_ns)
{
	const std::vector<uint64_t> planned_ns = planned_times(seen, period_ns);
	std::map<uint32_t, std::vector<Instant>> instants; // by tid
	for (uint32_t i = 0; i < seen.samples.size(); ++i)
		if (const Thread *thread = thread_at(seen, seen.samples[i], planned_ns[i]))
			instants[thread->tid].push_back({planned_ns[i], stopped_at(seen, seen.samples[i]), i});
	for (auto &[tid, of_thread] : instants)
		std::ranges::stable_sort(of_thread, {}, &Instant::at_ns);
	std::vector<SampledSegment> found;
	for (uint32_t delivery = 0; delivery < paths.size(); ++delivery)
		for (uint32_t number = 0; number < paths[delivery].segments.size(); ++number) {
			const Segment &segment = paths[delivery].segments[number];
			const uint32_t runner = runner_of(seen, seen.deliveries[delivery].message, segment);
			const auto of_thread = instants.find(runner);
			if (of_thread == instants.end())
				continue;
			const std::vector<Instant> &all = of_thread->second;
			for (auto one = std::ranges::lower_bound(all, segment.begin.at_ns, {}, &Instant::at_ns);
				 one != all.end() && one->at_ns < segment.end.at_ns; ++one) {
				const bool is_current = seen.samples[one->sample].tid == runner;
				found.push_back(
					{one->sample, delivery, number, is_current, is_current && one->stopped_ns <= segment.end.at_ns});
			}
		}
	return found;
}

} // namespace icepath::path
