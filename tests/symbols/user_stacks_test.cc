// SPDX-License-Identifier: Apache-2.0
#include "profiler/symbols/user_stacks.h"

#include <execinfo.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "profiler/symbols/user_functions.h"

#ifdef __x86_64__

// Calls `function`, with a frame pointer and without an unwinding table.
extern "C" void without_table_of_this_test(void (*function)());
asm(R"(
	.text
	.type without_table_of_this_test, @function
without_table_of_this_test:
	push %rbp
	mov %rsp, %rbp
	call *%rdi
	pop %rbp
	ret
	.size without_table_of_this_test, . - without_table_of_this_test
)");

namespace icepath::symbols {

struct {
	size_t to_copy = 0; // bytes of the stack
	UserFrames frames;
	std::vector<std::string> names; // of the frames
	std::vector<std::string> inlined; // in the first caller
	std::vector<uint64_t> by_libgcc; // the same callers' addresses
} at_innermost;

static size_t left_of_own_stack(const std::byte *from)
{
	pthread_attr_t attributes;
	void *begin = nullptr;
	size_t bytes = 0;
	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &begin, &bytes);
	pthread_attr_destroy(&attributes);
	return static_cast<size_t>(static_cast<const std::byte *>(begin) + bytes - from);
}

// With names for the linker, as what follows.
[[gnu::noinline]] void innermost_of_this_test()
{
	ucontext_t context{};
	getcontext(&context);
	const auto &from = context.uc_mcontext.gregs;
	UserState state;
	const int in_order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
							REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
	for (size_t i = 0; i < state.registers.size(); ++i)
		state.registers[i] = static_cast<uint64_t>(from[in_order[i]]);
	auto *stack = reinterpret_cast<std::byte *>(state.registers[UserState::kStackPointer]);
	std::vector<std::byte> copy(std::min(at_innermost.to_copy, left_of_own_stack(stack)));
	const iovec to = {copy.data(), copy.size()}, part = {stack, copy.size()};
	// Not memcpy(): a sanitizer puts space between variables that nobody may read.
	if (process_vm_readv(getpid(), &to, 1, &part, 1, 0) != static_cast<ssize_t>(copy.size()))
		copy.clear();
	state.stack = copy;
	UserStacks stacks;
	UserFunctions functions;
	const auto own = static_cast<uint32_t>(getpid());
	at_innermost.frames = stacks.frames(own, state);
	at_innermost.names.clear();
	for (const uint64_t address : at_innermost.frames.addresses)
		at_innermost.names.push_back(functions.name(own, address));
	at_innermost.inlined.clear();
	if (at_innermost.frames.addresses.size() > 1)
		at_innermost.inlined = stacks.inlined(own, at_innermost.frames.addresses[1]);
	std::array<void *, 64> callers{};
	const auto count = static_cast<size_t>(backtrace(callers.data(), callers.size()));
	at_innermost.by_libgcc.clear();
	for (size_t i = 0; i < count; ++i) // where the call is, as in UserFrames
		at_innermost.by_libgcc.push_back(reinterpret_cast<uint64_t>(callers[i]) - 1);
}

[[gnu::noinline]] int compare_of_this_test(const void *, const void *)
{
	innermost_of_this_test();
	return 0;
}

[[gnu::noinline]] void by_libc_of_this_test()
{
	std::array<int, 2> all = {1, 1};
	std::qsort(all.data(), all.size(), sizeof(int), compare_of_this_test);
}

[[gnu::noinline]] void by_pointer_of_this_test()
{
	without_table_of_this_test(innermost_of_this_test);
	at_innermost.to_copy = 0; // no tail call
}

[[gnu::always_inline]] inline void inner_of_this_test(int)
{
	innermost_of_this_test();
	at_innermost.to_copy = 0;
}

[[gnu::always_inline]] inline void outer_of_this_test()
{
	inner_of_this_test(1);
	at_innermost.to_copy = 0;
}

[[gnu::noinline]] void with_inlined_of_this_test()
{
	outer_of_this_test();
	at_innermost.to_copy = 0;
}

