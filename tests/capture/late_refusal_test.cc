// SPDX-License-Identifier: Apache-2.0
// A program that loads but can't be attached. A wrapper around libbpf's attaching (the linker's --wrap) simulates the
// kernel's refusal; all else is real.
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "profiler/capture/capture.h"
#include "profiler/failure.h"

namespace {

std::string refused; // the program's name; none if empty
std::vector<int> accepted; // which of its attach attempts succeed
int times = 0;

} // namespace

extern "C" bpf_link *__real_bpf_program__attach(const bpf_program *program);
extern "C" bpf_link *__wrap_bpf_program__attach(const bpf_program *program)
{
	if (refused != bpf_program__name(program) || std::ranges::count(accepted, ++times) > 0)
		return __real_bpf_program__attach(program);
	errno = ENOENT;
	return nullptr;
}

namespace icepath::capture {
namespace {

class LateRefusal : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root to load BPF programs";
	}
	~LateRefusal() override { refused.clear(); }
	static void refuse(std::string_view program, const std::vector<int> &but = {})
	{
		refused = program;
		accepted = but;
		times = 0;
	}
};

TEST_F(LateRefusal, TheNextCandidateIsTaken)
{
	const size_t taken = number_of("skb_copy_datagram_iovec");
	const bool has_functions = select_probes()[number_of("skb_queue_tail")].works;
	refuse("on_skb_copy_datagram_iovec");
	Capture capture({0}, 64);
	const Trial &trial = capture.selection()[taken];
	EXPECT_NE(trial.why_not.find("tracepoint skb_copy_datagram_iovec: attaching: No such file or directory"),
			  std::string::npos)
		<< trial.why_not;
	EXPECT_EQ(trial.works, has_functions);
	EXPECT_EQ((capture.available() & bit(taken)) != 0, has_functions);
	if (has_functions) {
		EXPECT_EQ(described(trial.candidate), "fentry skb_copy_datagram_iter");
	}
	// The result stays true: all available probes can be attached.
	const ProbeSet available = capture.available();
	capture.attach(~ProbeSet{0});
	EXPECT_EQ(capture.available(), available);
}

TEST_F(LateRefusal, OfAFunctionThatWasJustTriedTakesTheNextCandidate)
{
	const size_t queue = number_of("skb_queue_tail");
	const Trial usual = select_probes()[queue];
	if (!usual.works) {
		EXPECT_FALSE(usual.why_not.empty());
		return;
	}
	refuse(usual.candidate.program, {1}); // as on a kernel where all functions are tried
	const Capture capture({0}, 64);
	EXPECT_EQ(described(capture.selection()[queue].candidate), "kprobe skb_queue_tail");
}

TEST_F(LateRefusal, OfWhatNothingReplacesLeavesTheOthers)
{
	const size_t idle = number_of("cpu_idle");
	const ProbeSet usual = Capture({0}, 64).available();
	refuse("on_cpu_idle");
	EXPECT_EQ(Capture({0}, 64).available(), usual & ~bit(idle));
	// Alone it can be attached, together with others it can't: it is left out, without endless tries.
	refuse("on_cpu_idle", {2});
	EXPECT_EQ(Capture({0}, 64).available(), usual & ~bit(idle));
	EXPECT_EQ(times, 3);
}

TEST_F(LateRefusal, OfAnEssentialProbeIsTheRunsEnd)
{
	refuse("on_sched_switch");
	try {
		const Capture capture({0}, 64);
		FAIL() << "took it for attached";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::MachineCannot);
		EXPECT_NE(std::string(failure.what()).find("cannot trace sched_switch"), std::string::npos) << failure.what();
	}
}

} // namespace
} // namespace icepath::capture
