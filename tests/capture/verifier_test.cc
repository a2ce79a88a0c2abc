// SPDX-License-Identifier: Apache-2.0
// The verifier's message is part of the reason why a program is missing.
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <unistd.h>

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

} // namespace
} // namespace icepath::capture
