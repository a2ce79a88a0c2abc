// SPDX-License-Identifier: Apache-2.0
#pragma once
// Serves icepath's requests, one at a time, for the worker's lifetime.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/worker/block_loop.h"
#include "profiler/worker/callback.h"
#include "profiler/worker/cell_memory.h"
#include "profiler/worker/protocol.h"
#include "profiler/worker/sockets_watch.h"
#include "profiler/worker/usage.h"
#include "profiler/worker/watchdog.h"

namespace icepath::worker {

// One side of a cell. All of it belongs to the measuring thread.
class Service {
public:
	// The caller keeps ownership of the control socket. `controls`: those of all sides of the process.
	explicit Service(int control, const std::vector<int> &controls = {}) : control_(control), sockets_(controls) {}

	// Returns when the socket closes or Close is requested. The calling thread is the measuring thread.
	void run();

	// The same for both sides of a cell, until either ends: this thread alone runs each block.
	static void run_in_one_thread(Service &near, Service &far);

private:
	// The next request; false: the socket is closed.
	bool receive(Request &request, std::vector<Fd> &received) const;
	bool answer(const Request &request, std::vector<Fd> &received);
	bool reply(const Reply &reply, const std::vector<int> &fds = {}) const;
	void run_block_alone(Service &far, const BlockRequest &block);
	Cell cell();
	void check(const BlockRequest &block) const;
	// Runs `loop` between the markers, with counters.
	template <class Loop> void measure(const BlockRequest &block, BlockReply &answer, Loop loop);
	void cancel();

	// Each fills `reply` and the `fds` that the caller sends with it. They throw Failure.
	void describe(const Request &request, Reply &reply);
	void open(const Request &request, std::vector<Fd> &received, Reply &reply, std::vector<int> &fds);
	void connect(const Request &request, std::vector<Fd> &received, Reply &reply, std::vector<int> &fds);
	void run_block(const BlockRequest &block, Reply &reply);
	void describe_daemon(const Request &request, Reply &reply);
	// Returns only if the plug-in has no daemon: false.
	bool become_daemon(const Request &request, const std::vector<Fd> &received);

	const Plugin &load(const Request &request);
	icepath_handler handler_for(const OpenRequest &wish, bool idle);
	void share_memory(const OpenRequest &wish, std::vector<Fd> &received);
	// Appends the endpoint's sockets that icepath doesn't have yet; returns how many.
	uint32_t append_new_sockets(const Endpoint &endpoint, std::vector<int> &fds);

	int control_;
	std::unique_ptr<Plugin> plugin_;
	// The destruction order matters: later members use earlier ones.
	std::unique_ptr<CellMap> memory_;
	std::unique_ptr<SlotsWatch> slots_;
	std::unique_ptr<Payloads> payloads_;
	std::unique_ptr<MessageBuffer> send_buffer_, receive_buffer_;
	std::unique_ptr<Callback> callback_; // nullptr: the side's own thread receives, or it doesn't receive
	// The endpoints of `ends_`, in a fan-in one for all; then the idle ones.
	std::vector<std::unique_ptr<Endpoint>> endpoints_;
	std::vector<ChannelEnd> ends_;
	std::unique_ptr<Watchdog> watchdog_;
	std::unique_ptr<BlockCounters> counters_;
	std::vector<int> sockets_told_;
	SocketsWatch sockets_;
	OpenRequest opened_{}; // the last request that opened a channel with messages
	uint32_t connected_ = 0; // number of connected endpoints, in the order of opening
	uint32_t peers_met_ = 0; // peers that the next endpoint has connected to
	bool lossy_ = false, lends_ = false;
};

} // namespace icepath::worker
