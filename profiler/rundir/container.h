// SPDX-License-Identifier: Apache-2.0
#pragma once
// The run directory's container, `capture.icp`: head, windows with their blocks, and tail in one append-only,
// self-describing file.
//
//   magic "ICEPATH\n", then chunks: { u32 kind, u32 flags, u64 stored_bytes, u64 plain_bytes, u32 crc32, u32 reserved }
//   + stored_bytes of payload (zstd where flags says so). Kinds, in this order: TYPES (json: byte order, sizes and
//   fields of
//   every record and stamp type), HEAD (json); then for each window WINDOW (json), the RECORDS (binary) of each slot,
//   and for
//   each block measured in it (possibly none) MEASUREMENT (json) and STAMPS (binary); then TAIL (json).
//
// It is written as `capture.icp.partial` and renamed when finished, so a run that died is readable and recognizable.
// Files belong to the writing process, which is never root under sudo. Each length read is compared with the file and
// with limits.h before anything is allocated; a Writer stays within them.
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

// Throws Failure(Usage) where a Writer would because of the head. To be called before anything is measured.
void check_head(const model::Head &head);

struct WindowBlocks {
	std::shared_ptr<const model::Window> window;
	std::vector<model::Block> blocks; // measured in the window
	std::vector<uint64_t> records{}; // how many each of its slots has; of a Reader
};

// What a Reader reads of windows and blocks. Records are most of a capture, and much of what a report says needs none
// of them; paths need nothing of what was measured without probes.
enum class Contents : uint8_t {
	All,
	WithoutRecords, // slots have none
	// A window without probes that stands alone has no records, and its blocks have nothing but their window.
	WithProbes,
};

// For use by one thread. Throws Failure: Usage if the directory can't be made or the head exceeds limits.h, Internal if
// writing fails or a block exceeds them. A call that throws writes nothing.
class Writer {
public:
	// Makes `directory` and missing parents, and writes magic, types and head.
	Writer(const std::string &directory, const model::Head &head);
	~Writer(); // leaves a partial container if finish() wasn't called
	Writer(const Writer &) = delete;
	Writer &operator=(const Writer &) = delete;

	// `blocks`: those measured in the window; their own `window` isn't used.
	void add(const model::Window &window, std::span<const model::Block> blocks);
	void add(const model::Block &block) { add(*block.window, {&block, 1}); } // a block alone in its window
	void finish(const model::Tail &tail);
	// Another window may exceed a run's limits (limits.h): finish now.
	bool is_full() const;

private:
	struct State;
	std::unique_ptr<State> state_;
};

// For use by one thread. Throws Failure(Usage) with file, offset and reason for anything but a whole, sane container.
class Reader {
public:
	// Also accepts the container's own path. Damage of what isn't read isn't noticed.
	explicit Reader(const std::string &directory, Contents contents = Contents::All);
	~Reader();
	Reader(const Reader &) = delete;
	Reader &operator=(const Reader &) = delete;

	const model::Head &head() const;
	// Valid after the last block. Nothing: the run is partial.
	const std::optional<model::Tail> &tail() const;
	// Returns the next window with its blocks, in the order of writing; nothing after the last. In a partial run, a
	// window that was cut off ends the sequence and sets `truncated()`.
	std::optional<WindowBlocks> next();
	bool truncated() const;

private:
	struct State;
	std::unique_ptr<State> state_;
};

} // namespace icepath::rundir
