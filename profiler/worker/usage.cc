// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/usage.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>

namespace icepath::worker {
namespace {

uint64_t to_ns(const timeval &time)
{
	return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_usec) * 1000;
}

} // namespace

rusage usage_now(bool of_process)
{
	// The kernel's account of a running thread is as old as its last tick. Reading this clock updates it
	// (task_sched_runtime() calls update_curr()).
	timespec unused{};
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &unused);
	rusage usage{};
	getrusage(of_process ? RUSAGE_SELF : RUSAGE_THREAD, &usage);
	return usage;
}

model::Usage usage_between(const rusage &begin, const rusage &end)
{
	const auto grown = [](long from, long to) { return static_cast<uint64_t>(to - from); };
	model::Usage usage;
	usage.user_ns = to_ns(end.ru_utime) - to_ns(begin.ru_utime);
	usage.system_ns = to_ns(end.ru_stime) - to_ns(begin.ru_stime);
	usage.voluntary_switches = grown(begin.ru_nvcsw, end.ru_nvcsw);
	usage.involuntary_switches = grown(begin.ru_nivcsw, end.ru_nivcsw);
	usage.minor_faults = grown(begin.ru_minflt, end.ru_minflt);
	usage.major_faults = grown(begin.ru_majflt, end.ru_majflt);
	usage.max_rss_kib = static_cast<uint64_t>(end.ru_maxrss);
	usage.block_inputs = grown(begin.ru_inblock, end.ru_inblock);
	usage.block_outputs = grown(begin.ru_oublock, end.ru_oublock);
	usage.shared_text = grown(begin.ru_ixrss, end.ru_ixrss);
	usage.unshared_data = grown(begin.ru_idrss, end.ru_idrss);
	usage.unshared_stack = grown(begin.ru_isrss, end.ru_isrss);
	usage.swaps = grown(begin.ru_nswap, end.ru_nswap);
	usage.messages_sent = grown(begin.ru_msgsnd, end.ru_msgsnd);
	usage.messages_received = grown(begin.ru_msgrcv, end.ru_msgrcv);
	usage.signals = grown(begin.ru_nsignals, end.ru_nsignals);
	return usage;
}

namespace {

using model::Count;
using model::CounterField;
using model::Counters;

// se.nr_migrations is among the first lines (proc_sched_show_task()).
constexpr size_t kSchedBytes = 4096;

uint64_t event_of(Count Counters::*count)
{
	if (count == &Counters::cycles)
		return PERF_COUNT_HW_CPU_CYCLES;
	if (count == &Counters::instructions)
		return PERF_COUNT_HW_INSTRUCTIONS;
	if (count == &Counters::cache_references)
		return PERF_COUNT_HW_CACHE_REFERENCES;
	if (count == &Counters::cache_misses)
		return PERF_COUNT_HW_CACHE_MISSES;
	return count == &Counters::branches ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS : PERF_COUNT_HW_BRANCH_MISSES;
}

} // namespace

Count migrations_in(std::string_view text)
{
	constexpr std::string_view key = "\nse.nr_migrations ";
	const size_t line = text.find(key);
	const size_t colon = line == text.npos ? text.npos : text.find(':', line);
	const size_t digits = colon == text.npos ? text.npos : text.find_first_not_of(' ', colon + 1);
	Count count{.error = ENODATA};
	// Unless a line end follows it, the number may be cut off.
	if (digits == text.npos || text.find('\n', digits) == text.npos)
		return count;
	const auto [end, failed] = std::from_chars(text.data() + digits, text.data() + text.size(), count.counted);
	if (failed != std::errc() || *end != '\n')
		return {.error = ENODATA};
	count.error = 0;
	return count;
}

Count migrations_between(const Count &begin, const Count &end)
{
	if (begin.error != 0 || end.error != 0)
		return {.error = begin.error != 0 ? begin.error : end.error};
	if (end.counted < begin.counted)
		return {.error = ENODATA};
	return {.error = 0, .counted = end.counted - begin.counted};
}

