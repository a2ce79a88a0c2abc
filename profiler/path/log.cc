// SPDX-License-Identifier: Apache-2.0
#include "profiler/path/log.h"

#include <algorithm>
#include <cstring>
#include <ranges>

#include "profiler/path/timeline.h"

namespace icepath::path {

namespace {

// An interrupt may come between an event's reading the clock and its taking a number, so numbers and times can be out of
// order by as many records as it nests. A gap's window is widened by this many neighbours. The slot of all other CPUs is
// shared between them, so that any number of theirs may come between: more.
constexpr size_t kNeighbours = 4;
constexpr size_t kNeighboursShared = 16;

// What is wrong with a record, if anything: then it counts as lost.
bool usable(const icepath_record &record, const Observations &seen)
{
	if (record.version != ICEPATH_RECORD_VERSION || record.bytes != sizeof(record) || record.end_ns == 0)
		return false;
	switch (record.type) {
	case ICEPATH_RECORD_OFF_CPU:
		return record.off.out_ns < record.end_ns && seen.threads.contains(record.tid);
	case ICEPATH_RECORD_WAKE:
	case ICEPATH_RECORD_MIGRATE:
	case ICEPATH_RECORD_UNSEEN:
	case ICEPATH_RECORD_STILL_OFF:
	case ICEPATH_RECORD_THREAD:
		return seen.threads.contains(record.tid);
	case ICEPATH_RECORD_CALL:
		return record.call.begin_ns < record.end_ns && seen.threads.contains(record.tid);
	case ICEPATH_RECORD_FOREIGN_RUN:
		return record.run.in_ns < record.end_ns;
	case ICEPATH_RECORD_INTERRUPT:
		return record.interrupt.begin_ns < record.end_ns;
	case ICEPATH_RECORD_DATA_READY:
	case ICEPATH_RECORD_DEVICE_QUEUE:
	case ICEPATH_RECORD_TAKEN:
	case ICEPATH_RECORD_ENQUEUED:
		return true;
	default:
		return false;
	}
}

Call::Kind kind_of(uint8_t told)
{
	switch (told) {
	case ICEPATH_CALL_GIVE:
		return Call::Kind::Send;
	case ICEPATH_CALL_TAKE:
		return Call::Kind::Receive;
	case ICEPATH_CALL_READINESS:
		return Call::Kind::ReadinessWait;
	case ICEPATH_CALL_FUTEX_WAIT:
		return Call::Kind::FutexWait;
	case ICEPATH_CALL_FUTEX_LOCK:
		return Call::Kind::FutexLock;
	case ICEPATH_CALL_FUTEX_WAKE:
		return Call::Kind::FutexWake;
	default:
		return Call::Kind::Untold;
	}
}

// Threads of followed processes: nothing but the log names them. Those that are known already keep their names.
void add_threads(const std::vector<rundir::SlotCapture> &slots, Observations &seen)
{
	for (const rundir::SlotCapture &slot : slots)
		for (const icepath_record &record : slot.records) {
			if (record.type != ICEPATH_RECORD_THREAD || record.version != ICEPATH_RECORD_VERSION)
				continue;
			const bool is_known = seen.threads.contains(record.tid);
			Thread &thread = seen.threads[record.tid];
			thread.process = record.thread.tgid;
			if (is_known)
				continue;
			thread.tid = record.tid;
			thread.name = {record.thread.comm, strnlen(record.thread.comm, sizeof(record.thread.comm))};
			thread.pinned = false;
			thread.followed = true;
			seen.task_names[record.tid] = thread.name;
		}
}

// Who takes nothing has found the end. Who gives nothing may have given an empty message, and mq_timedsend(2) tells no number.
bool has_moved(const icepath_record &record)
{
	const auto result = static_cast<int64_t>(record.call.result);
	return result > 0 || (result == 0 && record.call.kind == ICEPATH_CALL_GIVE);
}

void add(const icepath_record &record, uint32_t index, Observations &seen, SocketEvents &events)
{
	switch (record.type) {
	case ICEPATH_RECORD_OFF_CPU: {
		const uint64_t waking = record.off.waking_ns;
		auto after = [&](uint32_t ns) { return ns != 0 && waking != 0 && ns <= UINT64_MAX - waking ? waking + ns : 0; };
		OffCpu off;
		off.out_ns = record.off.out_ns;
		off.in_ns = record.end_ns;
		off.waking_ns = waking;
		off.wakeup_ns = record.off.wakeup_ns;
		off.ipi_ns = after(record.off.ipi_after_ns);
		off.idle_exit_ns = after(record.off.idle_after_ns);
		off.waker_tid = record.off.waker_tid;
		off.waker_context = record.context;
		off.waker_vector = record.off.waker_vector;
		off.preempted = record.off.reason == ICEPATH_OFF_PREEMPTED;
		off.out_cpu = record.off.out_cpu;
		off.in_cpu = record.cpu;
		off.in_late = (record.flags & ICEPATH_FLAG_IN_LATE) != 0;
		off.record = index;
		seen.threads[record.tid].off.push_back(off);
		break;
	}
	case ICEPATH_RECORD_FOREIGN_RUN: {
		seen.cpus[record.cpu].runs.push_back({record.run.in_ns, record.end_ns, record.tid, index});
		size_t length = strnlen(record.run.comm, sizeof(record.run.comm));
		seen.task_names.try_emplace(record.tid, record.run.comm, length);
		break;
	}
	case ICEPATH_RECORD_INTERRUPT:
		seen.cpus[record.cpu].interrupts.push_back(
			{record.interrupt.begin_ns, record.end_ns, record.interrupt.kind, record.interrupt.vector, index});
		break;
	case ICEPATH_RECORD_DATA_READY:
	case ICEPATH_RECORD_DEVICE_QUEUE:
	case ICEPATH_RECORD_TAKEN:
	case ICEPATH_RECORD_ENQUEUED: {
		SocketEvent event{record.end_ns,
						  record.socket.socket,
						  record.tid,
						  record.socket.stream_end,
						  record.socket.bytes,
						  record.cpu,
						  record.context,
						  record.socket.has_stream_end != 0,
						  (record.flags & ICEPATH_FLAG_TIER_MASK) >> ICEPATH_FLAG_TIER_SHIFT == ICEPATH_TIER_KPROBE,
						  index,
						  record.type == ICEPATH_RECORD_ENQUEUED ? record.socket.woken_tid : 0};
		(record.type == ICEPATH_RECORD_DATA_READY     ? events.ready
		 : record.type == ICEPATH_RECORD_DEVICE_QUEUE ? events.device
		 : record.type == ICEPATH_RECORD_TAKEN        ? events.taken
													  : events.enqueued)
			.push_back(event);
		break;
	}
	case ICEPATH_RECORD_MIGRATE:
		seen.threads[record.tid].pinned = false;
		break;
	case ICEPATH_RECORD_CALL:
		seen.threads[record.tid].calls.push_back({record.call.begin_ns,
												  record.end_ns,
												  kind_of(record.call.kind),
												  {Evidence::Source::Record, index},
												  record.call.object,
												  has_moved(record)});
		break;
	case ICEPATH_RECORD_UNSEEN:
		seen.lost.push_back({record.off.out_ns, record.end_ns, 1});
		break;
	case ICEPATH_RECORD_STILL_OFF:
		seen.threads[record.tid].still_off_since_ns = record.off.out_ns;
		break;
	default: // a waking that ended no period: nothing rests on it
		break;
	}
}

// The slot's usable records by `seq`. A second record of the same number leaves neither.
std::vector<const icepath_record *> in_order(const rundir::SlotCapture &slot, const Observations &seen)
{
	std::vector<const icepath_record *> records;
	for (const icepath_record &record : slot.records)
		if (usable(record, seen))
			records.push_back(&record);
	std::ranges::stable_sort(records, {}, [](const icepath_record *record) { return record->seq; });
	std::vector<const icepath_record *> once;
	for (size_t i = 0; i < records.size(); ++i) {
		bool twice = (i > 0 && records[i - 1]->seq == records[i]->seq) ||
					 (i + 1 < records.size() && records[i + 1]->seq == records[i]->seq);
		if (!twice)
			once.push_back(records[i]);
	}
	return once;
}

void find_gaps(const rundir::SlotCapture &slot, const std::vector<const icepath_record *> &records, Observations &seen)
{
	const size_t neighbours = slot.cpu < 0 ? kNeighboursShared : kNeighbours;
	auto gap = [&](size_t next, uint64_t missing) { // before records[next]
		LossWindow window{0, UINT64_MAX, static_cast<uint32_t>(std::min<uint64_t>(missing, UINT32_MAX))};
		// With fewer neighbours than it may be out of place by, nothing bounds it on that side.
		auto ends = [&](size_t from, size_t to) {
			auto ends_ns = records | std::views::drop(from) | std::views::take(to - from) |
						   std::views::transform([](const icepath_record *record) { return record->end_ns; });
			return std::ranges::minmax(ends_ns);
		};
		if (next >= neighbours)
			window.begin_ns = ends(next - neighbours, next).min;
		if (records.size() - next >= neighbours)
			window.end_ns = ends(next, next + neighbours).max;
		seen.lost.push_back(window);
	};
	uint64_t expected = 0;
	for (size_t i = 0; i < records.size(); ++i) {
		if (records[i]->seq != expected)
			gap(i, records[i]->seq - expected);
		expected = records[i]->seq + 1ull;
	}
	if (slot.position > expected)
		gap(records.size(), slot.position - expected);
}

// Periods of one thread can't overlap, nor can two tasks have one CPU: where they do, nothing of that time is known.
template <class Item, class Begin, class End>
void drop_overlaps(std::vector<Item> &items, Begin begin, End end, Observations &seen)
{
	std::ranges::stable_sort(items, {}, begin);
	std::vector<Item> disjoint;
	disjoint.reserve(items.size());
	for (const Item &item : items) {
		if (!disjoint.empty() && item.*begin < disjoint.back().*end) {
			seen.lost.push_back({disjoint.back().*begin, std::max(item.*end, disjoint.back().*end), 1});
			continue;
		}
		disjoint.push_back(item);
	}
	items = std::move(disjoint);
}

} // namespace

SocketEvents read_log(const std::vector<rundir::SlotCapture> &slots, Observations &seen)
{
	SocketEvents events;
	uint32_t index = 0;
	add_threads(slots, seen);
	for (const rundir::SlotCapture &slot : slots) {
		auto records = in_order(slot, seen);
		find_gaps(slot, records, seen);
		for (const icepath_record *record : records)
			add(*record, index++, seen, events);
	}
	for (auto &[tid, thread] : seen.threads) {
		drop_overlaps(thread.off, &OffCpu::out_ns, &OffCpu::in_ns, seen);
		drop_overlaps(thread.calls, &Call::begin_ns, &Call::end_ns, seen);
		if (!thread.pinned && !thread.off.empty())
			thread.first_cpu = thread.off.front().out_cpu;
	}
	for (auto &[number, cpu] : seen.cpus) {
		drop_overlaps(cpu.runs, &Run::in_ns, &Run::out_ns, seen);
		std::ranges::stable_sort(cpu.interrupts, {}, &Interrupt::begin_ns);
		uint64_t reach = 0;
		for (const Interrupt &one : cpu.interrupts)
			cpu.interrupt_reach_ns.push_back(reach = std::max(reach, one.end_ns));
	}
	for (auto *list : {&events.ready, &events.device, &events.taken, &events.enqueued})
		std::ranges::stable_sort(*list, {}, &SocketEvent::at_ns);
	return events;
}

std::optional<uint32_t> interrupt_around(const Observations &seen, uint16_t cpu, uint64_t at_ns)
{
	auto found = seen.cpus.find(cpu);
	if (found == seen.cpus.end() || at_ns == UINT64_MAX)
		return {};
	auto around = outermost_interrupts(found->second, at_ns, at_ns + 1);
	return around.empty() ? std::nullopt : std::optional(around.front().whole->record);
}

bool lost_within(const Observations &seen, uint64_t begin_ns, uint64_t end_ns)
{
	return std::ranges::any_of(
		seen.lost, [&](const LossWindow &lost) { return lost.begin_ns <= end_ns && lost.end_ns >= begin_ns; });
}

} // namespace icepath::path