namespace {

// In a thread of its own, whose whole stack is at hand.
void look(void (*function)(), size_t bytes)
{
	at_innermost.to_copy = bytes;
	std::thread(function).join();
}

size_t place_of(const std::string &name)
{
	return static_cast<size_t>(std::ranges::find(at_innermost.names, name) - at_innermost.names.begin());
}

std::string of_this_test(const std::string &function) { return "symbols_test!icepath::symbols::" + function; }

constexpr size_t kEnough = 16384;

TEST(UserStacks, HaveCallersUpToTheFirstFunction)
{
	look(by_libc_of_this_test, kEnough);
	EXPECT_TRUE(at_innermost.frames.is_whole);
	EXPECT_EQ(place_of(of_this_test("innermost_of_this_test()")), 0u);
	EXPECT_EQ(place_of(of_this_test("compare_of_this_test(void const*, void const*)")), 1u);
	const size_t outer = place_of(of_this_test("by_libc_of_this_test()"));
	ASSERT_LT(outer, at_innermost.names.size());
	EXPECT_GE(outer, 3u) << "libc called the comparison";
	EXPECT_TRUE(at_innermost.names[2].starts_with("libc.so.6")) << at_innermost.names[2];
	EXPECT_TRUE(at_innermost.names.back().starts_with("libc.so.6")) << at_innermost.names.back();
}

// libgcc unwinds for exceptions, by code of its own.
TEST(UserStacks, HaveTheCallersThatLibgccFinds)
{
	look(by_libc_of_this_test, kEnough);
	const std::vector<uint64_t> &ours = at_innermost.frames.addresses, &theirs = at_innermost.by_libgcc;
	ASSERT_GE(theirs.size(), 6u);
	// A sanitizer's backtrace() calls libgcc's, and is in its list.
	ASSERT_TRUE(theirs.size() == ours.size() || theirs.size() == ours.size() + 1) << theirs.size();
	EXPECT_TRUE(std::equal(ours.begin() + 1, ours.end(), theirs.end() - static_cast<ptrdiff_t>(ours.size()) + 1))
		<< "but for the place in the first";
}

TEST(UserStacks, FollowFramePointersWhereThereIsNoTable)
{
	look(by_pointer_of_this_test, kEnough);
	EXPECT_TRUE(at_innermost.frames.is_whole);
	EXPECT_EQ(place_of(of_this_test("innermost_of_this_test()")), 0u);
	EXPECT_EQ(place_of("symbols_test!without_table_of_this_test"), 1u);
	EXPECT_EQ(place_of(of_this_test("by_pointer_of_this_test()")), 2u);
}

TEST(UserStacks, KnowWhatWasInlined)
{
	look(with_inlined_of_this_test, kEnough);
	EXPECT_EQ(place_of(of_this_test("with_inlined_of_this_test()")), 1u);
	// By -g1 clang tells a function's own name alone.
	ASSERT_EQ(at_innermost.inlined.size(), 2u);
	EXPECT_NE(at_innermost.inlined[0].find("outer_of_this_test"), std::string::npos) << at_innermost.inlined[0];
	EXPECT_NE(at_innermost.inlined[1].find("inner_of_this_test"), std::string::npos) << at_innermost.inlined[1];
	look(by_libc_of_this_test, kEnough);
	EXPECT_EQ(at_innermost.inlined, std::vector<std::string>());
}

TEST(UserStacks, AreCutWhereTheCopyEnds)
{
	look(by_libc_of_this_test, 64);
	EXPECT_FALSE(at_innermost.frames.is_whole);
	ASSERT_GE(at_innermost.frames.addresses.size(), 1u);
	EXPECT_LT(at_innermost.frames.addresses.size(), 5u);
}

// As of a process that changed its registers, or of a stack that holds anything.
TEST(UserStacks, HaveCodeOnly)
{
	UserStacks stacks;
	std::vector<std::byte> noise(kEnough);
	uint64_t random = 1;
	for (std::byte &byte : noise)
		byte = static_cast<std::byte>((random = random * 6364136223846793005 + 1442695040888963407) >> 56);
	UserState state;
	state.stack = noise;
	state.registers[UserState::kStackPointer] = 0x7f0000000000;
	constexpr size_t kFramePointer = 6, kInstruction = 16;
	state.registers[kFramePointer] = 0x7f0000000100;
	state.registers[kInstruction] = 0x1234;
	const UserFrames frames = stacks.frames(static_cast<uint32_t>(getpid()), state);
	EXPECT_EQ(frames.addresses, std::vector<uint64_t>{0x1234});
	EXPECT_FALSE(frames.is_whole);
}

// A copy of this program, mapped once more as the loader maps a library. Its code isn't run.
class MappedCopy {
public:
	explicit MappedCopy(const void *function)
	{
		const int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		fd_ = mkstemp(path_);
		struct stat status{};
		EXPECT_TRUE(own >= 0 && fd_ >= 0 && fstat(own, &status) == 0);
		while (sendfile(fd_, own, nullptr, static_cast<size_t>(status.st_size)) > 0)
			;
		close(own);
		dl_iterate_phdr(
			[](dl_phdr_info *program, size_t, void *copy) {
				static_cast<MappedCopy *>(copy)->map(*program);
				return 1; // the first is this program
			},
			this);
		function_ = reinterpret_cast<uint64_t>(function) - program_ + begin();
	}
	MappedCopy(const MappedCopy &) = delete;
	MappedCopy &operator=(const MappedCopy &) = delete;
	~MappedCopy()
	{
		munmap(memory_, bytes_);
		close(fd_);
		unlink(path_);
	}
	uint64_t function() const { return function_; } // there
	void truncate() const { EXPECT_EQ(ftruncate(fd_, 4096), 0); }

private:
	uint64_t begin() const { return reinterpret_cast<uint64_t>(memory_); }
	void map(const dl_phdr_info &program)
	{
		const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
		program_ = program.dlpi_addr;
		const std::span segments(program.dlpi_phdr, program.dlpi_phnum);
		for (const auto &segment : segments)
			if (segment.p_type == PT_LOAD)
				bytes_ = std::max<size_t>(bytes_, segment.p_vaddr + segment.p_memsz);
		memory_ = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (const auto &segment : segments) {
			const uint64_t before = segment.p_vaddr % page;
			if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0) {
				EXPECT_NE(mmap(static_cast<char *>(memory_) + segment.p_vaddr - before, segment.p_filesz + before,
							   PROT_READ | (segment.p_flags & PF_X ? PROT_EXEC : 0), MAP_PRIVATE | MAP_FIXED, fd_,
							   static_cast<off_t>(segment.p_offset - before)),
						  MAP_FAILED);
			}
		}
	}

