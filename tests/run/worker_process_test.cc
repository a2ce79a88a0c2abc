// SPDX-License-Identifier: Apache-2.0
// Messages about a worker's end, for several programs.
#include "profiler/run/worker_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
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

char state_of(pid_t pid)
{
	std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
	std::string number, name;
	char state = '?';
	stat >> number >> name >> state;
	return state;
}

TEST(WorkerProcess, ThatStandsStillIsNoneThatIsStopped)
{
	Worker worker(HONEST_WORKER, "sleeper");
	WorkerProcess &process = worker.process();
	EXPECT_FALSE(process.has_stopped());
	for (int i = 0; i < 3; i++) {
		process.stand_still();
		process.stand_still();
		EXPECT_TRUE(process.stands_still());
		for (int tries = 0; tries < 500 && !process.has_stopped(); tries++)
			usleep(10'000);
		EXPECT_EQ(state_of(process.pid()), 'T');
		EXPECT_EQ(worker.silence(), "the sleeper doesn't answer") << "icepath itself stopped it";
		process.go_on();
		EXPECT_FALSE(process.has_stopped());
		EXPECT_NE(state_of(process.pid()), 'T');
	}
	process.stand_still();
	kill(process.pid(), SIGKILL);
	for (int tries = 0; tries < 500 && !process.has_ended(); tries++)
		usleep(10'000);
	EXPECT_TRUE(process.has_stopped()) << "nobody waits for it";
	EXPECT_EQ(process.end().value_or("it lives"), "the sleeper was killed by signal 9 (Killed)");
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
