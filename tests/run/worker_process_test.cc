// SPDX-License-Identifier: Apache-2.0
// What became of a worker, in a sentence, whichever program it was.
#include "profiler/run/worker_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

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

} // namespace
} // namespace icepath::run
