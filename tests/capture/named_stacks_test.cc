// SPDX-License-Identifier: Apache-2.0
// What is told of stacks: names, and of those with an interrupt what that did.
#include "profiler/capture/named_stacks.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace icepath::capture {
namespace {

TEST(InterruptEntry, IsNoExceptionsAndNoSystemCalls)
{
	for (const char *name : {"asm_common_interrupt", "asm_sysvec_call_function_single", "el1h_64_irq"})
		EXPECT_TRUE(is_interrupt_entry(name)) << name;
	for (const char *name : {"asm_exc_page_fault", "entry_SYSCALL_64_after_hwframe", "sysvec_call_function_single", ""})
		EXPECT_FALSE(is_interrupt_entry(name)) << name;
}

// By this kernel's own addresses.
class NamedStacksTest : public testing::Test {
protected:
	void SetUp() override
	{
		std::ifstream file("/proc/kallsyms");
		for (std::string address, type, name; file >> address >> type >> name; file.ignore(200, '\n'))
			if (name == kWoken || name == kInterrupt || name == kInterrupted)
				addresses_[name] = std::strtoull(address.c_str(), nullptr, 16) + 1; // where a call returns to
		if (addresses_.size() != 3 || addresses_[kWoken] == 1)
			GTEST_SKIP() << "needs the kernel's addresses, of an x86-64";
	}

	// The names of a stack from its innermost function on; "(interrupt)" behind them if an interrupt begins it.
	std::string told(icepath_stack_part part, const std::vector<const char *> &functions)
	{
		NamedStacks stacks(1);
		icepath_stack stack{};
		stack.part = part;
		for (const char *function : functions)
			stack.addresses[stack.depth++] = addresses_.at(function);
		stacks.name(&stack, 1);
		EXPECT_EQ(stack.depth, 0u) << "or a late program's stack would be told as this one";
		void *memory = mmap(nullptr, named_bytes(1), PROT_READ, MAP_SHARED, stacks.fd(), 0);
		const auto *names = static_cast<const FunctionNames *>(memory);
		const auto *named = reinterpret_cast<const NamedStack *>(names + 1);
		std::string text;
		for (uint32_t i = 0; i < named->depth; ++i)
			text += std::string(i > 0 ? " " : "") + names->names[named->functions[i]].data();
		text += named->of_interrupt ? " (interrupt)" : "";
		munmap(memory, named_bytes(1));
		return text;
	}

	static constexpr const char *kWoken = "try_to_wake_up", *kInterrupt = "asm_sysvec_apic_timer_interrupt",
								*kInterrupted = "do_syscall_64";
	std::map<std::string, uint64_t> addresses_;
};

TEST_F(NamedStacksTest, ASampleIsWhole)
{
	EXPECT_EQ(told(ICEPATH_STACK_WHOLE, {kWoken, kInterrupt, kInterrupted}),
			  std::string(kWoken) + " " + kInterrupt + " " + kInterrupted);
}

TEST_F(NamedStacksTest, AnInterruptsStackLacksWhatItInterrupted)
{
	const std::string interrupt = std::string(kWoken) + " " + kInterrupt + " (interrupt)";
	EXPECT_EQ(told(ICEPATH_STACK_FROM_INTERRUPT, {kWoken, kInterrupt, kInterrupted}), interrupt);
	EXPECT_EQ(told(ICEPATH_STACK_OF_INTERRUPT, {kWoken, kInterrupt, kInterrupted}), interrupt);
}

TEST_F(NamedStacksTest, WithoutAnInterruptOnlyWhatMayBeToldIs)
{
	EXPECT_EQ(told(ICEPATH_STACK_FROM_INTERRUPT, {kWoken, kInterrupted}), std::string(kWoken) + " " + kInterrupted);
	EXPECT_EQ(told(ICEPATH_STACK_OF_INTERRUPT, {kWoken, kInterrupted}), "");
}

} // namespace
} // namespace icepath::capture
