// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/named_stacks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/failure.h"

namespace icepath::capture {
namespace {

symbols::KernelSymbols symbols_of_this_kernel()
{
	std::ifstream file("/proc/kallsyms");
	return symbols::KernelSymbols(std::string(std::istreambuf_iterator<char>(file), {}));
}

void put_name(FunctionNames &names, uint32_t number, std::string_view name)
{
	name.copy(names.names[number].data(), kFunctionNameBytes - 1);
	names.count = number + 1;
}

} // namespace

NamedStacks::NamedStacks(uint32_t stacks)
	: fd_(memfd_create("icepath-stacks", MFD_CLOEXEC | MFD_ALLOW_SEALING)), room_(stacks),
	  symbols_(symbols_of_this_kernel()), numbers_(symbols_.size())
{
	const size_t bytes = named_bytes(room_);
	// Sealed, because the helper would be killed if icepath shortened the memory.
	if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes)) || fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) ||
		(memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0)) == MAP_FAILED) {
		const int why = errno;
		if (fd_ >= 0)
			close(fd_);
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("there is no memory for the names of sampled functions: {}", std::strerror(why)));
	}
	put_name(*static_cast<FunctionNames *>(memory_), 0, kKernelFunction);
}

NamedStacks::~NamedStacks()
{
	munmap(memory_, named_bytes(room_));
	close(fd_);
}

uint32_t NamedStacks::function_at(uint64_t address)
{
	const auto symbol = symbols_.find(address);
	if (!symbol)
		return 0;
	uint32_t &number = numbers_[*symbol];
	if (number == 0 && functions_ < kMostFunctions) {
		number = functions_++;
		put_name(*static_cast<FunctionNames *>(memory_), number, symbols_.name(*symbol));
	}
	return number;
}

bool is_interrupt_entry(std::string_view function)
{
	// x86-64: DEFINE_IDTENTRY_IRQ and DEFINE_IDTENTRY_SYSVEC; with FRED; arm64.
	constexpr std::string_view kBeginnings[] = {
		"asm_common_interrupt", "asm_spurious_interrupt", "asm_sysvec_", "fred_extint", "el1h_64_irq", "el0t_64_irq"};
	return std::ranges::any_of(kBeginnings,
							   [&](std::string_view beginning) { return function.starts_with(beginning); });
}

// The depth of what the innermost interrupt on the stack did; 0: there is none.
uint32_t NamedStacks::upto_interrupt(const icepath_stack &stack, uint32_t depth) const
{
	for (uint32_t frame = 0; frame < depth; frame++)
		if (const auto symbol = symbols_.find(stack.addresses[frame] - (frame > 0));
			symbol && is_interrupt_entry(symbols_.name(*symbol)))
			return frame + 1;
	return 0;
}

void NamedStacks::name(icepath_stack *stacks, uint32_t count)
{
	auto *named = reinterpret_cast<NamedStack *>(static_cast<FunctionNames *>(memory_) + 1);
	for (size_t i = 0; i < std::min<size_t>(count, room_); i++) {
		icepath_stack &stack = stacks[i];
		uint32_t depth = std::min<uint32_t>(std::exchange(stack.depth, 0), ICEPATH_STACK_DEPTH);
		const uint32_t of_interrupt = stack.part == ICEPATH_STACK_WHOLE ? 0 : upto_interrupt(stack, depth);
		if (of_interrupt > 0 || stack.part == ICEPATH_STACK_OF_INTERRUPT)
			depth = of_interrupt;
		named[i].depth = depth;
		named[i].of_interrupt = of_interrupt > 0;
		// All but the first are addresses that calls return to, which may be those of the next function.
		for (uint32_t frame = 0; frame < depth; frame++)
			named[i].functions[frame] = function_at(stack.addresses[frame] - (frame > 0));
	}
}

} // namespace icepath::capture
