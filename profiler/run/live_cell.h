// SPDX-License-Identifier: Apache-2.0
#pragma once
// One opened cell: its workers, the memory that they share with icepath, and its blocks. One thread.
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
#include "profiler/privilege/slots_view.h"
#include "profiler/run/budget.h"
#include "profiler/run/endpoints.h"
#include "profiler/run/middleware.h"
#include "profiler/run/shared_memory.h"
#include "profiler/run/worker_process.h"

namespace icepath::run {

struct BlockWish {
	uint64_t number = 0; // unique in the run
	uint32_t warm_up = kWarmUp, count = 0;
	uint32_t at_least = 0; // counted messages: see worker::BlockRequest
	uint64_t duration_ns = 0; // to the deadline, from begin()'s `now_ns` + first_after_ns
	uint64_t first_after_ns = 0; // at a rate: from begin()'s `now_ns` until message 0 is due; 0: once all are ready
	bool probed = false;
	std::optional<double> rate_hz; // max-rate: of this block alone
	bool confirms = false; // see model::Block
	bool count_hardware = false; // never with `probed`
	uint64_t sample_period_ns = 0; // only with `probed`; 0: the block isn't sampled
};

// Whether the threads that a library starts can have the CPU of their side.
bool may_pin_library_threads(const model::Cell &cell);

// What belongs to a cell, where arms are told apart: "nng/ipc of arm old".
inline std::string in_arm(const std::string &what, const model::Cell &cell)
{
	return cell.arm.empty() ? what : what + " of arm " + cell.arm;
}

// The destructor kills the workers; close() lets them leave in order.
class LiveCell {
public:
	// Starts the workers, opens and connects their endpoints, pins them, and marks them and their sockets for the
	// capture. Blocks have at most `max_messages` messages, and rundir::most_counted() of its flows. `number`: of the
	// opening, part of transports' names. `replaced`: families() of the previous opening. Throws WorkerFailed.
	LiveCell(const model::Cell &cell, const std::string &plugin, uint32_t number, uint32_t max_messages,
			 const privilege::SlotsView &slots, privilege::Helper &helper, const Surroundings &around = {},
			 const std::vector<uint32_t> &replaced = {});
	LiveCell(const LiveCell &) = delete;
	LiveCell &operator=(const LiveCell &) = delete;

	// For blocks that tell of sockets: to be called before begin(), with nothing of the cell running. end() looks
	// again. Both are outside of the capture and of what is measured.
	void look_at_sockets();

	// The steps of a block, for run_together(): begin(); look() until is_over(); end(). Several cells may run blocks at
	// once. If a worker failed, `end` is Failed, `failure` says why, and there are no stamps. The caller sets the
	// window.
	void begin(const BlockWish &wish, const privilege::SlotsView &slots, uint64_t now_ns);
	void stop(); // side 0's next message is the last
	bool is_over() const { return block_.over; }
	uint64_t gives_up_ns() const { return block_.give_up_ns; }
	// What to poll for, one item for each worker. look() takes them afterwards, also when nothing came.
	std::vector<pollfd> awaited() const;
	void look(const pollfd *answers);
	model::Block end();

	// Whether a failed block's cause may pass: a worker reported it, and all workers live.
	bool failure_may_pass() const;
	// "the sender of … was killed by signal 9", if a worker has ended by itself.
	std::optional<std::string> death() const;
	// Lets the workers leave in order, so that libraries can notify their peers, and waits for kLeaveNs at most. They
	// may stand still.
	void close();

	std::vector<WorkerProcess *> processes(); // each once
	const std::vector<uint32_t> &tids() const { return tids_; } // by side
	// By thread: numbers of privilege::Helper.
	const std::vector<uint32_t> &helper_numbers() const { return helper_numbers_; }
	// Families (privilege::Helper) of the processes whose threads messages may pass through.
	const std::vector<uint32_t> &families() const { return families_; }
	const model::Cell &cell() const { return cell_; }
	const model::Qos &granted() const { return granted_; } // by the library
	// Why the workers' memory isn't locked; empty: it is, or needn't be.
	const std::string &not_locked() const { return not_locked_; }
	// The same as a notice of the run: whether it matters, and what mends it. Middleware alone meets the limit where
	// root can't raise it, because CAP_IPC_LOCK doesn't count in a user namespace (cpuset/soft.cc).
	std::string not_locked_notice() const;
	std::string title() const { return model::title(cell_); }

private:
	using Replies = std::vector<std::optional<worker::Reply>>; // by side

	// Of all processes.
	struct SeenSockets {
		model::BlockSockets sockets;
		model::KernelCounts counts; // since the namespace began
	};

	// The block that runs, or the last one.
	struct Running {
		BlockWish wish;
		worker::BlockRequest request{};
		Replies replies;
		std::string failure; // of the first worker that knows the cause, if any does
		bool knows_why = false, may_pass = false;
		uint64_t give_up_ns = 0;
		std::optional<uint64_t> daemon_cpu_ns; // at the block's begin
		std::optional<SeenSockets> sockets; // before it
		bool over = true;
	};

	void start_workers(const Surroundings &around);
	void follow_threads(uint32_t daemon_family, const std::vector<uint32_t> &replaced, privilege::Helper &helper);
	void open(const std::string &plugin, const privilege::SlotsView &slots, privilege::Helper &helper);
	void take_places(privilege::Helper &helper); // each side's thread gets its CPU
	void lock_memory();
	// A pidfd of the side's thread, for the helper, which marks the thread.
	Fd pidfd_of(size_t side) const;
	void pin(size_t side, const Fd &task) const;
	void mark_sockets(const Endpoints &endpoints, privilege::Helper &helper);
	std::optional<uint64_t> daemon_cpu_ns() const;
	SeenSockets ask_for_sockets() const; // throws WorkerFailed
	void add_sockets(model::Block &block) const;
	void collect(model::Block &block, const Replies &replies) const;
	size_t last_awaited() const; // the last side that hasn't replied; sides.size() if all replied

	model::Cell cell_;
	uint32_t number_;
	std::optional<clockid_t> daemon_clock_;
	isolation::Keeper *const keeper_; // nullptr: there is no partition
	const bool pins_library_; // threads of the library have their side's CPU
	std::optional<StampMemory> memory_; // set by the constructor
	std::vector<std::unique_ptr<Worker>> workers_; // by side
	std::vector<uint32_t> tids_; // by side
	std::vector<uint32_t> helper_numbers_; // by thread
	std::vector<uint32_t> families_;
	model::Qos granted_;
	std::string not_locked_;
	std::vector<std::array<uint64_t, 2>> socket_keys_; // by channel and end
	Running block_;
	std::optional<SeenSockets> seen_sockets_; // by look_at_sockets(), until begin()
	std::string look_failed_; // likewise; empty: it didn't
};

} // namespace icepath::run
