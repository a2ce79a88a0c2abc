// SPDX-License-Identifier: Apache-2.0
// How blocks end after a failure, for every target and wait: the peer dies, or never sends, or never takes.
#include <gtest/gtest.h>
#include <mqueue.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include "profiler/model/block.h"
#include "tests/conformance/targets.h"
#include "tests/conformance/worker_pair.h"

namespace icepath::test {
namespace {

using worker::Reply;
using worker::ReplyStatus;

constexpr int kDeadlineMs = 300;
constexpr uint32_t kMany = 1000; // more than a block paced for `kPaced` takes until its deadline
constexpr int kPaced = 300;

std::set<std::string> names_in(const std::string &folder)
{
	std::set<std::string> names;
	std::error_code none; // the folder needn't exist
	for (const auto &entry : std::filesystem::directory_iterator(folder, none))
		names.insert(entry.path());
	return names;
}

std::set<std::string> names_that_outlive_processes()
{
	std::set<std::string> names = names_in("/dev/shm");
	names.merge(names_in("/dev/mqueue"));
	// Other tests run beside this one, among them the same suite for other plug-ins.
	std::erase_if(names, [](const std::string &name) {
		return name.find("/icepath-") != std::string::npos && name.find(channel_name()) == std::string::npos;
	});
	for (const std::string &name : names_in(std::filesystem::temp_directory_path()))
		if (name.find(channel_name()) != std::string::npos)
			names.insert(name);
	return names;
}

// Lines of /proc/sysvipc/msg: its head and the queues. A channel's queues show, so count after it is closed.
size_t sysv_queues()
{
	std::ifstream table("/proc/sysvipc/msg");
	return static_cast<size_t>(std::count(std::istreambuf_iterator<char>(table), {}, '\n'));
}

std::string children()
{
	std::ifstream list("/proc/thread-self/children");
	return {std::istreambuf_iterator<char>(list), {}};
}

bool queue_exists(const std::string &name)
{
	const mqd_t queue = mq_open(name.c_str(), O_RDONLY);
	if (queue >= 0)
		mq_close(queue);
	return queue >= 0;
}

// False: no message came within `limit_ms`. Ignores messages of an earlier block.
bool await_message(WorkerPair &pair, uint32_t side, uint32_t message, uint64_t since_ns, int limit_ms)
{
	const uint64_t end_ns = since_ns + limit_ms * 1'000'000ull;
	const auto *stamp = pair.recvs(side) + message;
	while (__atomic_load_n(&stamp->recv_ns, __ATOMIC_ACQUIRE) < since_ns) {
		if (icepath_now_ns() > end_ns)
			return false;
		std::this_thread::yield();
	}
	return true;
}

class Ends : public testing::TestWithParam<Case> {
protected:
	// A killed process may have held a lock for which the daemon then waits forever, as iceoryx's does.
	void TearDown() override { end_daemons(); }

