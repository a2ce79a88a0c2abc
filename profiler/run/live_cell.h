// SPDX-License-Identifier: Apache-2.0
#pragma once
// One cell while the run goes on: its two workers, the memory that they share with icepath, and its blocks. One thread.
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "profiler/plan/plan.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/run/budget.h"
#include "profiler/run/worker_process.h"
#include "profiler/rundir/block.h"
#include "profiler/rundir/cell_title.h"
#include "profiler/rundir/run.h"

namespace icepath::run {

// The slots of the capture, as icepath maps them: read only, and nothing in them is believed.
class SlotsView {
public:
	SlotsView() = default;
	SlotsView(Fd map, uint32_t slot_bytes, uint32_t slot_count, const std::vector<uint32_t> &cpus);
	~SlotsView();
	SlotsView(SlotsView &&other) noexcept;
	SlotsView &operator=(SlotsView &&other) noexcept;
	std::vector<rundir::SlotCapture> copy() const;
	bool mapped() const { return memory_ != nullptr; }
	int fd() const { return map_.get(); }
	uint32_t slot_bytes() const { return slot_bytes_; }
	uint32_t slot_count() const { return slot_count_; }

private:
	Fd map_;
	const uint8_t *memory_ = nullptr;
	uint32_t slot_bytes_ = 0, slot_count_ = 0;
	std::vector<int32_t> cpus_;
};

struct BlockWish {
	uint64_t number = 0; // unique in the run
	uint32_t lead_in = kLeadIn, count = 0;
	uint32_t at_least = 0; // counted messages: worker::BlockRequest
	uint64_t duration_ns = 0; // from when everything that must be done before the first message is done
	bool probed = false;
	bool count_hardware = false; // never with `probed`
	// Where given: ends the block before its time, once it is set, which a signal's handler may do.
	const std::atomic<bool> *stop = nullptr;
};

class LiveCell {
public:
	// Starts both workers, opens and connects their endpoints, pins them, and marks them and their sockets for the capture.
	// Throws WorkerFailed.
	LiveCell(const rundir::Cell &cell, const std::string &plugin, uint32_t number, uint32_t max_messages,
			 const SlotsView &slots, privilege::Helper &helper);
	~LiveCell();
	LiveCell(const LiveCell &) = delete;
	LiveCell &operator=(const LiveCell &) = delete;

	// Runs one block. Where a worker failed, `end` is Failed, the sentence is in `failure`, there are no stamps, and the cell
	// is over.
	rundir::Block run(const BlockWish &wish, const SlotsView &slots, privilege::Helper *helper);

	const std::array<uint32_t, 2> &tids() const { return tids_; }
	const rundir::Cell &cell() const { return cell_; }
	std::string title() const { return rundir::title(cell_); }

private:
	void open(const std::string &plugin, uint32_t max_messages, const SlotsView &slots, privilege::Helper &helper);
	void collect(rundir::Block &block, const std::array<std::optional<worker::Reply>, 2> &replies) const;
	std::array<std::optional<worker::Reply>, 2> await_replies(const worker::BlockRequest &block,
															  const std::atomic<bool> *stop, std::string &failure);

	rundir::Cell cell_;
	uint32_t number_;
	Fd memory_fd_;
	worker::CellMemory *memory_ = nullptr;
	uint32_t capacity_ = 0;
	std::array<std::unique_ptr<WorkerProcess>, 2> workers_;
	std::array<uint32_t, 2> tids_{}, helper_numbers_{};
	std::array<uint64_t, 2> socket_keys_{};
};

} // namespace icepath::run
