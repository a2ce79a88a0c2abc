// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/system_calls.h"

#include <fmt/format.h>
#include <seccomp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "ebpf/records.h"

namespace icepath::report {
namespace {

// Names are chosen by whoever runs on the machine; a run with more of them than this is no place for each.
constexpr size_t kMaxRows = 4096;

std::string call_name(uint32_t architecture, uint32_t number)
{
	const std::unique_ptr<char, decltype(&std::free)> name(
		architecture ? seccomp_syscall_resolve_num_arch(architecture, static_cast<int>(number)) : nullptr, &std::free);
	return name ? std::string(name.get()) : fmt::format("system call {}", number);
}

bool lost_records(const rundir::Block &block)
{
	return block.recursion_misses > 0 || std::ranges::any_of(block.slots, [](const rundir::SlotCapture &slot) {
			   return slot.position > slot.records.size();
		   });
}

std::map<uint32_t, std::string> thread_names(const rundir::Block &block)
{
	std::map<uint32_t, std::string> names;
	for (const rundir::SlotCapture &slot : block.slots)
		for (const icepath_record &record : slot.records)
			if (record.type == ICEPATH_RECORD_THREAD)
				names[record.tid] = {record.thread.comm, strnlen(record.thread.comm, sizeof(record.thread.comm))};
	for (const rundir::BlockSide &side : block.sides)
		names[side.tid] = side.name;
	return names;
}

} // namespace

SystemCalls::SystemCalls(const rundir::Head &head)
{
	const auto host = nlohmann::json::parse(head.host_json, nullptr, false);
	if (host.is_object() && host.contains("machine") && host["machine"].is_string())
		architecture_ = seccomp_arch_resolve_name(host["machine"].get<std::string>().c_str());
}

void SystemCalls::add(const rundir::Block &block)
{
	if (!block.companions.empty() || lost_records(block))
		return;
	for (const rundir::BlockFlow &flow : block.flows)
		messages_ += flow.sends.size();
	const auto names = thread_names(block);
	for (const rundir::SlotCapture &slot : block.slots)
		for (const icepath_record &record : slot.records) {
			if (record.type != ICEPATH_RECORD_CALL || record.call.begin_ns < block.sides[0].marker_begin_ns ||
				record.end_ns > block.sides[0].marker_end_ns)
				continue;
			const auto name = names.find(record.tid);
			std::pair key(name == names.end() ? "others" : name->second, record.call.number);
			if (counts_.size() >= kMaxRows && !counts_.contains(key))
				key.first = "others";
			counts_[key]++;
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

} // namespace icepath::report
