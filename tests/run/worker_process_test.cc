// SPDX-License-Identifier: Apache-2.0
// Messages about a worker's end, for several programs.
#include "profiler/run/worker_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <iterator>

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

TEST(WorkerProcess, ThatIsStoppedSaysSoUntilItGoesOn)
{
	const Worker process(worker_program(), "sleeper");
	EXPECT_FALSE(process.process().stop());
	EXPECT_EQ(process.silence(), "the sleeper doesn't answer");
	kill(process.process().pid(), SIGSTOP);
	for (int i = 0; i < 500 && !process.process().stop(); i++)
		usleep(10'000);
	EXPECT_EQ(process.silence(), "the sleeper doesn't run: it is stopped (Stopped (signal))");
	EXPECT_FALSE(process.process().has_ended());
	kill(process.process().pid(), SIGCONT);
	for (int i = 0; i < 500 && process.process().stop(); i++)
		usleep(10'000);
	EXPECT_FALSE(process.process().stop());
}

ptrdiff_t threads_of(pid_t pid)
{
	const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(pid) + "/task");
	return std::distance(begin(tasks), end(tasks));
}

// Threads started before the process is followed wouldn't be followed.
TEST(WorkerProcess, OfSeveralSidesBeginsNoThreadBeforeItIsAsked)
{
	const auto sides = Worker::start(HONEST_WORKER, "worker", {"one side", "other side"}, false, nullptr);
	const pid_t pid = sides[0]->process().pid();
	usleep(200'000);
	EXPECT_EQ(threads_of(pid), 1);
	sides[1]->send({}, {});
	for (int tries = 0; tries < 1000 && threads_of(pid) == 1; tries++)
		usleep(10'000);
	EXPECT_EQ(threads_of(pid), 2);
}

TEST(WorkerProcess, LeavesNoProcess)
{
	{
		Worker running(worker_program(), "worker");
		Worker moved(std::move(running));
	}
	EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

} // namespace
} // namespace icepath::run
