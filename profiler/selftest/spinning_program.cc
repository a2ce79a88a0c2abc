// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/spinning_program.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "profiler/failure.h"

namespace icepath::selftest {
namespace {

constexpr int32_t kMostLooks = 1 << 20; // clock readings: more than any requested time needs
constexpr int kLook = 11; // index of the function that bpf_loop() calls

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

// The verifier needs to know of each function that it is one, and whether others may call it.
struct Functions {
	std::unique_ptr<btf, decltype(&btf__free)> types{btf__new_empty(), btf__free};
	std::array<bpf_func_info, 2> infos{};

	Functions()
	{
		const int number = btf__add_int(types.get(), "int", 4, BTF_INT_SIGNED);
		const int pointer = btf__add_ptr(types.get(), 0);
		const int main_type = btf__add_func_proto(types.get(), number);
		btf__add_func_param(types.get(), "context", pointer);
		const int look_type = btf__add_func_proto(types.get(), number);
		btf__add_func_param(types.get(), "index", number);
		btf__add_func_param(types.get(), "began", pointer);
		infos = {{{0, static_cast<uint32_t>(btf__add_func(types.get(), "spin", BTF_FUNC_GLOBAL, main_type))},
				  {kLook, static_cast<uint32_t>(btf__add_func(types.get(), "look", BTF_FUNC_STATIC, look_type))}}};
	}
};

} // namespace

// Uses a loop that the verifier needn't follow: bpf_loop(), since Linux 5.17.
Fd spinning_program(bpf_prog_type type, uint64_t ns, int32_t result)
{
	constexpr int kCall = BPF_JMP | BPF_CALL, kMove = BPF_ALU64 | BPF_MOV, kAdd = BPF_ALU64 | BPF_ADD,
				  kExit = BPF_JMP | BPF_EXIT;
	constexpr int kStore = BPF_STX | BPF_MEM | BPF_DW, kRead = BPF_LDX | BPF_MEM | BPF_DW;
	const std::array program = {
		insn(kCall, 0, 0, 0, BPF_FUNC_ktime_get_ns),
		insn(kStore, 10, 0, -8, 0), // the start time
		insn(kMove | BPF_K, 1, 0, 0, kMostLooks),
		insn(BPF_LD | BPF_IMM | BPF_DW, 2, BPF_PSEUDO_FUNC, 0, kLook - 4),
		insn(0, 0, 0, 0, 0),
		insn(kMove | BPF_X, 3, 10, 0, 0),
		insn(kAdd | BPF_K, 3, 0, 0, -8),
		insn(kMove | BPF_K, 4, 0, 0, 0),
		insn(kCall, 0, 0, 0, BPF_FUNC_loop),
		insn(kMove | BPF_K, 0, 0, 0, result),
		insn(kExit, 0, 0, 0, 0),
		insn(kMove | BPF_X, 6, 2, 0, 0), // kLook: returns 1 once the time is over
		insn(kCall, 0, 0, 0, BPF_FUNC_ktime_get_ns),
		insn(kRead, 1, 6, 0, 0),
		insn(BPF_ALU64 | BPF_SUB | BPF_X, 0, 1, 0, 0),
		insn(BPF_JMP | BPF_JGE | BPF_K, 0, 0, 2, static_cast<int32_t>(ns)),
		insn(kMove | BPF_K, 0, 0, 0, 0),
		insn(kExit, 0, 0, 0, 0),
		insn(kMove | BPF_K, 0, 0, 0, 1),
		insn(kExit, 0, 0, 0, 0),
	};
	const Functions functions;
	if (btf__load_into_kernel(functions.types.get()))
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("the kernel doesn't take types for BPF programs: {}", std::strerror(errno)));
	bpf_prog_load_opts options{};
	options.sz = sizeof(options);
	options.prog_btf_fd = static_cast<uint32_t>(btf__fd(functions.types.get()));
	options.func_info = functions.infos.data();
	options.func_info_cnt = static_cast<uint32_t>(functions.infos.size());
	options.func_info_rec_size = sizeof(bpf_func_info);
	const int fd = bpf_prog_load(type, "icepath_selftest", "Dual BSD/GPL", program.data(), program.size(), &options);
	if (fd < 0)
		throw Failure(
			ExitCode::MachineCannot,
			fmt::format(
				"the kernel doesn't take a BPF program that lets time pass (bpf_loop() came with Linux 5.17): {}",
				std::strerror(-fd)));
	return Fd(fd);
}

} // namespace icepath::selftest
