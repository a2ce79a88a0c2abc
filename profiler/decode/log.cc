// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ranges>
#include <set>

#include "profiler/model/task_name.h"
#include "profiler/path/timeline.h"

namespace icepath::decode {
namespace {

// An interrupt may come between an event's clock reading and its number, so numbers and times can disagree by as many
// records as interrupts nest. A gap's window is widened by this many neighbours. The slot that all other CPUs share
// needs more: any number of their records may come between.
constexpr size_t kNeighbours = 4;
constexpr size_t kNeighboursShared = 16; // for each CPU that has written there

// Whether a record can be read and may be true.
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
	case ICEPATH_RECORD_SAMPLE:
	case ICEPATH_RECORD_SLEEP_STACK:
	case ICEPATH_RECORD_WAKER_STACK:
		return seen.threads.contains(record.tid);
	case ICEPATH_RECORD_LOSS:
		return record.loss.begin_ns <= record.end_ns;
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

// The kernel itself only knows PI futexes to be locks; locks.h finds the others.
Call::Kind kind_of(const icepath_record &record)
{
	constexpr uint8_t kLockPi = 6, kLockPi2 = 13; // include/uapi/linux/futex.h
	switch (record.call.kind) {
	case ICEPATH_CALL_GIVE:
	case ICEPATH_CALL_GIVE_MESSAGES:
		return Call::Kind::Send;
	case ICEPATH_CALL_TAKE:
	case ICEPATH_CALL_TAKE_MESSAGES:
		return Call::Kind::Receive;
	case ICEPATH_CALL_READINESS:
		return Call::Kind::ReadinessWait;
	case ICEPATH_CALL_FUTEX_WAIT:
		return Call::Kind::FutexWait;
	case ICEPATH_CALL_FUTEX_LOCK:
		return record.call.operation == kLockPi || record.call.operation == kLockPi2 ? Call::Kind::FutexLock
																					 : Call::Kind::FutexWait;
	case ICEPATH_CALL_FUTEX_WAKE:
		return Call::Kind::FutexWake;
	default:
		return Call::Kind::Untold;
	}
}

// Adds the threads of followed processes, which only the log names, by the latest name: an exec changes it. Threads
// that are already known keep their names.
void add_threads(const std::vector<model::SlotCapture> &slots, Observations &seen)
{
	std::map<uint32_t, uint64_t> latest; // by tid
	for (const model::SlotCapture &slot : slots)
		for (const icepath_record &record : slot.records) {
			if (record.type != ICEPATH_RECORD_THREAD || record.version != ICEPATH_RECORD_VERSION)
				continue;
			const auto [at, is_new] = seen.threads.try_emplace(record.tid);
			Thread &thread = at->second;
			if (!is_new && !thread.followed) {
				thread.process = record.thread.tgid;
				continue;
			}
			uint64_t &named_ns = latest[record.tid];
			if (record.end_ns < named_ns)
				continue;
			named_ns = record.end_ns;
			thread.process = record.thread.tgid;
			thread.tid = record.tid;
			thread.name = model::task_name(record.thread.comm);
			thread.pinned = false;
			thread.followed = true;
			thread.first_cpu_told_ns = UINT64_MAX;
			seen.task_names[record.tid] = thread.name;
		}
}

// A taking call with result 0 found the end. A giving call with 0 may have given an empty message: mq_timedsend(2)
// returns no size.
bool has_moved(const icepath_record &record)
{
	const auto result = static_cast<int64_t>(record.call.result);
	return result > 0 || (result == 0 && record.call.kind == ICEPATH_CALL_GIVE);
}

// None if the softirq also handled foreign packets: nothing shows how long it spent on those.
std::array<uint64_t, 2> only_sockets(const icepath_record &record)
{
	const auto &of = record.interrupt;
	if (!(record.flags & ICEPATH_FLAG_PACKETS) || of.run_packets == 0 || of.run_packets != of.packets)
		return {};
	return {of.sockets[0], of.sockets[1]};
}

Interrupt interrupt_of(const icepath_record &record, uint32_t index)
{
	Interrupt one{record.interrupt.begin_ns,
				  record.end_ns,
				  record.interrupt.kind,
				  record.interrupt.vector,
				  index,
				  only_sockets(record),
				  record.tid,
				  (record.flags & ICEPATH_FLAG_GOES_ON) != 0};
	one.timer = record.interrupt.timer;
	if ((record.flags & ICEPATH_FLAG_PACKETS) && record.interrupt.packets > 0) {
		one.has_packets = true;
		one.named = {record.interrupt.sockets[0], record.interrupt.sockets[1]};
	}
	return one;
}

std::optional<model::StreamKind> stream_of(const icepath_record &record)
{
	switch (record.call.object_kind) {
	case ICEPATH_OBJECT_UNIX_STREAM:
		return model::StreamKind::UnixStream;
	case ICEPATH_OBJECT_TCP:
		return model::StreamKind::Tcp;
	case ICEPATH_OBJECT_PIPE:
		return model::StreamKind::Pipe;
	case ICEPATH_OBJECT_FIFO:
		return model::StreamKind::Fifo;
	default:
		return std::nullopt;
	}
}

Call call_of(const icepath_record &record, uint32_t index)
{
	Call call{record.call.begin_ns, record.end_ns,    kind_of(record), {Evidence::Source::Record, index},
			  record.call.object,   has_moved(record)};
	const auto result = static_cast<int64_t>(record.call.result);
	if (result > 0 && (record.call.kind == ICEPATH_CALL_GIVE || record.call.kind == ICEPATH_CALL_TAKE))
		call.bytes = static_cast<uint64_t>(result);
	if (call.moved)
		call.position = record.call.position;
	call.stream = stream_of(record);
	call.of_no_stream = record.call.object_kind >= ICEPATH_OBJECT_UNIX_DATAGRAM;
	call.accepted = record.call.kind == ICEPATH_CALL_ACCEPT;
	if (call.accepted || record.call.kind == ICEPATH_CALL_PAIR)
		call.other_end = record.call.position;
	call.found_nothing = call.kind == Call::Kind::Receive && result == -EAGAIN;
	return call;
}

OffCpu off_of(const icepath_record &record, uint32_t index)
{
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
	off.in_fault = (record.flags & ICEPATH_FLAG_IN_FAULT) != 0;
	off.in_reclaim = (record.flags & ICEPATH_FLAG_IN_RECLAIM) != 0;
	off.io_wait = (record.flags & ICEPATH_FLAG_IO_WAIT) != 0;
	off.from_idle = (record.flags & ICEPATH_FLAG_FROM_IDLE) != 0;
	off.went_idle = (record.flags & ICEPATH_FLAG_WENT_IDLE) != 0;
	off.record = index;
	return off;
}

SocketEvent event_of(const icepath_record &record, uint32_t index)
{
	return {record.end_ns,
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
}

void add_off(const OffCpu &off, uint32_t tid, Observations &seen)
{
	seen.threads[tid].off.push_back(off);
	seen.cpus.try_emplace(off.in_cpu); // for known_since_ns
	seen.cpus.try_emplace(off.out_cpu);
}

void add_run(const icepath_record &record, uint32_t index, Observations &seen)
{
	seen.cpus[record.cpu].runs.push_back(
		{record.run.in_ns, record.end_ns, record.tid, index, (record.flags & ICEPATH_FLAG_FROM_IDLE) != 0});
	if (const auto [name, is_new] = seen.task_names.try_emplace(record.tid); is_new)
		name->second = model::task_name(record.run.comm);
}

void add_system_call(const icepath_record &record, uint32_t index, Observations &seen)
{
	Thread &thread = seen.threads[record.tid];
	thread.calls.push_back(call_of(record, index));
	seen.system_calls.push_back({record.tid, record.call.number, record.call.begin_ns, record.end_ns});
	if (record.end_ns < thread.first_cpu_told_ns) { // until then it hadn't left its CPU, as far as the records show
		thread.first_cpu = record.cpu;
		thread.first_cpu_told_ns = record.end_ns;
	}
}

std::vector<SocketEvent> &of_type(uint32_t type, SocketEvents &events)
{
	return type == ICEPATH_RECORD_DATA_READY     ? events.ready
		   : type == ICEPATH_RECORD_DEVICE_QUEUE ? events.device
		   : type == ICEPATH_RECORD_TAKEN        ? events.taken
												 : events.enqueued;
}

void add(const icepath_record &record, uint32_t index, Observations &seen, SocketEvents &events)
{
	switch (record.type) {
	case ICEPATH_RECORD_OFF_CPU:
		add_off(off_of(record, index), record.tid, seen);
		break;
	case ICEPATH_RECORD_FOREIGN_RUN:
		add_run(record, index, seen);
		break;
	case ICEPATH_RECORD_INTERRUPT:
		seen.cpus[record.cpu].interrupts.push_back(interrupt_of(record, index));
		break;
	case ICEPATH_RECORD_DATA_READY:
	case ICEPATH_RECORD_DEVICE_QUEUE:
	case ICEPATH_RECORD_TAKEN:
	case ICEPATH_RECORD_ENQUEUED:
		of_type(record.type, events).push_back(event_of(record, index));
		break;
	case ICEPATH_RECORD_MIGRATE:
		seen.threads[record.tid].pinned = false;
		seen.threads[record.tid].moved_ns.push_back(record.end_ns);
		break;
	case ICEPATH_RECORD_CALL:
		add_system_call(record, index, seen);
		break;
	case ICEPATH_RECORD_SAMPLE:
		seen.samples.push_back({record.tid, record.cpu, record.sample.planned_ns, record.end_ns, record.sample.stack});
		break;
	case ICEPATH_RECORD_SLEEP_STACK:
		seen.sleep_stacks[{record.tid, record.end_ns}] = record.sample.stack;
		break;
	case ICEPATH_RECORD_WAKER_STACK:
		seen.waker_stacks[{record.tid, record.end_ns}] = record.sample.stack;
		break;
	case ICEPATH_RECORD_LOSS:
		seen.lost.push_back({record.loss.begin_ns, record.end_ns,
							 static_cast<uint32_t>(std::min<uint64_t>(record.loss.count, UINT32_MAX))});
		break;
	case ICEPATH_RECORD_UNSEEN:
		seen.lost.push_back({record.off.out_ns, record.end_ns, 1});
		break;
	case ICEPATH_RECORD_STILL_OFF:
		seen.threads[record.tid].still_off_since_ns =
			std::max(seen.threads[record.tid].still_off_since_ns, record.off.out_ns);
		break;
	default: // a waking that ended no period isn't needed
		break;
	}
}

// Sorts only if needed: mostly the items are in order already.
template <class Items, class Key> void put_in_order(Items &items, Key key)
{
	if (!std::ranges::is_sorted(items, {}, key))
		std::ranges::stable_sort(items, {}, key);
}

// The slot's usable records by `seq`. If two have the same number, both are dropped.
std::vector<const icepath_record *> in_order(const model::SlotCapture &slot, const Observations &seen)
{
	std::vector<const icepath_record *> records;
	records.reserve(slot.records.size());
	for (const icepath_record &record : slot.records)
		if (usable(record, seen))
			records.push_back(&record);
	put_in_order(records, [](const icepath_record *record) { return record->seq; });
	std::vector<const icepath_record *> once;
	once.reserve(records.size());
	for (size_t i = 0; i < records.size(); ++i) {
		bool twice = (i > 0 && records[i - 1]->seq == records[i]->seq) ||
					 (i + 1 < records.size() && records[i + 1]->seq == records[i]->seq);
		if (!twice)
			once.push_back(records[i]);
	}
	return once;
}

// Number of CPUs that wrote these; at least 1.
size_t cpus_of(const std::vector<const icepath_record *> &records)
{
	std::set<uint16_t> cpus;
	for (const icepath_record *record : records)
		cpus.insert(record->cpu);
	return std::max<size_t>(cpus.size(), 1);
}

// The numbers of records that were written and aren't usable. A record that was begun and never finished isn't one of
// them: the block's end interrupted its program, and the record is empty.
std::set<uint64_t> unreadable_in(const model::SlotCapture &slot, const Observations &seen)
{
	std::set<uint64_t> numbers;
	for (const icepath_record &record : slot.records)
		if (!usable(record, seen) && record.bytes != 0)
			numbers.insert(record.seq);
	return numbers;
}

void find_gaps(const model::SlotCapture &slot, const std::vector<const icepath_record *> &records, Observations &seen)
{
	const size_t neighbours = slot.cpu < 0 ? kNeighboursShared * cpus_of(records) : kNeighbours;
	const std::set<uint64_t> unreadable = unreadable_in(slot, seen);
	auto gap = [&](size_t next, uint64_t first, uint64_t after) { // before records[next]
		LossWindow window{0, UINT64_MAX, static_cast<uint32_t>(std::min<uint64_t>(after - first, UINT32_MAX))};
		const auto known = std::distance(unreadable.lower_bound(first), unreadable.lower_bound(after));
		window.unreadable = static_cast<uint64_t>(known) == after - first;
		// With fewer neighbours than the possible disorder, the window is open on that side.
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
	uint64_t expected = slot.first;
	for (size_t i = 0; i < records.size(); ++i) {
		if (records[i]->seq < slot.first) // belongs to an earlier window, which checks it
			continue;
		if (records[i]->seq != expected)
			gap(i, expected, records[i]->seq);
		expected = records[i]->seq + 1ull;
	}
	if (slot.position > expected)
		gap(records.size(), expected, slot.position);
}

// Periods of one thread can't overlap, nor can two tasks share a CPU. Where they do, that time is lost.
template <class Item, class Begin, class End>
void drop_overlaps(std::vector<Item> &items, Begin begin, End end, Observations &seen)
{
	put_in_order(items, begin);
	uint64_t begin_ns = 0, end_ns = 0; // of the one before
	std::erase_if(items, [&](const Item &item) {
		const bool overlaps = item.*begin < end_ns;
		if (overlaps) {
			seen.lost.push_back({begin_ns, std::max(item.*end, end_ns), 1});
		} else {
			begin_ns = item.*begin;
			end_ns = item.*end;
		}
		return overlaps;
	});
}

// When the CPU's first recorded switch was. A task that ran since before the block leaves no record of its switch-in.
uint64_t first_switch(uint16_t number, const Cpu &cpu, const Observations &seen)
{
	uint64_t first_ns = UINT64_MAX;
	for (const Run &run : cpu.runs)
		first_ns = std::min(first_ns, run.in_ns);
	for (const auto &[tid, thread] : seen.threads)
		for (const OffCpu &off : thread.off) {
			if (off.out_cpu == number && off.out_ns != 0)
				first_ns = std::min(first_ns, off.out_ns);
			if (off.in_cpu == number)
				first_ns = std::min(first_ns, off.in_ns);
			if (off.out_ns >= first_ns)
				break;
		}
	return first_ns;
}

// A thread first met at its waking (on_sched_waking) hadn't run in this block: its record has the waking as its begin.
void asleep_all_along(Thread &thread)
{
	if (thread.off.empty() || thread.off.front().preempted)
		return;
	if (OffCpu &first = thread.off.front(); first.out_ns == first.waking_ns)
		first.out_ns = 0;
}

} // namespace

SocketEvents read_log(const std::vector<model::SlotCapture> &slots, Observations &seen)
{
	SocketEvents events;
	uint32_t index = 0;
	add_threads(slots, seen);
	for (const model::SlotCapture &slot : slots) {
		auto records = in_order(slot, seen);
		find_gaps(slot, records, seen);
		for (const icepath_record *record : records)
			add(*record, index++, seen, events);
	}
	for (auto &[tid, thread] : seen.threads) {
		drop_overlaps(thread.off, &OffCpu::out_ns, &OffCpu::in_ns, seen);
		asleep_all_along(thread);
		// It came back in a later window of the same capture.
		if (!thread.off.empty() && thread.off.back().in_ns > thread.still_off_since_ns)
			thread.still_off_since_ns = 0;
		drop_overlaps(thread.calls, &Call::begin_ns, &Call::end_ns, seen);
		std::ranges::sort(thread.moved_ns);
		if (!thread.pinned && !thread.off.empty()) {
			const OffCpu &first = thread.off.front();
			if (thread.first_cpu_told_ns == 0 || first.out_ns < thread.first_cpu_told_ns)
				thread.first_cpu = first.out_cpu;
			thread.first_cpu_told_ns = std::min(thread.first_cpu_told_ns, first.out_ns);
		}
	}
	for (auto &[number, cpu] : seen.cpus) {
		cpu.known_since_ns = first_switch(number, cpu, seen);
		drop_overlaps(cpu.runs, &Run::in_ns, &Run::out_ns, seen);
		put_in_order(cpu.interrupts, &Interrupt::begin_ns);
		uint64_t reach = 0;
		for (const Interrupt &one : cpu.interrupts)
			cpu.interrupt_reach_ns.push_back(reach = std::max(reach, one.end_ns));
	}
	for (auto *list : {&events.ready, &events.device, &events.taken, &events.enqueued})
		put_in_order(*list, &SocketEvent::at_ns);
	return events;
}

} // namespace icepath::decode
