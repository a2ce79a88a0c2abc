// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/usage.h"

#include <time.h>

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

} // namespace icepath::worker
