// SPDX-License-Identifier: Apache-2.0
// A kprobe hit while another one's handler runs: dropped, and counted if the kernel reports it.
#include "profiler/capture/skip_times.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "profiler/capture/bpf_object.h"
#include "tests/capture/exchange.h"

namespace icepath::capture {
namespace {

bool kernel_tells()
{
	utsname kernel{};
	uname(&kernel);
	int major = 0, minor = 0;
	std::sscanf(kernel.release, "%d.%d", &major, &minor);
	return major > 6 || (major == 6 && minor >= 7);
}

// Past the function's entry, so that it isn't an ftrace kprobe, which another one's handler doesn't trigger.
bpf_link *attach_within(const bpf_program *program, const char *function)
{
	for (const size_t offset : {5, 9}) { // call __fentry__, with or without endbr64
		LIBBPF_OPTS(bpf_kprobe_opts, options, .offset = offset);
		if (bpf_link *link = bpf_program__attach_kprobe_opts(program, function, &options))
			return link;
	}
	return nullptr;
}

TEST(Misses, OfAKprobeAreCountedWhereTheKernelTells)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to load BPF programs";
	const size_t queue = number_of("skb_queue_tail");
	const Trial trial = select_probes(Tier::Kprobe)[queue];
	if (!trial.works) {
		EXPECT_FALSE(trial.why_not.empty());
		return;
	}
	// The program at skb_queue_tail looks up the socket's cookie in a hash table.
	const Candidate any = kProbes.at(number_of("msg_insert")).candidates[1];
	const BpfObject bpf = open_bpf_object({any});
	ASSERT_EQ(capture_bpf__load(bpf.get()), 0);
	const bpf_program *program = program_of(bpf.get(), any);
	bpf_link *link = attach_within(program, "__htab_map_lookup_elem");
	ASSERT_NE(link, nullptr);
	EXPECT_EQ(misses_of(program, link), 0u);
	{
		const Exchange exchange(two_cpus(), {Tier::Kprobe}, bit(queue));
		EXPECT_EQ(exchange.seen.front().count(ICEPATH_RECORD_ENQUEUED), size_t{2 * kTrips});
	}
	if (kernel_tells()) {
		EXPECT_GE(misses_of(program, link), uint64_t{2 * kTrips});
	} else {
		EXPECT_EQ(misses_of(program, link), 0u);
	}
	bpf_link__destroy(link);
}

} // namespace
} // namespace icepath::capture
