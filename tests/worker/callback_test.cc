// SPDX-License-Identifier: Apache-2.0
// A library's thread goes through a side's steps, whenever it comes.
#include "profiler/worker/callback.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "profiler/worker/watchdog.h"

namespace icepath::worker {
namespace {

// Ends after `messages`.
class Counted : public Steps {
public:
	explicit Counted(uint32_t messages) : messages_(messages) {}
	bool begin() override
	{
		begun_by = gettid();
		if (while_beginning)
			while_beginning();
		has_begun = true;
		return true;
	}
	bool take(const Arrival &arrival) override
	{
		EXPECT_TRUE(has_begun);
		taken_by = gettid();
		told_by = arrival.thread;
		sizes += arrival.message.bytes;
		if (on_message)
			on_message();
		return ++outcome.recvs < messages_;
	}
	bool fail(int status) override
	{
		failed_by = status;
		outcome.status = ReplyStatus::Failed;
		return false;
	}

	std::function<void()> while_beginning, on_message;
	bool has_begun = false;
	pid_t begun_by = 0, taken_by = 0;
	uint32_t told_by = 0;
	uint64_t sizes = 0;
	int failed_by = ICEPATH_OK;

private:
	const uint32_t messages_;
};

class ByCallback : public testing::Test {
protected:
	void call(int status = ICEPATH_OK)
	{
		icepath_recv message{};
		message.size = sizeof(message);
		message.bytes = 64;
		const icepath_handler handler = callback_.handler();
		handler.handle(handler.side, status, &message);
	}

	Outcome run(Steps &steps)
	{
		return callback_.run(steps, [] { return ICEPATH_CANCELLED; });
	}

	Callback callback_;
};

TEST_F(ByCallback, TheLibrarysThreadTakesAndTheOwnOneSleeps)
{
	Counted steps(3);
	pid_t librarys = 0;
	std::thread library;
	steps.while_beginning = [&] {
		library = std::thread([&] {
			librarys = gettid();
			for (int i = 0; i < 5; i++) // two more than the block has
				call();
		});
		usleep(20'000); // it comes too soon, and waits
	};
	const Outcome outcome = run(steps);
	library.join();
	EXPECT_EQ(outcome.status, ReplyStatus::Done);
	EXPECT_EQ(outcome.recvs, 3u);
	EXPECT_EQ(steps.sizes, 3u * 64);
	EXPECT_EQ(steps.begun_by, gettid());
	EXPECT_EQ(steps.taken_by, librarys);
	EXPECT_EQ(steps.told_by, static_cast<uint32_t>(librarys));
	EXPECT_EQ(callback_.last_thread(), librarys);
}

TEST_F(ByCallback, BetweenBlocksMessagesAreDropped)
{
	call();
	Counted steps(1);
	std::thread library;
	steps.while_beginning = [&] { library = std::thread([&] { call(); }); };
	EXPECT_EQ(run(steps).recvs, 1u);
	library.join();
	call();
	EXPECT_EQ(steps.sizes, 64u);
}

TEST_F(ByCallback, AFailureOfTheLibraryEndsTheBlock)
{
	Counted steps(3);
	std::thread library;
	steps.while_beginning = [&] { library = std::thread([&] { call(ICEPATH_FAILED); }); };
	EXPECT_EQ(run(steps).status, ReplyStatus::Failed);
	library.join();
	EXPECT_EQ(steps.failed_by, ICEPATH_FAILED);
}

TEST_F(ByCallback, WhereNothingComesTheWatchdogEndsTheBlock)
{
	Counted steps(3);
	Watchdog watchdog;
	watchdog.arm(icepath_now_ns() + 20'000'000, [&] { callback_.cancel(); });
	run(steps);
	watchdog.disarm();
	EXPECT_EQ(steps.failed_by, ICEPATH_CANCELLED);
	EXPECT_EQ(steps.taken_by, 0);
}

// plugin.h: after cancel(), recv() tells why, and returns no message.
TEST_F(ByCallback, AMessageIsNoReason)
{
	Counted steps(3);
	callback_.cancel();
	EXPECT_EQ(callback_.run(steps, [] { return ICEPATH_OK; }).status, ReplyStatus::Failed);
	EXPECT_EQ(steps.failed_by, ICEPATH_CANCELLED);
}

// As a sending call in the handler may be.
TEST_F(ByCallback, AHandlerThatIsBlockedIsInterrupted)
{
	int never[2];
	ASSERT_EQ(pipe(never), 0);
	Counted steps(3);
	std::thread library;
	int error = 0;
	steps.while_beginning = [&] { library = std::thread([&] { call(); }); };
	steps.on_message = [&] {
		char byte = 0;
		error = read(never[0], &byte, 1) < 0 ? errno : 0;
	};
	Watchdog watchdog;
	watchdog.arm(icepath_now_ns() + 20'000'000, [&] { callback_.cancel(); });
	run(steps);
	watchdog.disarm();
	library.join();
	EXPECT_EQ(error, EINTR);
	EXPECT_EQ(steps.failed_by, ICEPATH_CANCELLED);
	close(never[0]);
	close(never[1]);
}

} // namespace
} // namespace icepath::worker
