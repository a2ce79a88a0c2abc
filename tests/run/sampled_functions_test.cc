// SPDX-License-Identifier: Apache-2.0
// The tables of functions and stacks that a window gets.
#include "profiler/run/sampled_functions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "ebpf/user_stack.h"
#include "profiler/capture/named_stacks.h"
#include "profiler/rundir/json_text.h"
#include "profiler/rundir/limits.h"
#include "profiler/rundir/window_json.h"

namespace icepath::run {
namespace {

// What the helper shares: a number of stacks, of functions 1, 2, ….
class SharedStacks {
public:
	explicit SharedStacks(size_t stacks)
		: named_(memfd_create("named", MFD_CLOEXEC)), user_(memfd_create("user", MFD_CLOEXEC)),
		  bytes_(capture::named_bytes(stacks))
	{
		const size_t user_bytes = std::min<size_t>(stacks, capture::kMostUserStacks) * sizeof(icepath_user_stack);
		if (ftruncate(named_.get(), static_cast<off_t>(bytes_)) ||
			ftruncate(user_.get(), static_cast<off_t>(user_bytes)))
			throw std::runtime_error("no memory");
		memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, named_.get(), 0);
		if (memory_ == MAP_FAILED)
			throw std::runtime_error("no memory");
		for (uint32_t i = 0; i < capture::kMostFunctions; ++i)
			fmt::format_to_n(names()->names[i].data(), capture::kFunctionNameBytes - 1, "function_{}", i);
	}
	~SharedStacks() { munmap(memory_, bytes_); }
	SharedStacks(const SharedStacks &) = delete;
	SharedStacks &operator=(const SharedStacks &) = delete;

	capture::NamedStack &stack(size_t number) { return reinterpret_cast<capture::NamedStack *>(names() + 1)[number]; }
	SampledFunctions functions() const { return {named_, user_}; }

private:
	capture::FunctionNames *names() const { return static_cast<capture::FunctionNames *>(memory_); }

	Fd named_, user_;
	size_t bytes_;
	void *memory_ = nullptr;
};

// With a record of each of these stacks, which have no user's part.
model::Window window_with(uint32_t stacks, icepath_record_type type)
{
	model::Window window;
	window.probed = true;
	window.sample_period_ns = 250'000;
	std::vector<icepath_record> &records = window.slots.emplace_back().records;
	for (uint32_t i = 0; i < stacks; ++i) {
		icepath_record record{};
		record.type = static_cast<uint8_t>(type);
		record.sample.stack = i + 1;
		records.push_back(record);
	}
	return window;
}

std::vector<std::string> names_of(const model::Window &window, size_t record)
{
	std::vector<std::string> names;
	for (const uint32_t function : window.stacks.at(window.slots[0].records[record].sample.stack - 1))
		names.push_back(window.functions.at(function));
	return names;
}

class EachKindOfStack : public testing::TestWithParam<icepath_record_type> {};
INSTANTIATE_TEST_SUITE_P(SampledFunctions, EachKindOfStack,
						 testing::Values(ICEPATH_RECORD_SAMPLE, ICEPATH_RECORD_SLEEP_STACK,
										 ICEPATH_RECORD_WAKER_STACK));

TEST_P(EachKindOfStack, IsNamedFromTheOutermostFunctionOn)
{
	SharedStacks shared(3);
	shared.stack(1).depth = 2;
	shared.stack(1).functions = {7, 3};
	model::Window window = window_with(3, GetParam());
	shared.functions().name(window);
	EXPECT_EQ(window.slots[0].records[0].sample.stack, 0u) << "nothing is known of it";
	EXPECT_EQ(names_of(window, 1), (std::vector<std::string>{"function_3", "function_7"}));
}

TEST(SampledFunctions, NoUserCodeCalledAnInterrupt)
{
	SharedStacks shared(2);
	for (uint32_t i = 0; i < 2; ++i) {
		shared.stack(i).depth = 1;
		shared.stack(i).functions = {3};
		shared.stack(i).of_interrupt = i;
	}
	model::Window window = window_with(2, ICEPATH_RECORD_WAKER_STACK);
	for (icepath_record &record : window.slots[0].records)
		record.sample.tgid = 1;
	shared.functions().name(window);
	EXPECT_EQ(names_of(window, 0), (std::vector<std::string>{"[callers unknown]", "function_3"}));
	EXPECT_EQ(names_of(window, 1), std::vector<std::string>{"function_3"});
}

// The deepest stacks that a block of four CPUs can have, no two alike: more than fits. Those without room keep their
// innermost function.
TEST(SampledFunctions, TablesFitAWindow)
{
	constexpr uint32_t kStacks = 4 * capture::kStacksOfCpu + capture::kEventStacks;
	constexpr uint32_t kFunctions = capture::kMostFunctions - 1; // without number 0
	SharedStacks shared(kStacks);
	for (uint32_t i = 0; i < kStacks; ++i) {
		shared.stack(i).depth = ICEPATH_STACK_DEPTH;
		for (uint32_t frame = 0; frame < ICEPATH_STACK_DEPTH; ++frame)
			shared.stack(i).functions[frame] = (i + frame * 61) % kFunctions + 1;
		shared.stack(i).functions[1] = i / kFunctions + 1;
	}
	model::Window window = window_with(kStacks, ICEPATH_RECORD_SAMPLE);
	shared.functions().name(window);
	EXPECT_LT(rundir::json_text(rundir::to_json(window, 1)).size(), rundir::kMaxJsonBytes);
	EXPECT_LE(window.stacks.size(), rundir::kMaxStacks);
	EXPECT_LT(window.functions.size(), rundir::kMaxFunctions);
	EXPECT_EQ(names_of(window, 0).size(), size_t{ICEPATH_STACK_DEPTH});
	EXPECT_EQ(names_of(window, 0).back(), "function_1");
	EXPECT_EQ(
		names_of(window, kStacks - 1),
		(std::vector<std::string>{"[callers unknown]", fmt::format("function_{}", (kStacks - 1) % kFunctions + 1)}));
}

} // namespace
} // namespace icepath::run
