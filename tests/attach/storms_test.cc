// SPDX-License-Identifier: Apache-2.0
// Programs with many threads, processes and connections.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <pthread.h>
#include <set>
#include <vector>

#include "tests/attach/program.h"

namespace icepath::attach {
namespace {

class Storms : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

struct Crowd {
	int gate, fd; // to read from first, and to write to
};

void *write_once(void *argument)
{
	const auto &crowd = *static_cast<Crowd *>(argument);
	char byte = 0;
	return read(crowd.gate, &byte, 1) == 1 && write(crowd.fd, &byte, 1) == 1 ? nullptr : argument;
}

TEST_F(Storms, EachOfManyThreadsIsSeen)
{
	constexpr int kThreads = 2000;
	Program program([](Shared &shared) {
		int gate[2], ends[2];
		if (pipe(gate) || pipe(ends))
			_exit(1);
		Crowd crowd{gate[0], ends[1]};
		pthread_attr_t small;
		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 65536);
		std::vector<pthread_t> threads(kThreads);
		for (pthread_t &thread : threads)
			if (pthread_create(&thread, &small, write_once, &crowd))
				_exit(1);
		shared.is_ready = 1;
		await(shared.goes);
		const std::vector<char> bytes(kThreads);
		if (write(gate[1], bytes.data(), bytes.size()) != kThreads)
			_exit(1);
		for (const pthread_t thread : threads)
			pthread_join(thread, nullptr);
	});
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 60, [&] { program.shared().goes = 1; });
	std::set<uint32_t> writers;
	for (const icepath_record &record : watched.calls)
		if (record.call.kind == ICEPATH_CALL_GIVE && record.call.object_kind == ICEPATH_OBJECT_PIPE &&
			record.tid != static_cast<uint32_t>(program.pid()))
			writers.insert(record.tid);
	EXPECT_EQ(watched.outcome.lost, 0u);
	EXPECT_EQ(writers.size(), static_cast<size_t>(kThreads));
}

// Processes come and go while it is marked. From `goes` on each one writes.
TEST_F(Storms, EachOfManyProcessesIsSeen)
{
	constexpr int kProcesses = 500;
	Program program([](Shared &shared) {
		int ends[2];
		if (pipe(ends))
			_exit(1);
		shared.is_ready = 1;
		for (int written = 0; written < kProcesses;) {
			const bool writes = shared.goes != 0;
			const pid_t child = fork();
			if (child == 0) {
				const char byte = 0;
				_exit(writes && write(ends[1], &byte, 1) != 1 ? 1 : 0);
			}
			waitpid(child, nullptr, 0);
			written += writes ? 1 : 0;
		}
	});
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 60, [&] { program.shared().goes = 1; });
	const auto written = std::ranges::count_if(watched.calls, [](const icepath_record &record) {
		return record.call.kind == ICEPATH_CALL_GIVE && record.call.object_kind == ICEPATH_OBJECT_PIPE;
	});
	EXPECT_EQ(watched.outcome.lost, 0u);
	EXPECT_EQ(written, kProcesses);
}

TEST_F(Storms, EachOfManyConnectionsIsListed)
{
	constexpr size_t kProcesses = 20, kConnections = 500; // each within the usual limit of 1024 open files
	Program program([](Shared &shared) {
		std::atomic<uint64_t> &ready = shared.counts[0];
		for (size_t i = 0; i < kProcesses; i++)
			if (fork() == 0) {
				for (size_t k = 0; k < kConnections; k++) {
					int ends[2];
					if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
						_exit(1);
				}
				ready++;
				pause();
			}
		while (ready < kProcesses)
			usleep(1000);
		shared.is_ready = 1;
		pause();
	});
	program.await_ready();
	const Watched watched = watch_programs({program.pid()}, 1, [] {});
	EXPECT_EQ(std::ranges::count_if(watched.detached.connections,
									[](const model::Connection &connection) {
										return connection.kind == model::StreamKind::UnixStream &&
											   connection.ends[1].object != 0;
									}),
			  static_cast<ptrdiff_t>(kProcesses * kConnections));
}

} // namespace
} // namespace icepath::attach
