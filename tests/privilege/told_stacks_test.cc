// SPDX-License-Identifier: Apache-2.0
// Of which tasks a loaded helper tells the stacks: a worker goes to sleep and is woken, by whom depends on the test.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <vector>

#include "ebpf/records.h"
#include "ebpf/user_stack.h"
#include "profiler/capture/named_stacks.h"
#include "tests/privilege/raw_helper.h"

namespace icepath::privilege {
namespace {

constexpr uint32_t kCpu = 0; // of all processes here

// A process that repeats a step until it is killed.
class Repeating {
public:
	explicit Repeating(const std::function<void()> &step, bool is_traceable = true)
	{
		int ready[2];
		EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
		pid_ = fork();
		if (pid_ == 0) {
			cpu_set_t only;
			CPU_ZERO(&only);
			CPU_SET(kCpu, &only);
			if (prctl(PR_SET_PDEATHSIG, SIGKILL) || sched_setaffinity(0, sizeof only, &only) ||
				prctl(PR_SET_DUMPABLE, is_traceable ? 1 : 0) || write(ready[1], "r", 1) != 1)
				_exit(1);
			for (;;)
				step();
		}
		close(ready[1]);
		char byte = 0;
		EXPECT_EQ(read(ready[0], &byte, 1), 1);
		close(ready[0]);
	}
	~Repeating()
	{
		kill(pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}
	Repeating(const Repeating &) = delete;
	Repeating &operator=(const Repeating &) = delete;

	pid_t pid() const { return pid_; }

private:
	pid_t pid_ = -1;
};

// How many stacks of a kind a block has, and of how many functions of the kernel, an interrupt, a process and a copy of
// its stack are told.
struct StackCounts {
	size_t stacks = 0, of_kernel = 0, of_interrupt = 0, of_process = 0, copies = 0;
	size_t of_first = 0; // of_process: of the first worker's
	size_t of_interrupt_elsewhere = 0; // of_interrupt: of one that interrupted another task than the first worker
};

class ToldStacks : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		ASSERT_EQ(pipe2(pipe_, O_CLOEXEC), 0);
	}
	void TearDown() override
	{
		close(pipe_[0]);
		close(pipe_[1]);
	}

	std::function<void()> reads() const
	{
		return [this] {
			char byte = 0;
			(void)!read(pipe_[0], &byte, 1);
		};
	}
	std::function<void()> writes() const
	{
		return [this] {
			(void)!write(pipe_[1], "", 1);
			usleep(200);
		};
	}

