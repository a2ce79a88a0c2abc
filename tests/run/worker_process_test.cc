// SPDX-License-Identifier: Apache-2.0
// What became of a worker, in a sentence, whichever program it was.
#include "profiler/run/worker_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>

namespace icepath::run {
namespace {

std::string failure_of(Worker &process)
{
	try {
		std::vector<Fd> none;
		process.receive(none, 20'000);
		return "it answered";
	} catch (const WorkerFailed &failure) {
		return failure.what();
	}
}

TEST(WorkerProcess, ThatIsNoProgramCannotBeStarted)
{
	Worker process("/nowhere/icepath-worker", "worker of nothing");
	EXPECT_EQ(failure_of(process), "the worker of nothing can't be started");
}

TEST(WorkerProcess, ThatIsAnotherProgramTellsHowItEnded)
{
	Worker process("/bin/false", "worker that is none");
	EXPECT_EQ(failure_of(process), "the worker that is none exited with 1");
}

TEST(WorkerProcess, ThatIsKilledSaysSo)
{
	Worker process(worker_program(), "victim");
	kill(process.process().pid(), SIGKILL);
	EXPECT_EQ(failure_of(process), "the victim was killed by signal 9 (Killed)");
	try {
		process.send({}, {});
		ADD_FAILURE() << "it was sent to nobody";
	} catch (const WorkerFailed &failure) {
		EXPECT_STREQ(failure.what(), "the victim was killed by signal 9 (Killed)");
	}
}

TEST(WorkerProcess, LeavesNoProcess)
{
	{
		Worker running(worker_program(), "worker");
		Worker moved(std::move(running));
	}
	EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

// Whose threads are followed: they inherit that from the main one, which icepath follows before its first request.
TEST(WorkerProcess, OfSeveralSidesHasOneThreadUntilItIsAsked)
{
	const auto sides = Worker::start(HONEST_WORKER, "worker", {"near", "far"}, false, nullptr);
	const auto threads = [tasks = "/proc/" + std::to_string(sides[0]->process().pid()) + "/task"] {
		return std::distance(std::filesystem::directory_iterator(tasks), {});
	};
	usleep(200'000); // as busy as the machine may be, it has begun to wait by then, or the test tells nothing
	EXPECT_EQ(threads(), 1);
	sides[1]->send({}, {});
	for (int tries = 0; tries < 1000 && threads() < 2; tries++)
		usleep(10'000);
	EXPECT_EQ(threads(), 2);
}

} // namespace
} // namespace icepath::run
