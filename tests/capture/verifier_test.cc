// SPDX-License-Identifier: Apache-2.0
// The verifier's message is part of the reason why a program is missing. It removes what a run doesn't use.
#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <string_view>
#include <vector>

#include "profiler/capture/bpf_object.h"

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
