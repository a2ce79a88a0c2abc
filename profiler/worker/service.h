// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers icepath's requests, one at a time: the worker's whole life.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/worker/block_loop.h"
#include "profiler/worker/counters.h"
#include "profiler/worker/message_buffer.h"
#include "profiler/worker/protocol.h"
#include "profiler/worker/watchdog.h"

namespace icepath::worker {

// One side of a cell. All of it belongs to the thread that measures.
class Service {
public:
	// The control socket stays the caller's.
	explicit Service(int control) : control_(control) {}

	// Until the socket closes or Close is asked. Its thread becomes the measuring thread.
	void run();

	// The same of both sides of a cell, until either is over: each block is run by this thread alone.
	static void run_in_one_thread(Service &near, Service &far);

private:
	// The next request; false where there is none any more.
	bool receive(Request &request, std::vector<Fd> &received) const;
	bool answer(const Request &request, std::vector<Fd> &received);
	bool reply(const Reply &reply, const std::vector<int> &fds = {}) const;
	void run_block_alone(Service &far, const BlockRequest &block);
	Cell cell();
	void check(const BlockRequest &block) const;
	// Between the markers, counted.
	template <class Loop> void measure(const BlockRequest &block, BlockReply &answer, Loop loop);
	void cancel();

	// Each fills `reply` and, for the caller to send, `fds`. They throw Failure.
	void describe(const Request &request, Reply &reply);
	void open(const Request &request, std::vector<Fd> &received, Reply &reply, std::vector<int> &fds);
	void connect(const Request &request, std::vector<Fd> &received, Reply &reply, std::vector<int> &fds);
	void run_block(const BlockRequest &block, Reply &reply);
	void describe_daemon(const Request &request, Reply &reply);
	// Comes back, with false, only where there is none to become.
	bool become_daemon(const Request &request, const std::vector<Fd> &received);

	const Plugin &load(const Request &request);
	void share_memory(const OpenRequest &wish, std::vector<Fd> &received);
	// Appends the endpoint's sockets that icepath wasn't told of yet; returns how many.
	uint32_t append_new_sockets(const Endpoint &endpoint, std::vector<int> &fds);

	int control_;
	std::unique_ptr<Plugin> plugin_;
	// In the order in which they depend on each other.
	std::unique_ptr<CellMap> memory_;
	std::unique_ptr<SlotsWatch> slots_;
	std::unique_ptr<Payloads> payloads_;
	std::unique_ptr<MessageBuffer> send_buffer_, receive_buffer_;
	std::vector<std::unique_ptr<Endpoint>>
		endpoints_; // those of `ends_`, in a fan-in one for all; then those that stay idle
	std::vector<ChannelEnd> ends_;
	std::unique_ptr<Watchdog> watchdog_;
	std::unique_ptr<BlockCounters> counters_;
	std::vector<int> sockets_told_;
	OpenRequest opened_{}; // the last one
	uint32_t connected_ = 0; // how many, in the order of opening
	uint32_t peers_met_ = 0; // by the next of them
	bool lossy_ = false, lends_ = false;
};

} // namespace icepath::worker
