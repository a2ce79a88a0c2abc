// SPDX-License-Identifier: Apache-2.0
// A task that never sleeps sits on the receiver's CPU. What it runs while the receiver could run must be found in
// `runqueue` or `preempted`, under its name.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "cpuset/affinity.h"
#include "tests/end_to_end/command.h"
#include "tests/end_to_end/resolved_run.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

class Hog {
public:
	explicit Hog(uint32_t cpu)
	{
		pid_ = fork();
		if (pid_ == 0) {
			prctl(PR_SET_NAME, "cpu-hog");
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (cpuset::pin(0, cpu))
				_exit(1);
			for (;;)
				asm volatile("" ::: "memory");
		}
	}
	~Hog()
	{
		kill_process(pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}
	uint32_t tid() const { return static_cast<uint32_t>(pid_); }

private:
	pid_t pid_ = -1;
};

uint64_t overlap(uint64_t begin, uint64_t end, uint64_t other_begin, uint64_t other_end)
{
	const uint64_t from = std::max(begin, other_begin), to = std::min(end, other_end);
	return to > from ? to - from : 0;
}

uint64_t hog_time(const path::Cpu &cpu, uint32_t hog, uint64_t begin, uint64_t end)
{
	uint64_t sum = 0;
	for (const path::Run &run : cpu.runs)
		if (run.tid == hog)
			sum += overlap(run.in_ns, run.out_ns, begin, end);
	return sum;
}

struct Found {
	uint64_t delayed_ns = 0, named_ns = 0;
	size_t messages = 0;
};

// Message by message: the hog's recorded run time while the receiver was runnable and asking, by its scheduling periods
// alone, and what the path says of the same time.
void look_at(const ResolvedBlock &resolved, uint32_t hog, Found &found)
{
	const rundir::BlockSide &receiver = resolved.block.sides[1];
	const path::Thread &thread = resolved.seen.threads.at(receiver.tid);
	const auto cpu = resolved.seen.cpus.find(static_cast<uint16_t>(receiver.cpu));
	if (cpu == resolved.seen.cpus.end())
		return;
	for (size_t i = 0; i < resolved.paths.size(); i++) {
		const path::Delivery &delivery = resolved.seen.deliveries[i];
		const auto transfer = std::find_if(resolved.seen.transfers.begin(), resolved.seen.transfers.end(),
										   [&](const path::Transfer &one) { return one.message == delivery.message; });
		if (!resolved.paths[i].complete() || delivery.receiver != receiver.tid || !transfer->ready)
			continue;
		const uint64_t begin = std::max(transfer->ready->at_ns, transfer->ask.at_ns);
		uint64_t delayed_ns = 0, named_ns = 0;
		for (const path::OffCpu &off : thread.off) {
			const uint64_t runnable = std::max(begin, off.preempted ? off.out_ns : off.wakeup_ns);
			if (off.in_ns > begin && off.out_ns < delivery.recv.at_ns)
				delayed_ns += hog_time(cpu->second, hog, runnable, std::min(off.in_ns, delivery.recv.at_ns));
		}
		for (const path::Segment &segment : resolved.paths[i].segments)
			if ((segment.layer == path::Layer::Runqueue || segment.layer == path::Layer::Preempted) &&
				segment.culprit.kind == path::Culprit::Kind::Task && segment.culprit.id == hog)
				named_ns += hog_time(cpu->second, hog, segment.begin.at_ns, segment.end.at_ns);
		found.delayed_ns += delayed_ns;
		found.named_ns += std::min(named_ns, delayed_ns);
		found.messages += delayed_ns > 0;
	}
}

TEST(CpuHog, IsNamedForTheTimeThatItTookFromTheReceiver)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const Hog hog(1);
	const Outcome outcome = run({icepath_program(), "run", "-t", "uds-stream", "-s", "64", "--patterns", "pingpong",
								 "--cpus", "0,1", "-d", "10", "-o", "out"},
								folder.path(), 60s);
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	Found found;
	for (const ResolvedBlock &resolved : resolve(folder.path() / "out").blocks) {
		if (!resolved.block.probed)
			continue;
		look_at(resolved, hog.tid(), found);
		const auto name = resolved.seen.task_names.find(hog.tid());
		if (name != resolved.seen.task_names.end()) {
			EXPECT_EQ(name->second, "cpu-hog");
		}
	}
	ASSERT_GE(found.messages, 50u) << "not exercised";
	EXPECT_GE(static_cast<double>(found.named_ns), 0.9 * static_cast<double>(found.delayed_ns))
		<< found.messages << " messages";
	EXPECT_NE(outcome.out.find("cpu-hog"), std::string::npos) << "the report names it";
}

} // namespace
} // namespace icepath::end_to_end
