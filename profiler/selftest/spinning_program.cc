// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/spinning_program.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "profiler/channel.h"
#include "profiler/failure.h"

namespace icepath::selftest {
namespace {

// The verifier follows every round, and keeps the way out of each until it has seen them all: 8192 at most
// (BPF_COMPLEXITY_LIMIT_JMP_SEQ). The clock takes 10 ns or more to read (bpf_ktime_get_ns).
constexpr int32_t kMostLooks = 8'000;
constexpr int kReadings = 24; // of the clock, for each look at what it says

constexpr bpf_insn insn(int code, int to, int from, int offset, int32_t value)
{
	bpf_insn one{};
	one.code = static_cast<uint8_t>(code);
	one.dst_reg = static_cast<uint8_t>(to) & 0xf;
	one.src_reg = static_cast<uint8_t>(from) & 0xf;
	one.off = static_cast<int16_t>(offset);
	one.imm = value;
	return one;
}

Fd load(bpf_prog_type type, uint32_t ns, int32_t result)
{
	constexpr int kCall = BPF_JMP | BPF_CALL, kMove = BPF_ALU64 | BPF_MOV, kSubtract = BPF_ALU64 | BPF_SUB;
	std::vector<bpf_insn> program = {
		insn(kCall, 0, 0, 0, BPF_FUNC_ktime_get_ns),
		insn(kMove | BPF_X, 6, 0, 0, 0), // r6: when it began
		insn(kMove | BPF_K, 7, 0, 0, kMostLooks),
	};
	program.insert(program.end(), kReadings, insn(kCall, 0, 0, 0, BPF_FUNC_ktime_get_ns));
	const std::array rest = {
		insn(kSubtract | BPF_X, 0, 6, 0, 0),  insn(BPF_JMP | BPF_JGE | BPF_K, 0, 0, 2, static_cast<int32_t>(ns)),
		insn(kSubtract | BPF_K, 7, 0, 0, 1),  insn(BPF_JMP | BPF_JNE | BPF_K, 7, 0, -4 - kReadings, 0),
		insn(kMove | BPF_K, 0, 0, 0, result), insn(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	program.insert(program.end(), rest.begin(), rest.end());
	const int fd = bpf_prog_load(type, "icepath_selftest", "Dual BSD/GPL", program.data(), program.size(), nullptr);
	if (fd < 0)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("the kernel doesn't take a BPF program that lets time pass: {}", std::strerror(-fd)));
	return Fd(fd);
}

} // namespace

int spinning_program(bpf_prog_type type, uint32_t ns, int32_t result)
{
	static std::map<std::tuple<bpf_prog_type, uint32_t, int32_t>, Fd> loaded;
	Fd &program = loaded[{type, ns, result}];
	if (!program)
		program = load(type, ns, result);
	return program.get();
}

} // namespace icepath::selftest
