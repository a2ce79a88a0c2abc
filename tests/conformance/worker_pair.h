// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two real icepath-worker processes and the channel between them, driven as icepath drives them. Serves as
// documentation of profiler/worker/protocol.h.
#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/model/qos.h"
#include "profiler/run/middleware_space.h"
#include "profiler/worker/protocol.h"

namespace icepath::test {

// One worker. Killed and reaped by its destructor.
class WorkerUnderTest {
public:
	explicit WorkerUnderTest(const run::MiddlewareSpace *space = nullptr); // NULL: outside a space
	// Two sides that are threads of one process; the first one owns the process.
	static std::array<WorkerUnderTest, 2> threads_of_one(const run::MiddlewareSpace *space);
	~WorkerUnderTest();
	WorkerUnderTest(const WorkerUnderTest &) = delete;
	WorkerUnderTest &operator=(const WorkerUnderTest &) = delete;

	void send(const worker::Request &request, const std::vector<int> &fds = {});
	// A worker that doesn't answer in time fails the test: status Failed, message "(no reply)".
	worker::Reply receive(std::vector<Fd> &fds, int timeout_ms = 10'000);
	worker::Reply ask(const worker::Request &request, const std::vector<int> &fds, std::vector<Fd> &received);
	worker::Reply ask(const worker::Request &request);

	void kill(); // with SIGKILL, and reaps
	int wait_end(); // closes its socket; returns the wait status of the process of its first side
	pid_t pid() const { return pid_; }

private:
	WorkerUnderTest(Fd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}
	Fd socket_;
	pid_t pid_ = -1;
};

std::string plugin_path(const std::string &name); // "uds" -> ".../icepath-uds.so"
// The space for a plug-in's workers; its daemon runs until end_daemons().
const run::MiddlewareSpace *space_of(const std::string &plugin);
void end_daemons();
std::string channel_name(); // for this process's pairs

struct PairPlan {
	std::string plugin, target;
	icepath_wait wait = ICEPATH_WAIT_BLOCK;
	bool one_way = false;
	uint64_t payload_bytes = 64;
	uint32_t max_messages = 1000;
	uint32_t depth = 0;
	uint32_t responses = 1; // to each message, unless one_way
	icepath_qos qos{};
	int slots_fd = -1; // a map of the fill level of the capture's slots; stays the caller's
	bool threads = false; // both sides are in one process
	std::string name = channel_name();
};

class WorkerPair {
public:
	explicit WorkerPair(const PairPlan &plan);
	~WorkerPair();
	WorkerPair(const WorkerPair &) = delete;
	WorkerPair &operator=(const WorkerPair &) = delete;

	// Opens and connects both sides. Returns the first refusal's sentence, or nothing.
	std::string open();

	// Two sides that poll on one CPU need a scheduler's turn for each of 4 MiB's hundreds of parts; beside other
	// suites, many.
	static constexpr int kAmpleMs = 200'000;
	// Where a block is to be cancelled: how long after its deadline.
	static constexpr uint64_t kSoonNs = 50'000'000;
	// A block of `count` messages that must end within `deadline_ms`, and is cancelled a second later.
	worker::BlockRequest block(uint32_t count, int deadline_ms = kAmpleMs);
	void start(uint32_t side, const worker::BlockRequest &block);
	worker::Reply finish(uint32_t side, int timeout_ms = 30'000);
	std::array<worker::Reply, 2> run(const worker::BlockRequest &block);

	const model::SendStamp *sends(uint32_t side) const;
	const model::RecvStamp *recvs(uint32_t side) const;
	worker::CellMemory &memory() { return *memory_; }
	const icepath_qos &granted(uint32_t side) const { return granted_[side]; }
	uint32_t sockets(uint32_t side) const { return sockets_[side]; } // the number that the side reported
	WorkerUnderTest &side(uint32_t side) { return workers_[side]; }

private:
	WorkerPair(const PairPlan &plan, const run::MiddlewareSpace *space);
	std::string open_side(uint32_t side, worker::Reply &reply, std::vector<Fd> &received);
	PairPlan plan_;
	Fd memory_fd_;
	worker::CellMemory *memory_ = nullptr;
	std::array<WorkerUnderTest, 2> workers_;
	std::array<uint32_t, 2> sockets_{};
	std::array<icepath_qos, 2> granted_{};
	uint64_t blocks_ = 0;
};

} // namespace icepath::test
