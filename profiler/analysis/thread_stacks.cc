// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/thread_stacks.h"

#include <algorithm>

#include "ebpf/contexts.h"
#include "profiler/path/sampled.h"
#include "profiler/path/timeline.h"

namespace icepath::analysis {
namespace {

struct TimeSpan {
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	uint64_t ns() const { return end_ns > begin_ns ? end_ns - begin_ns : 0; }
	TimeSpan within(const TimeSpan &other) const
	{
		return {std::max(begin_ns, other.begin_ns), std::min(end_ns, other.end_ns)};
	}
};

// From the first counted message's begin to the last one's end.
TimeSpan span_of(const path::Observations &seen)
{
	TimeSpan span;
	for (const path::Delivery &delivery : seen.deliveries) {
		span.begin_ns = std::min(span.begin_ns, delivery.send.at_ns);
		span.end_ns = std::max(span.end_ns, delivery.recv.at_ns);
	}
	return span;
}

// The time in which it is known what the thread did. For a thread that only records show, from its first to its last.
TimeSpan known_span(const path::Thread &thread)
{
	if (!thread.followed)
		return {0, UINT64_MAX};
	TimeSpan span;
	if (!thread.off.empty())
		span = {thread.off.front().out_ns, thread.off.back().in_ns};
	if (!thread.calls.empty())
		span = {std::min(span.begin_ns, thread.calls.front().begin_ns),
				std::max(span.end_ns, thread.calls.back().end_ns)};
	return span;
}

// The period until the thread was runnable again; empty if it was runnable all the time.
TimeSpan sleep_of(const path::OffCpu &off)
{
	if (off.preempted)
		return {};
	return {off.out_ns, off.wakeup_ns != 0 ? std::min(off.wakeup_ns, off.in_ns) : off.in_ns};
}

uint64_t asleep_in(const path::Thread &thread, const TimeSpan &span)
{
	uint64_t ns = 0;
	for (const path::OffCpu &off : thread.off)
		ns += sleep_of(off).within(span).ns();
	if (thread.still_off_since_ns != 0)
		ns += TimeSpan{thread.still_off_since_ns, span.end_ns}.within(span).ns();
	return ns;
}

uint64_t running_in(const path::Thread &thread, TimeSpan span)
{
	if (thread.still_off_since_ns != 0)
		span.end_ns = std::min(span.end_ns, thread.still_off_since_ns);
	uint64_t ns = 0;
	for (const path::Stretch &stretch : path::stretches(thread, span.begin_ns, span.end_ns))
		ns += stretch.off ? 0 : stretch.end_ns - stretch.begin_ns;
	return ns;
}

std::vector<std::vector<std::string>> named_stacks(const model::Window &window)
{
	std::vector<std::vector<std::string>> stacks;
	for (const std::vector<uint32_t> &stack : window.stacks) {
		std::vector<std::string> &names = stacks.emplace_back();
		for (const uint32_t function : stack)
			names.push_back(window.functions[function]);
	}
	return stacks;
}

// `number`: as path::Sample::stack.
std::vector<std::string> stack_at(const std::vector<std::vector<std::string>> &stacks, uint32_t number)
{
	return number != 0 && number <= stacks.size() ? stacks[number - 1] : std::vector<std::string>{kNoStack};
}

// The stack of a switch or of a waking.
std::vector<std::string> event_stack(const std::vector<std::vector<std::string>> &stacks, uint32_t number)
{
	std::vector<std::string> functions = stack_at(stacks, number);
	leave_out_probe(functions);
	return functions.empty() ? std::vector<std::string>{kNoStack} : functions;
}

// The task that did the waking. A softirq on top of a thread of the cell mostly does that thread's own work.
std::string waker_name(const path::Observations &seen, const path::OffCpu &off)
{
	const bool is_of_cell = seen.threads.contains(off.waker_tid);
	const bool is_task = off.waker_context == ICEPATH_CONTEXT_TASK;
	if (is_of_cell && (is_task || off.waker_context == ICEPATH_CONTEXT_SOFTIRQ))
		return thread_name(seen, off.waker_tid);
	if (!is_task)
		return kInterruptWakes;
	const auto name = seen.task_names.find(off.waker_tid);
	return name == seen.task_names.end() ? kOtherTaskWakes : name->second;
}

} // namespace

void ThreadStacks::add_samples(const resolve::ResolvedBlock &resolved,
							   const std::vector<std::vector<std::string>> &stacks)
{
	const path::Observations &seen = resolved.seen;
	const TimeSpan span = span_of(seen);
	const std::vector<uint32_t> tids = path::sampled_threads(seen, resolved.block.window->sample_period_ns);
	for (size_t i = 0; i < seen.samples.size(); ++i) {
		const path::Sample &sample = seen.samples[i];
		const auto thread = seen.threads.find(tids[i]);
		if (thread == seen.threads.end() || thread->second.of_another_cell || sample.handled_ns < span.begin_ns ||
			sample.handled_ns >= span.end_ns)
			continue;
		std::vector<std::string> functions = {kIrqsOff}; // until another thread had the CPU
		if (sample.tid == tids[i]) {
			functions = stack_at(stacks, sample.stack);
			mark_probes(functions);
		}
		++threads_[thread_name(seen, tids[i])].running[functions];
		has_stacks_ = true;
	}
}

void ThreadStacks::add_sleeps(const resolve::ResolvedBlock &resolved,
							  const std::vector<std::vector<std::string>> &stacks)
{
	const path::Observations &seen = resolved.seen;
	const TimeSpan span = span_of(seen);
	for (const auto &[tid, thread] : seen.threads) {
		if (thread.of_another_cell)
			continue;
		Of &of = threads_[thread_name(seen, tid)];
		for (const path::OffCpu &off : thread.off) {
			const uint64_t ns = sleep_of(off).within(span).ns();
			if (ns == 0)
				continue;
			if (const auto slept = seen.sleep_stacks.find({tid, off.out_ns}); slept != seen.sleep_stacks.end())
				of.asleep[event_stack(stacks, slept->second)] += ns;
			if (const auto woken = seen.waker_stacks.find({tid, off.waking_ns}); woken != seen.waker_stacks.end()) {
				std::vector<std::string> functions = event_stack(stacks, woken->second);
				functions.insert(functions.begin(), waker_name(seen, off));
				of.woken[functions] += ns;
			}
			has_stacks_ |= !of.asleep.empty() || !of.woken.empty();
		}
	}
}

void ThreadStacks::add(const resolve::ResolvedBlock &resolved)
{
	const path::Observations &seen = resolved.seen;
	if (resolved.block.window->is_sampled()) {
		const std::vector<std::vector<std::string>> stacks = named_stacks(*resolved.block.window);
		add_samples(resolved, stacks);
		add_sleeps(resolved, stacks);
		return;
	}
	messages_ += seen.deliveries.size();
	const TimeSpan span = span_of(seen);
	for (const auto &[tid, thread] : seen.threads) {
		if (thread.of_another_cell)
			continue;
		const TimeSpan of_thread = known_span(thread).within(span);
		Of &of = threads_[thread_name(seen, tid)];
		of.running_ns += running_in(thread, of_thread);
		of.asleep_ns += asleep_in(thread, of_thread);
	}
}

std::vector<ThreadRow> ThreadStacks::rows(uint64_t Of::*ns, Stacks Of::*stacks) const
{
	std::vector<ThreadRow> all;
	for (const auto &[name, of] : threads_) {
		if (of.*ns == 0 || messages_ == 0)
			continue;
		ThreadRow &row = all.emplace_back();
		row.thread = name;
		row.total_ns = of.*ns;
		row.mean_ns = static_cast<double>(of.*ns) / static_cast<double>(messages_);
		for (const auto &[functions, weight] : of.*stacks)
			row.stacks.push_back({functions, weight});
	}
	return all;
}

std::vector<ThreadRow> ThreadStacks::running() const { return rows(&Of::running_ns, &Of::running); }
std::vector<ThreadRow> ThreadStacks::asleep() const { return rows(&Of::asleep_ns, &Of::asleep); }
std::vector<ThreadRow> ThreadStacks::woken() const { return rows(&Of::asleep_ns, &Of::woken); }

} // namespace icepath::analysis
