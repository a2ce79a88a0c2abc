// SPDX-License-Identifier: Apache-2.0
// The verifier's message is part of the reason why a program is missing. It removes what a run doesn't use.
#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/capture/bpf_object.h"
#include "profiler/capture/capture.h"
#include "profiler/capture/selection.h"

namespace icepath::capture {
namespace {

TEST(Verifier, SaysInItsLastLinesWhatIsWrong)
{
	EXPECT_EQ(verdict_of("0: R1=ctx() R10=fp0\n; return *missing; @ probe.c:12\n3: (79) r0 = *(u64 *)(r1 +8)\n"
						 "R1 invalid mem access 'scalar'\nverification time 44 usec\nstack depth 0\n"
						 "processed 4 insns (limit 1000000) max_states_per_insn 0 total_states 0\n"),
			  "3: (79) r0 = *(u64 *)(r1 +8); R1 invalid mem access 'scalar'");
	EXPECT_EQ(verdict_of("R0 !read_ok"), "R0 !read_ok");
	EXPECT_EQ(verdict_of(""), "");
	EXPECT_EQ(verdict_of("\n\nprocessed 0 insns\n"), "");
	EXPECT_EQ(verdict_of(std::string(5000, 'x')).size(), 240u);
}

TEST(Verifier, OfItsNumbersOnlyThoseTooShortForAnAddressAreSaid)
{
	EXPECT_EQ(verdict_of("; if (!capturing) @ scheduling.bpf.h:87\n0: (18) r2 = 0xffffc9000139a000\n"),
			  "; if (!capturing) @ scheduling.bpf.h:87; 0: (18) r2 = 0x...");
	EXPECT_EQ(verdict_of("R1=map_value(off=0,ks=4,vs=64) R2_w=-131391635394560 FFFFFFFFabcdefab"),
			  "R1=map_value(off=0,ks=4,vs=64) R2_w=-... ...");
	EXPECT_EQ(verdict_of("R1=ctx() R2=81000000 R3=0x8100000 R4=99999 added facade"),
			  "R1=ctx() R2=... R3=0x... R4=99999 added facade");
}

// As often as a hostile user can, so that the kernel verifies no program to its end.
class ManySignals {
public:
	ManySignals()
	{
		struct sigaction ignores{};
		ignores.sa_handler = [](int) {};
		ignores.sa_flags = SA_RESTART;
		sigaction(SIGALRM, &ignores, &before_);
		set({{0, kEveryUs}, {0, kEveryUs}});
	}
	~ManySignals()
	{
		set({});
		sigaction(SIGALRM, &before_, nullptr);
	}
	ManySignals(const ManySignals &) = delete;
	ManySignals &operator=(const ManySignals &) = delete;

private:
	static constexpr suseconds_t kEveryUs = 50;
	static void set(const itimerval &times) { setitimer(ITIMER_REAL, &times, nullptr); }
	struct sigaction before_{};
};

// libbpf finds out once in a process what the kernel can, by loading programs, and takes one that a signal interrupted
// for something that the kernel can't. So it finds out before the signals come.
void let_libbpf_know_the_kernel(const Candidate &candidate)
{
	ASSERT_EQ(why_not_loaded(open_bpf_object({candidate}).get(), candidate), "");
}

TEST(Verifier, WhenSignalsInterruptItGivesNoVerdict)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to load BPF programs";
	const Candidate candidate = kProbes[number_of("sched_switch")].candidates[0];
	let_libbpf_know_the_kernel(candidate);
	const BpfObject bpf = open_bpf_object({candidate});
	const ManySignals signals;
	EXPECT_THROW(why_not_loaded(bpf.get(), candidate), LoadInterrupted);
	EXPECT_THROW(try_probe(number_of("sched_switch")), LoadInterrupted);
	EXPECT_THROW(Capture({0}, 64), LoadInterrupted);
}

TEST(Verifier, ASignalCostsNoProbe)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to load BPF programs";
	const Candidate candidate = kProbes[number_of("sched_switch")].candidates[0];
	let_libbpf_know_the_kernel(candidate);
	std::optional<ManySignals> signals(std::in_place);
	int opened = 0;
	const BpfObject bpf = load_despite_signals([&] {
		if (++opened == 2)
			signals.reset();
		return open_bpf_object({candidate});
	});
	EXPECT_TRUE(bpf);
	EXPECT_EQ(opened, 2);
}

TEST(Verifier, ItsWordsAreInTheReason)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to load BPF programs";
	const Candidate candidate = kProbes[number_of("sched_switch")].candidates[0];
	EXPECT_EQ(why_not_loaded(open_bpf_object({candidate}).get(), candidate), "");
	const BpfObject spoilt = open_bpf_object({candidate});
	bpf_program *program = program_of(spoilt.get(), candidate);
	std::vector<bpf_insn> code(bpf_program__insns(program),
							   bpf_program__insns(program) + bpf_program__insn_cnt(program));
	code[0] = {};
	code[0].code = BPF_JMP | BPF_EXIT; // R0 isn't set, and the rest is unreachable
	ASSERT_EQ(bpf_program__set_insns(program, code.data(), code.size()), 0);
	const std::string reason = why_not_loaded(spoilt.get(), candidate);
	EXPECT_TRUE(reason.starts_with("loading: ")) << reason;
	EXPECT_NE(reason.find("(verifier: "), std::string::npos) << reason;
}

// Of the program, as the kernel runs it.
uint32_t code_bytes(std::string_view probe, uint32_t event_stacks)
{
	const Candidate candidate = kProbes[number_of(probe)].candidates[0];
	const BpfObject bpf = open_bpf_object({candidate});
	bpf->rodata->event_stack_room = event_stacks;
	EXPECT_EQ(why_not_loaded(bpf.get(), candidate), "");
	bpf_prog_info info{};
	uint32_t size = sizeof info;
	EXPECT_EQ(bpf_obj_get_info_by_fd(bpf_program__fd(program_of(bpf.get(), candidate)), &info, &size), 0);
	return info.xlated_prog_len;
}

TEST(Verifier, RemovesWhatTakesStacksFromARunWithoutThem)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to load BPF programs";
	for (const char *probe : {"sched_switch", "sched_waking"})
		EXPECT_LT(code_bytes(probe, 0) + 1000, code_bytes(probe, 1)) << probe;
}

} // namespace
} // namespace icepath::capture
