// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/system_calls.h"

#include <fmt/format.h>
#include <seccomp.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>

#include "profiler/model/graph.h"

namespace icepath::analysis {
namespace {

// Any user of the machine can choose names, so their number is bounded.
constexpr size_t kMaxRows = 4096;

std::string call_name(uint32_t architecture, uint32_t number)
{
	const std::unique_ptr<char, decltype(&std::free)> name(
		architecture ? seccomp_syscall_resolve_num_arch(architecture, static_cast<int>(number)) : nullptr, &std::free);
	return name ? std::string(name.get()) : fmt::format("system call {}", number);
}

// Joined windows begin with records of earlier ones, which name threads: their numbers lie before the slot's first.
bool lacks_records(const model::SlotCapture &slot)
{
	const uint32_t begun = slot.position - slot.first;
	const auto there = std::ranges::count_if(
		slot.records, [&](const icepath_record &record) { return record.seq - slot.first < begun; });
	return static_cast<uint64_t>(there) < begun;
}

bool lost_records(const model::Block &block)
{
	return !block.window->skipped.empty() || std::ranges::any_of(block.window->slots, lacks_records);
}

bool are_others_beside(const model::Block &block)
{
	return std::ranges::any_of(block.window->threads, [&](const model::WindowThread &thread) {
		return std::ranges::none_of(block.sides, [&](const model::BlockSide &side) { return side.tid == thread.tid; });
	});
}

struct Span {
	uint64_t begin_ns, end_ns;
};

// The time that each side's own thread spent on messages. Its calls in between are icepath's own. Those of a library's
// thread are the library's.
std::map<uint32_t, std::vector<Span>> spans_of(const model::Block &block, const model::Cell &cell)
{
	std::map<uint32_t, std::vector<Span>> spans;
	for (const model::BlockSide &side : block.sides)
		spans[side.tid];
	const std::vector<model::Flow> &flows = cell.graph.flows;
	for (size_t i = 0; i < block.flows.size() && i < flows.size(); i++) {
		for (const model::SendStamp &sent : block.flows[i].sends)
			if (const auto own = spans.find(model::thread_of(sent, block.sides.at(flows[i].from).tid));
				own != spans.end())
				own->second.push_back({sent.send_ns, sent.return_ns});
		for (const model::RecvStamp &received : block.flows[i].recvs)
			if (const auto own = spans.find(model::thread_of(received, block.sides.at(flows[i].to).tid));
				own != spans.end())
				own->second.push_back({received.ask_ns, received.recv_ns});
	}
	for (auto &[tid, all] : spans)
		std::ranges::stable_sort(all, {}, &Span::begin_ns);
	return spans;
}

// A thread's spans don't overlap.
bool is_within(const std::vector<Span> &spans, uint64_t at_ns)
{
	const auto after = std::ranges::partition_point(spans, [&](const Span &one) { return one.begin_ns <= at_ns; });
	return after != spans.begin() && at_ns <= std::prev(after)->end_ns;
}

} // namespace

SystemCalls::SystemCalls(const model::Head &head)
{
	if (!head.host.machine.empty())
		architecture_ = seccomp_arch_resolve_name(head.host.machine.c_str());
}

void SystemCalls::add(const model::Block &block, const model::Cell &cell, const path::Observations &seen)
{
	if (are_others_beside(block) || lost_records(block))
		return;
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;
	for (const model::BlockSide &side : block.sides) {
		begin_ns = std::min(begin_ns, side.marker_begin_ns);
		end_ns = std::max(end_ns, side.marker_end_ns);
	}
	for (const model::BlockFlow &flow : block.flows)
		messages_ += flow.sends.size();
	const auto spans = spans_of(block, cell);
	std::map<std::pair<uint32_t, uint32_t>, uint64_t> counts; // by thread and call
	for (const path::SystemCall &call : seen.system_calls) {
		if (call.begin_ns < begin_ns || call.end_ns > end_ns)
			continue;
		if (const auto own = spans.find(call.tid); own != spans.end() && !is_within(own->second, call.begin_ns))
			continue;
		counts[{call.tid, call.number}]++;
	}
	for (const auto &[place, count] : counts) {
		const auto thread = seen.threads.find(place.first);
		std::pair key(thread == seen.threads.end() || thread->second.name.empty() ? "others" : thread->second.name,
					  place.second);
		if (counts_.size() >= kMaxRows && !counts_.contains(key))
			key.first = "others";
		counts_[key] += count;
	}
}

std::vector<CallRow> SystemCalls::by_thread() const
{
	std::vector<CallRow> rows;
	if (messages_ == 0)
		return rows;
	for (const auto &[key, count] : counts_)
		rows.push_back({key.first, call_name(architecture_, key.second),
						static_cast<double>(count) / static_cast<double>(messages_)});
	std::ranges::stable_sort(rows, std::ranges::greater(), &CallRow::per_message);
	return rows;
}

std::vector<CallRow> SystemCalls::of_all_threads() const
{
	std::map<std::string, double> sums;
	for (const CallRow &row : by_thread())
		sums[row.call] += row.per_message;
	std::vector<CallRow> rows;
	for (const auto &[call, per_message] : sums)
		rows.push_back({"", call, per_message});
	std::ranges::stable_sort(rows, std::ranges::greater(), &CallRow::per_message);
	return rows;
}

} // namespace icepath::analysis