	char path_[32] = "/tmp/icepath-test-copy-XXXXXX";
	int fd_ = -1;
	uint64_t program_ = 0; // where this program is
	void *memory_ = nullptr;
	size_t bytes_ = 0;
	uint64_t function_ = 0;
};

// As at the first instruction of a function that this test called.
UserState at_begin_of(uint64_t function, std::vector<std::byte> &stack)
{
	constexpr size_t kInstruction = 16;
	const uint64_t caller = reinterpret_cast<uint64_t>(&with_inlined_of_this_test) + 1;
	stack.assign(kEnough, std::byte{});
	std::memcpy(stack.data(), &caller, sizeof(caller));
	UserState state;
	state.stack = stack;
	state.registers[UserState::kStackPointer] = 0x7f0000000000;
	state.registers[kInstruction] = function;
	return state;
}

// The process that unwinds mustn't depend on files of those that it looks at.
TEST(UserStacks, OutliveAFileThatIsTruncatedMeanwhile)
{
	const auto own = static_cast<uint32_t>(getpid());
	for (const bool is_open : {true, false}) {
		const MappedCopy copy(reinterpret_cast<const void *>(&by_libc_of_this_test));
		std::vector<std::byte> stack;
		const UserState state = at_begin_of(copy.function(), stack);
		UserStacks stacks;
		if (is_open) {
			EXPECT_GE(stacks.frames(own, state).addresses.size(), 2u) << "by the copy's table";
		}
		copy.truncate();
		EXPECT_GE(stacks.frames(own, state).addresses.size(), 1u);
		(void)stacks.inlined(own, copy.function());
		stacks.look_again();
		EXPECT_EQ(stacks.frames(own, state).addresses, std::vector{copy.function()});
		EXPECT_EQ(stacks.inlined(own, copy.function()), std::vector<std::string>());
	}
}

TEST(UserStacks, OfAProcessThatIsGoneAreEmpty)
{
	UserStacks stacks;
	const UserFrames frames = stacks.frames(INT32_MAX, UserState());
	EXPECT_TRUE(frames.addresses.empty());
	EXPECT_FALSE(frames.is_whole);
}

} // namespace
} // namespace icepath::symbols
#endif