	void expect_death_is_told(uint32_t killed)
	{
		PairPlan plan = GetParam().plan();
		plan.max_messages = kMany;
		// On a slow machine once more, with more time: by another pair, as a cancelled end is over.
		std::optional<WorkerPair> pair;
		for (int deadline_ms = kDeadlineMs;; deadline_ms *= 4) {
			ASSERT_EQ(pair.emplace(plan).open(), "");
			worker::BlockRequest block = pair->block(kMany, deadline_ms);
			block.cancel_ns = block.deadline_ns + deadline_ms * 1'000'000ull;
			const uint64_t pace_ns = deadline_ms * 1'000'000ull / kPaced;
			block.rate_hz = 1e9 / static_cast<double>(pace_ns);
			block.levels.receiver_busy_ns = GetParam().one_way ? 0 : pace_ns;
			const uint64_t since_ns = icepath_now_ns();
			pair->start(1, block);
			pair->start(0, block);
			// Well before the deadline: the death must end the block.
			if (await_message(*pair, 1, 5, since_ns, deadline_ms / 2))
				break;
			ASSERT_LT(deadline_ms, 20'000) << "no message came";
		}
		pair->side(killed).kill();
		const Reply reply = pair->finish(1 - killed);
		EXPECT_EQ(reply.status, ReplyStatus::PeerDied) << reply.message;
		EXPECT_NE(std::string(reply.message), "");
		EXPECT_EQ(reply.block.end, static_cast<uint32_t>(model::BlockEnd::Failed));
	}
};

TEST_P(Ends, WhenTheReceiverDiesTheSenderTells) { expect_death_is_told(1); }

TEST_P(Ends, WhenTheSenderDiesTheReceiverTells) { expect_death_is_told(0); }

// The pattern doesn't matter for a wait for the first message.
class EmptyChannel : public Ends {};

TEST_P(EmptyChannel, AReceiverThatNobodySendsToIsCancelled)
{
	WorkerPair pair(GetParam().plan());
	ASSERT_EQ(pair.open(), "");
	worker::BlockRequest block = pair.block(10, 0);
	block.cancel_ns = block.deadline_ns + WorkerPair::kSoonNs;
	pair.start(1, block);
	const Reply reply = pair.finish(1);
	EXPECT_EQ(reply.status, ReplyStatus::Cancelled) << reply.message;
	EXPECT_EQ(reply.block.recvs, 0u);
}

// Only a one-way sender over a lossless target can wait for room.
class FullChannel : public Ends {};

TEST_P(FullChannel, ASenderThatNobodyReceivesFromIsCancelled)
{
	PairPlan plan = GetParam().plan();
	plan.payload_bytes = std::min<uint64_t>(65536, GetParam().told.max_payload_bytes);
	WorkerPair pair(plan);
	ASSERT_EQ(pair.open(), "");
	worker::BlockRequest block = pair.block(1000, kDeadlineMs);
	block.cancel_ns = block.deadline_ns + WorkerPair::kSoonNs;
	pair.memory().receivers[0].ready = block.block + 1; // as if side 1 asked
	pair.start(0, block);
	const Reply reply = pair.finish(0);
	EXPECT_EQ(reply.status, ReplyStatus::Cancelled) << reply.message;
}

TEST_P(Ends, NothingIsLeftBehind)
{
	space_of(GetParam().plugin); // its daemon keeps running
	const std::string children_before = children();
	const std::set<std::string> before = names_that_outlive_processes();
	const size_t queues_before = sysv_queues();
	{
		WorkerPair pair(GetParam().plan());
		ASSERT_EQ(pair.open(), "");
		EXPECT_EQ(names_that_outlive_processes(), before);
		for (const char *direction : {"0", "1"})
			EXPECT_FALSE(queue_exists("/" + channel_name() + "-" + direction));
		// One is killed, the other ends by itself when its socket closes.
		pair.side(0).kill();
		const int status = pair.side(1).wait_end();
		EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
	}
	EXPECT_EQ(names_that_outlive_processes(), before);
	EXPECT_EQ(sysv_queues(), queues_before);
	EXPECT_EQ(children(), children_before) << "a process was left";
}

// Pairs whose ends can die separately.
std::vector<Case> cases_between_processes()
{
	std::vector<Case> cases = cases_of_size(64);
	std::erase_if(cases, [](const Case &each) { return each.is_within_process(); });
	return cases;
}

std::vector<Case> one_way_cases()
{
	std::vector<Case> cases = cases_of_size(64);
	std::erase_if(cases, [](const Case &each) { return !each.one_way; });
	return cases;
}

// A handler takes whatever comes, also between blocks.
std::vector<Case> cases_that_wait_for_room()
{
	std::vector<Case> cases = one_way_cases();
	std::erase_if(cases, [](const Case &each) { return each.is_lossy() || each.is_by_callback(); });
	return cases;
}

INSTANTIATE_TEST_SUITE_P(Every, EmptyChannel, testing::ValuesIn(one_way_cases()),
						 [](const auto &each) { return each.param.test_name(); });

INSTANTIATE_TEST_SUITE_P(Every, FullChannel, testing::ValuesIn(cases_that_wait_for_room()),
						 [](const auto &each) { return each.param.test_name(); });

INSTANTIATE_TEST_SUITE_P(Every, Ends, testing::ValuesIn(cases_between_processes()),
						 [](const auto &each) { return each.param.test_name(); });

TEST(Worker, EndsWithItsParentEvenInTheMiddleOfABlock)
{
	int told[2];
	ASSERT_EQ(pipe(told), 0);
	const pid_t parent = fork();
	if (parent == 0) {
		PairPlan plan;
		plan.plugin = "uds";
		plan.target = "uds-dgram"; // doesn't report its peer's death
		WorkerPair pair(plan);
		const bool opened = pair.open().empty();
		pair.start(1, pair.block(10, 60'000));
		while (pair.memory().receivers[0].ready == 0)
			std::this_thread::yield();
		const pid_t workers[2] = {pair.side(0).pid(), pair.side(1).pid()};
		if (opened && write(told[1], workers, sizeof(workers)) == sizeof(workers))
			pause();
		_exit(1);
	}
	pid_t workers[2] = {};
	ASSERT_EQ(read(told[0], workers, sizeof(workers)), static_cast<ssize_t>(sizeof(workers)));
	int pidfds[2];
	for (int i = 0; i < 2; i++)
		pidfds[i] = static_cast<int>(syscall(SYS_pidfd_open, workers[i], 0));
	kill(parent, SIGKILL);
	waitpid(parent, nullptr, 0);
	for (const int pidfd : pidfds) {
		pollfd ended{pidfd, POLLIN, 0};
		EXPECT_EQ(poll(&ended, 1, 10'000), 1) << "a worker outlived the process that started it";
		close(pidfd);
	}
	close(told[0]);
	close(told[1]);
}

TEST(Worker, ASenderWhosePeerIsNotReadySaysSo)
{
	PairPlan plan;
	plan.plugin = "uds";
	plan.target = "uds-stream";
	WorkerPair pair(plan);
	ASSERT_EQ(pair.open(), "");
	pair.start(0, pair.block(10, 0));
	const Reply reply = pair.finish(0);
	EXPECT_EQ(reply.status, ReplyStatus::Cancelled) << "its peer knows why";
	EXPECT_NE(std::string(reply.message).find("ready"), std::string::npos) << reply.message;
}

} // namespace
} // namespace icepath::test
