// SPDX-License-Identifier: Apache-2.0
#pragma once
// What becomes of a run's blocks: what is stored, and what the user must know.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/model/run.h"
#include "profiler/rundir/container.h"

namespace icepath::run {

// The run's directory, from the first block on, and how many messages each cell has in it.
class RunRecord {
public:
	// `head` must outlive this. It is written before the first block and must not change afterwards.
	RunRecord(std::string directory, const model::Head &head)
		: directory_(std::move(directory)), head_(head), counted_(head.cells.size())
	{}
	// Stores the blocks of one window. Throws Failure as rundir::Writer does.
	void add(const model::Window &window, std::span<const model::Block> blocks);
	void finish(model::Tail tail); // not if is_empty()
	bool is_full() const { return writer_ && writer_->is_full(); } // then the run ends: rundir/limits.h

	bool is_empty() const { return !writer_; }
	bool has_messages() const;
	// Messages in the cell's blocks with or without probes, by counted_in().
	uint64_t counted(size_t cell, bool probed) const { return counted_[cell][probed]; }

private:
	const std::string directory_;
	const model::Head &head_;
	std::unique_ptr<rundir::Writer> writer_;
	std::vector<std::array<uint64_t, 2>> counted_; // by cell: in unprobed and in probed blocks
};

// What the session itself reads from a block, for its progress line and its pace. The report computes results.
//
// Median latency of flow 0, warm-up included; 0: no message arrived.
double block_p50_us(const model::Block &block);

// Messages received on flow 0, without the warm-up.
uint64_t counted_in(const model::Block &block);

// What the user must know about a run, each sentence once. As many as a run directory takes: a long run may have any
// number of failed blocks.
class Notices {
public:
	explicit Notices(std::vector<std::string> first) : all_(std::move(first)) {}
	void add(const std::string &notice);
	const std::vector<std::string> &all() const { return all_; }

private:
	std::vector<std::string> all_;
	uint64_t more_ = 0; // the last sentence says how many
};

} // namespace icepath::run
