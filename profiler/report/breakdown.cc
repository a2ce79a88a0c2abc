// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/breakdown.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "ebpf/records.h"

namespace icepath::report {
namespace {

// Names are chosen by whoever runs on the machine; a run with more of them than this is no place for each.
constexpr size_t kMaxNames = 4096;

// The kernel's softirq_to_name[].
constexpr std::array<std::string_view, 10> kSoftirqs = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
														"IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

std::string thread_name(const path::Observations &seen, uint32_t tid)
{
	const auto at = seen.threads.find(tid);
	return at == seen.threads.end() || at->second.name.empty() ? fmt::format("thread {}", tid) : at->second.name;
}

std::string interrupt_name(uint8_t kind, uint32_t vector)
{
	switch (kind) {
	case ICEPATH_INTERRUPT_SOFTIRQ:
		return vector < kSoftirqs.size() ? fmt::format("{} softirq", kSoftirqs[vector])
										 : fmt::format("softirq {}", vector);
	case ICEPATH_INTERRUPT_DEVICE:
		return fmt::format("interrupt {}", vector);
	case ICEPATH_INTERRUPT_TIMER:
		return "timer interrupt";
	case ICEPATH_INTERRUPT_RESCHEDULE:
		return "reschedule interrupt";
	case ICEPATH_INTERRUPT_CALL_FUNCTION:
		return "function call interrupt";
	case ICEPATH_INTERRUPT_IRQ_WORK:
		return "irq work interrupt";
	case ICEPATH_INTERRUPT_NMI:
		return "NMI";
	}
	return fmt::format("interrupt of kind {}", kind);
}

} // namespace

Role role_of(const path::Path &path, const path::Segment &segment)
{
	if (segment.hop == 0)
		return Role::Sender;
	return segment.hop == path.segments.back().hop ? Role::Receiver : Role::Relay;
}

std::string culprit_name(const path::Culprit &culprit, const std::map<uint32_t, std::string> &task_names)
{
	if (culprit.kind == path::Culprit::Kind::Interrupt)
		return interrupt_name(culprit.interrupt, culprit.id);
	if (culprit.id == 0)
		return "idle task";
	const auto at = task_names.find(culprit.id);
	return at == task_names.end() || at->second.empty() ? fmt::format("task {}", culprit.id) : at->second;
}

void Breakdown::add(const path::Path &path, const path::Observations &seen)
{
	const uint64_t latency = path.recv_ns - path.send_ns;
	uint64_t sum = 0;
	for (const path::Segment &segment : path.segments) {
		const uint64_t ns = segment.duration_ns();
		sum += ns;
		if (ns == 0)
			continue;
		const Key key{segment.layer, segment.hop, role_of(path, segment), thread_name(seen, segment.thread),
					  segment.part};
		sums_[key][static_cast<size_t>(segment.provenance())] += ns;
	}
	for (uint16_t relay = 1; !path.segments.empty() && relay < path.segments.back().hop; ++relay)
		++passed_[relay];
	++deliveries_;
	total_ns_ += latency;
	sum_error_ns_ += std::max(sum, latency) - std::min(sum, latency);
}

uint64_t Breakdown::passed(uint16_t relay) const
{
	const auto found = passed_.find(relay);
	return found == passed_.end() ? 0 : found->second;
}

std::vector<LayerRow> Breakdown::rows() const
{
	std::vector<LayerRow> rows;
	for (const auto &[key, ns] : sums_) {
		const auto &[layer, hop, role, thread, part] = key;
		rows.push_back({layer, part, hop, role, thread, std::reduce(ns.begin(), ns.end()), ns});
	}
	return rows;
}

void Culprits::add(const path::Path &path, const path::Observations &seen)
{
	for (const path::Segment &segment : path.segments) {
		if (segment.culprit.kind == path::Culprit::Kind::None || segment.duration_ns() == 0)
			continue;
		std::string name = culprit_name(segment.culprit, seen.task_names);
		const bool interrupt = segment.culprit.kind == path::Culprit::Kind::Interrupt;
		Key key{std::move(name), interrupt, segment.layer, segment.part};
		if (sums_.size() >= kMaxNames && !sums_.contains(key))
			std::get<0>(key) = "others";
		auto &[ns, segments] = sums_[key];
		ns += segment.duration_ns();
		++segments;
	}
}

std::vector<CulpritRow> Culprits::top(size_t count) const
{
	std::vector<CulpritRow> rows;
	for (const auto &[key, sum] : sums_) {
		const auto &[name, interrupt, layer, part] = key;
		rows.push_back({interrupt, name, layer, part, sum.first, sum.second});
	}
	std::ranges::stable_sort(rows, std::ranges::greater(), &CulpritRow::total_ns);
	rows.resize(std::min(rows.size(), count));
	return rows;
}

} // namespace icepath::report
