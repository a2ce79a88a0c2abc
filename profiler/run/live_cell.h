// SPDX-License-Identifier: Apache-2.0
#pragma once
// One cell while the run goes on: its workers, the memory that they share with icepath, and its blocks. One thread.
#include <poll.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "profiler/model/block.h"
#include "profiler/model/cell_title.h"
#include "profiler/model/graph.h"
#include "profiler/plan/plan.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/run/budget.h"
#include "profiler/run/endpoints.h"
#include "profiler/run/middleware.h"
#include "profiler/run/slots_view.h"
#include "profiler/run/stamp_memory.h"
#include "profiler/run/worker_process.h"

namespace icepath::run {

struct BlockWish {
	uint64_t number = 0; // unique in the run
	uint32_t warm_up = kWarmUp, count = 0;
	uint32_t at_least = 0; // counted messages: worker::BlockRequest
	uint64_t duration_ns = 0; // from when everything that must be done before the first message is done
	uint64_t first_after_ns =
		0; // so long after its begin message 0 is due, where the cell has a rate; 0: as soon as can be
	bool probed = false;
	std::optional<double> rate_hz; // of this block alone: max-rate
	bool confirms = false; // model::Block
	bool count_hardware = false; // never with `probed`
};

// Ends its workers at once when it goes.
class LiveCell {
public:
	// Starts the workers, opens and connects their endpoints, pins them, and marks them and their sockets for the capture.
	// Blocks have at most `max_messages` messages and rundir::most_counted() of its flows. Throws WorkerFailed.
	// `number` is the opening's own: names that a transport needs have it. `replaced`: families() of the cell's opening before.
	LiveCell(const model::Cell &cell, const std::string &plugin, uint32_t number, uint32_t max_messages,
			 const SlotsView &slots, privilege::Helper &helper, const Surroundings &around = {},
			 const std::vector<uint32_t> &replaced = {});
	LiveCell(const LiveCell &) = delete;
	LiveCell &operator=(const LiveCell &) = delete;

	// One block, in these steps (run_together() takes them): begin; look, until it is over; end. Those of several cells may go
	// on at once. Where a worker failed, `end` is Failed, the sentence is in `failure`, there are no stamps, and the cell is
	// over. The window is the caller's.
	void begin(const BlockWish &wish, const SlotsView &slots, uint64_t now_ns);
	void stop(); // side 0's next message is the last
	bool is_over() const { return block_.over; }
	uint64_t gives_up_ns() const { return block_.give_up_ns; }
	// What to poll for, one for each worker, and to look at afterwards, also when nothing came.
	std::vector<pollfd> awaited() const;
	void look(const pollfd *answers);
	model::Block end();

	// Whether a block that failed may have done so for a passing reason: a worker said why, and all of them live.
	bool failure_may_pass() const;
	// "the sender of … was killed by signal 9", of a worker that has ended by itself.
	std::optional<std::string> death() const;
	// Has the workers leave in order, which libraries may need to tell their peers. Those that don't in some time are ended.
	void close();

	const std::vector<uint32_t> &tids() const { return tids_; } // by side
	const std::vector<uint32_t> &helper_numbers() const { return helper_numbers_; } // by thread: privilege::Helper's
	// Of the processes whose threads messages may pass through: privilege::Helper's.
	const std::vector<uint32_t> &families() const { return families_; }
	const model::Cell &cell() const { return cell_; }
	const model::Qos &granted() const { return granted_; } // by the library
	const std::string &not_locked() const { return not_locked_; } // why the workers' memory isn't, where it should be
	std::string title() const { return model::title(cell_); }

private:
	using Replies = std::vector<std::optional<worker::Reply>>; // by side

	// A block that has begun.
	struct Running {
		BlockWish wish;
		worker::BlockRequest request{};
		Replies replies;
		std::string failure; // the first one's that knows why, if any does
		bool knows_why = false, may_pass = false;
		uint64_t give_up_ns = 0;
		std::optional<uint64_t> daemon_cpu_ns; // at its begin
		bool over = true;
	};

	void start_workers(const MiddlewareSpace *space);
	void follow_threads(uint32_t daemon_family, const std::vector<uint32_t> &replaced, privilege::Helper &helper);
	void open(const std::string &plugin, const SlotsView &slots, privilege::Helper &helper);
	void lock_memory();
	// Of the side's thread, for the helper: pinned and marked by it.
	Fd pidfd_of(size_t side) const;
	void pin(size_t side, const Fd &task) const;
	void mark_sockets(const Endpoints &endpoints, privilege::Helper &helper);
	std::optional<uint64_t> daemon_cpu_ns() const;
	void collect(model::Block &block, const Replies &replies) const;
	size_t last_awaited() const; // the last side that hasn't replied; sides_of() the cell: all have

	model::Cell cell_;
	uint32_t number_;
	std::optional<clockid_t> daemon_clock_;
	std::optional<StampMemory> memory_; // from the constructor on
	std::vector<std::unique_ptr<Worker>> workers_; // by side
	std::vector<uint32_t> tids_; // by side
	std::vector<uint32_t> helper_numbers_; // by thread
	std::vector<uint32_t> families_;
	model::Qos granted_;
	std::string not_locked_;
	std::vector<std::array<uint64_t, 2>> socket_keys_; // by channel and its end
	Running block_;
};

} // namespace icepath::run