Count count_of(const GroupReading &reading, size_t bytes, size_t members, size_t which)
{
	// read() returns 0 bytes for an event in an error state: perf_event_open(2).
	if (which >= members || bytes != (3 + members) * sizeof(uint64_t) || reading.members != members)
		return {.error = ENODATA};
	return {0, reading.counted[which], reading.enabled_ns, reading.running_ns};
}

BlockCounters::BlockCounters() : BlockCounters(PERF_TYPE_HARDWARE) {}

BlockCounters::BlockCounters(uint32_t event_type) : event_type_(event_type) { count_thread(gettid()); }

void BlockCounters::count_thread(pid_t tid)
{
	if (tid != 0 && tid == tid_)
		return;
	tid_ = tid;
	const std::string file = "/proc/self/task/" + std::to_string(tid) + "/sched";
	sched_ = tid != 0 ? Fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) : Fd();
	sched_error_ = sched_ ? 0 : tid != 0 ? errno : ESRCH;
}

Count BlockCounters::migrations() const
{
	if (!sched_)
		return {.error = sched_error_};
	std::array<char, kSchedBytes> text;
	const ssize_t bytes = pread(sched_.get(), text.data(), text.size(), 0);
	if (bytes < 0)
		return {.error = errno};
	return migrations_in({text.data(), static_cast<size_t>(bytes)});
}

void BlockCounters::prepare(bool hardware)
{
	told_ = {};
	groups_.clear();
	if (hardware) {
		const CounterField *first = nullptr;
		for (const CounterField &field : model::kCounterFields) {
			if (!field.hardware)
				continue;
			if (!first) {
				first = &field;
				continue;
			}
			groups_.emplace_back().fields = {first, &field};
			first = nullptr;
		}
		for (Group &group : groups_)
			open(group);
	}
	migrations_before_ = migrations();
}

// On any CPU. A leader starts disabled, and its members follow it.
int BlockCounters::open(const CounterField &field, const Group &group, bool user_only) const
{
	if (tid_ == 0) {
		errno = ESRCH;
		return -1;
	}
	const int leader = group.events.empty() ? -1 : group.events[0].get();
	perf_event_attr wish{};
	wish.type = event_type_;
	wish.size = sizeof(wish);
	wish.config = event_of(field.count);
	wish.disabled = leader < 0;
	wish.exclude_kernel = user_only;
	wish.exclude_hv = 1;
	wish.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return static_cast<int>(syscall(SYS_perf_event_open, &wish, tid_, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

void BlockCounters::open(Group &group)
{
	for (const CounterField *field : group.fields) {
		int fd = open(*field, group, told_.user_only != 0);
		// If one event must exclude the kernel, all must: otherwise their ratios mean nothing. The kernel checks
		// permission first, so only the second attempt reports an event that doesn't exist.
		if (fd < 0 && errno == EACCES && told_.user_only == 0) {
			fd = open(*field, group, true);
			told_.user_only = fd >= 0;
		}
		(told_.*field->count).error = fd < 0 ? errno : 0;
		if (fd < 0)
			continue;
		group.events.emplace_back(fd);
		group.counted.push_back(field);
	}
}

void BlockCounters::start()
{
	for (const Group &group : groups_)
		if (!group.events.empty())
			ioctl(group.events[0].get(), PERF_EVENT_IOC_ENABLE, 0);
}

void BlockCounters::stop()
{
	for (const Group &group : groups_)
		if (!group.events.empty())
			ioctl(group.events[0].get(), PERF_EVENT_IOC_DISABLE, 0);
}

model::Counters BlockCounters::take()
{
	told_.migrations = migrations_between(migrations_before_, migrations());
	for (Group &group : groups_) {
		GroupReading reading;
		const ssize_t bytes = group.events.empty() ? 0 : read(group.events[0].get(), &reading, sizeof(reading));
		for (size_t i = 0; i < group.counted.size(); i++)
			told_.*group.counted[i]->count =
				count_of(reading, bytes < 0 ? 0 : static_cast<size_t>(bytes), group.counted.size(), i);
	}
	groups_.clear(); // closes the events: see usage.h
	return told_;
}

} // namespace icepath::worker
