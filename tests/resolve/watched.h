// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records of watched programs, made by hand, as one window or cut into several.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "ebpf/records.h"
#include "profiler/model/attached.h"
#include "profiler/model/window.h"

namespace icepath::resolve {

class Watched {
public:
	icepath_record &thread(uint32_t tid, const std::string &name)
	{
		icepath_record &record = add(ICEPATH_RECORD_THREAD, 1, tid);
		record.thread.tgid = tid;
		std::strncpy(record.thread.comm, name.c_str(), sizeof record.thread.comm - 1);
		return record;
	}
	// `end`: of its bytes in the stream; none: the capture doesn't know it.
	icepath_record &call(icepath_call_kind kind, uint32_t tid, uint64_t begin_ns, uint64_t end_ns, uint64_t object,
						 int64_t result, int64_t end = -1)
	{
		icepath_record &record = add(ICEPATH_RECORD_CALL, end_ns, tid);
		record.call.begin_ns = begin_ns;
		record.call.kind = kind;
		record.call.object = object;
		record.call.result = static_cast<uint64_t>(result);
		record.call.position = static_cast<uint64_t>(end + 1);
		return record;
	}
	icepath_record &give(uint32_t tid, uint64_t begin_ns, uint64_t end_ns, uint64_t object, int64_t bytes,
						 int64_t end = -1)
	{
		return call(ICEPATH_CALL_GIVE, tid, begin_ns, end_ns, object, bytes, end);
	}
	icepath_record &take(uint32_t tid, uint64_t begin_ns, uint64_t end_ns, uint64_t object, int64_t bytes,
						 int64_t end = -1)
	{
		return call(ICEPATH_CALL_TAKE, tid, begin_ns, end_ns, object, bytes, end);
	}
	icepath_record &ready(uint32_t tid, uint64_t at_ns, uint64_t socket)
	{
		icepath_record &record = add(ICEPATH_RECORD_DATA_READY, at_ns, tid);
		record.socket.socket = socket;
		return record;
	}
	icepath_record &slept(uint32_t tid, uint64_t out_ns, uint64_t waking_ns, uint64_t in_ns, uint32_t waker)
	{
		icepath_record &record = add(ICEPATH_RECORD_OFF_CPU, in_ns, tid);
		record.off.out_ns = out_ns;
		record.off.waking_ns = waking_ns;
		record.off.wakeup_ns = waking_ns + 5;
		record.off.waker_tid = waker;
		return record;
	}

	icepath_record &lost(uint64_t begin_ns, uint64_t end_ns)
	{
		icepath_record &record = add(ICEPATH_RECORD_LOSS, end_ns, 0);
		record.loss.begin_ns = begin_ns;
		record.loss.count = 1;
		return record;
	}

	void of_pipes()
	{
		for (icepath_record &record : records)
			if (record.type == ICEPATH_RECORD_CALL)
				record.call.object_kind = ICEPATH_OBJECT_PIPE;
	}

	// Windows end at these instants; the last one has the rest. A record is in the window in which it was written.
	std::vector<model::Window> windows(std::vector<uint64_t> cuts = {}) const
	{
		std::vector<icepath_record> left = records;
		std::ranges::stable_sort(left, {}, &icepath_record::end_ns);
		cuts.push_back(end_ns() + 1);
		std::vector<model::Window> made;
		uint64_t begin_ns = 1;
		std::map<uint16_t, uint32_t> numbers;
		auto next = left.begin();
		for (const uint64_t cut_ns : cuts) {
			model::Window &window = made.emplace_back();
			window.probed = true;
			window.begins_midway = made.size() > 1;
			window.ends_midway = made.size() < cuts.size();
			window.begin.monotonic_ns = begin_ns;
			window.finish.monotonic_ns = begin_ns = cut_ns;
			window.slots.resize(2);
			for (uint16_t cpu = 0; cpu < 2; ++cpu) {
				window.slots[cpu].cpu = cpu;
				window.slots[cpu].first = numbers[cpu];
				window.slots[cpu].capacity = 1u << 20;
			}
			for (; next != left.end() && next->end_ns < cut_ns; ++next) {
				icepath_record &record = window.slots[next->cpu].records.emplace_back(*next);
				record.seq = numbers[next->cpu]++;
			}
			for (uint16_t cpu = 0; cpu < 2; ++cpu)
				window.slots[cpu].position = numbers[cpu];
		}
		return made;
	}

	uint64_t end_ns() const
	{
		uint64_t end_ns = 0;
		for (const icepath_record &record : records)
			end_ns = std::max(end_ns, record.end_ns);
		return end_ns;
	}

	std::vector<icepath_record> records;
	std::map<uint32_t, uint16_t> cpus; // by tid; others: 0

private:
	icepath_record &add(icepath_record_type type, uint64_t end_ns, uint32_t tid)
	{
		icepath_record record{};
		record.type = type;
		record.version = ICEPATH_RECORD_VERSION;
		record.bytes = sizeof record;
		record.tid = tid;
		record.end_ns = end_ns;
		record.cpu = cpus.contains(tid) ? cpus.at(tid) : 0;
		if (type == ICEPATH_RECORD_OFF_CPU)
			record.off.out_cpu = record.cpu;
		return records.emplace_back(record);
	}
};

inline model::Connection connection(uint64_t first, uint64_t second, model::StreamKind kind, model::EndRole role)
{
	model::Connection one;
	one.kind = kind;
	one.ends[0].object = first;
	one.ends[1].object = second;
	if (role != model::EndRole::Unknown) {
		one.ends[0].role = role;
		one.ends[1].role = role == model::EndRole::Connected ? model::EndRole::Accepted : model::EndRole::Connected;
	}
	return one;
}

} // namespace icepath::resolve
