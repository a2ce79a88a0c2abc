// SPDX-License-Identifier: Apache-2.0
#pragma once
// The run directory's container, `capture.icp`: head, windows with their blocks, and tail in one append-only, self-describing file.
//
//   magic "ICEPATH\n", then chunks: { u32 kind, u32 flags, u64 stored_bytes, u64 plain_bytes, u32 crc32, u32 reserved }
//   + stored_bytes of payload (zstd where flags says so). Kinds, in this order: TYPES (json: byte order, sizes and fields of every
//   record and stamp type), HEAD (json); then for each window WINDOW (json) and the RECORDS (binary) of each of its slots, and for each
//   block that was measured in it, which may be none, MEASUREMENT (json) and its STAMPS (binary); then TAIL (json).
//
// It is written as `capture.icp.partial` and renamed when it is finished, so a run that died can be read and says so.
// Files belong to the process that writes them, which is never root under sudo. Every length read is checked against the
// file and against limits.h before anything is allocated; what a Writer writes is within them.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/model/run.h"

namespace icepath::rundir {

inline constexpr const char *kContainerName = "capture.icp";
inline constexpr const char *kPartialName = "capture.icp.partial";

// Throws Failure(Usage) where a Writer would, for what the head holds: worth asking before anything is measured.
void check_head(const model::Head &head);

struct WindowBlocks {
	std::shared_ptr<const model::Window> window;
	std::vector<model::Block> blocks; // whose window it is
};

// One thread. Throws Failure (Usage where the directory can't be made or the head is larger than limits.h allows, Internal
// where writing fails or a block is larger); then nothing is written of what was given.
class Writer {
public:
	// Makes `directory` (its parent must exist or be creatable) and writes magic, types and head.
	Writer(const std::string &directory, const model::Head &head);
	~Writer(); // leaves a partial container where finish() wasn't called
	Writer(const Writer &) = delete;
	Writer &operator=(const Writer &) = delete;

	// `blocks`: those that were measured in the window; their own `window` isn't looked at.
	void add(const model::Window &window, std::span<const model::Block> blocks);
	void add(const model::Block &block) { add(*block.window, {&block, 1}); } // that was measured alone
	void finish(const model::Tail &tail);
	// A window more may be more than a run can have: limits.h. Time to finish.
	bool is_full() const;

private:
	struct State;
	std::unique_ptr<State> state_;
};

// One thread. Throws Failure(Usage) with file, offset and reason for anything that isn't a whole, sane container.
class Reader {
public:
	explicit Reader(const std::string &directory); // also takes the container's own path
	~Reader();
	Reader(const Reader &) = delete;
	Reader &operator=(const Reader &) = delete;

	const model::Head &head() const;
	// After the last block: the tail, or nothing where the run is partial.
	const std::optional<model::Tail> &tail() const;
	// The next window with its blocks, in the order of writing; nothing after the last. One of a partial run that was cut ends the
	// sequence and is told in `truncated()`.
	std::optional<WindowBlocks> next();
	bool truncated() const;

private:
	struct State;
	std::unique_ptr<State> state_;
};

} // namespace icepath::rundir