	// Asks the helper for a block of these workers, until one has stacks of the kind: the CPU may have other work.
	StackCounts told(const std::vector<pid_t> &workers, uint8_t type)
	{
		HelperRequest load = load_with_samples(kCpu);
		load.records_per_slot = 4096;
		const auto loaded = helper_.ask(load);
		if (!loaded || loaded->exit_code != 0 || helper_.received.size() != 4) {
			ADD_FAILURE() << (loaded ? sentence(*loaded) : "the helper doesn't answer");
			return {};
		}
		const Fd slots = std::move(helper_.received[0]), named = std::move(helper_.received[2]),
				 copied = std::move(helper_.received[3]);
		HelperRequest attach = request_of(HelperRequestKind::Attach), begin = request_of(HelperRequestKind::BeginBlock);
		for (const pid_t worker : workers) {
			const auto added = helper_.ask(request_of(HelperRequestKind::AddWorker), {pidfd_of(worker).get()});
			EXPECT_TRUE(added && added->exit_code == 0);
			begin.workers[begin.worker_count++] = added ? added->worker : 0;
		}
		attach.probes = loaded->available;
		EXPECT_TRUE(helper_.ask(attach));
		begin.sample_period_ns = 100'000'000; // hardly any samples
		const size_t named_bytes = capture::named_bytes(kFirst), copied_bytes = kFirst * sizeof(icepath_user_stack);
		void *slot = mmap(nullptr, loaded->slot_bytes, PROT_READ, MAP_SHARED, slots.get(), 0);
		void *names = mmap(nullptr, named_bytes, PROT_READ, MAP_SHARED, named.get(), 0);
		void *copies = mmap(nullptr, copied_bytes, PROT_READ, MAP_SHARED, copied.get(), 0);
		EXPECT_TRUE(slot != MAP_FAILED && names != MAP_FAILED && copies != MAP_FAILED);
		const auto *kernel =
			reinterpret_cast<const capture::NamedStack *>(static_cast<const capture::FunctionNames *>(names) + 1);
		StackCounts result;
		for (int tries = 0; tries < 100 && result.stacks == 0; ++tries) {
			EXPECT_TRUE(helper_.ask(begin));
			usleep(50'000);
			EXPECT_TRUE(helper_.ask(request_of(HelperRequestKind::EndBlock)));
			const auto *head = static_cast<const icepath_slot *>(slot);
			const auto *records = reinterpret_cast<const icepath_record *>(head + 1);
			for (size_t i = 0; i < std::min(head->position, head->capacity); ++i) {
				const size_t number = records[i].sample.stack;
				if (records[i].type != type || records[i].tid != static_cast<uint32_t>(workers[0]) || number == 0 ||
					number > kFirst)
					continue;
				result.stacks++;
				result.of_kernel += kernel[number - 1].depth > 0;
				result.of_interrupt += kernel[number - 1].of_interrupt;
				result.of_interrupt_elsewhere +=
					kernel[number - 1].of_interrupt && records[i].sample.tgid != static_cast<uint32_t>(workers[0]);
				result.of_process += records[i].sample.tgid != 0;
				result.of_first += records[i].sample.tgid == static_cast<uint32_t>(workers[0]);
				result.copies += static_cast<const icepath_user_stack *>(copies)[number - 1].bytes > 0;
			}
		}
		EXPECT_GT(result.stacks, 0u);
		munmap(copies, copied_bytes);
		munmap(names, named_bytes);
		munmap(slot, loaded->slot_bytes);
		return result;
	}

private:
	static constexpr size_t kFirst = 64; // stacks that are looked at

	RawHelper helper_;
	int pipe_[2] = {-1, -1};
};

TEST_F(ToldStacks, OfWorkersThatGoToSleep)
{
	const Repeating sleeper(reads()), waker(writes());
	const StackCounts all = told({sleeper.pid()}, ICEPATH_RECORD_SLEEP_STACK);
	EXPECT_EQ(all.of_kernel, all.stacks);
	EXPECT_EQ(all.of_interrupt, 0u);
	EXPECT_EQ(all.of_process, all.stacks);
	EXPECT_EQ(all.copies, all.stacks);
}

TEST_F(ToldStacks, OfWakersThatAreWorkers)
{
	const Repeating sleeper(reads()), waker(writes());
	const StackCounts all = told({sleeper.pid(), waker.pid()}, ICEPATH_RECORD_WAKER_STACK);
	EXPECT_EQ(all.of_kernel, all.stacks);
	EXPECT_EQ(all.of_process, all.stacks);
	EXPECT_EQ(all.copies, all.stacks);
}

TEST_F(ToldStacks, WithoutCopiesOfWhatMayNotBeTraced)
{
	const Repeating sleeper(reads()), waker(writes(), false);
	const StackCounts all = told({sleeper.pid(), waker.pid()}, ICEPATH_RECORD_WAKER_STACK);
	EXPECT_EQ(all.of_kernel, all.stacks);
	EXPECT_EQ(all.copies, 0u);
}

// Of the same user as the helper's, which is root.
TEST_F(ToldStacks, NotOfOtherWakers)
{
	const Repeating sleeper(reads()), waker(writes());
	const StackCounts all = told({sleeper.pid()}, ICEPATH_RECORD_WAKER_STACK);
	EXPECT_EQ(all.of_kernel, 0u);
	EXPECT_EQ(all.of_process, 0u);
	EXPECT_EQ(all.copies, 0u);
}

TEST_F(ToldStacks, OfATimersInterruptAloneIfItInterruptsAnotherTask)
{
	const bool wakes_in_thread = access("/sys/kernel/realtime", F_OK) == 0; // with PREEMPT_RT one of the kernel does
	const Repeating sleeper([] { usleep(200); }), other([] {});
	const StackCounts all = told({sleeper.pid()}, ICEPATH_RECORD_WAKER_STACK);
	EXPECT_EQ(all.of_kernel, all.stacks);
	// On a slow machine the timer may expire before the thread has left its CPU: then it interrupts that thread itself.
	EXPECT_EQ(all.of_interrupt_elsewhere, wakes_in_thread ? 0 : all.stacks - all.of_first);
	EXPECT_EQ(all.of_process, all.of_first);
	EXPECT_EQ(all.copies, all.of_first);
}

} // namespace
} // namespace icepath::privilege
