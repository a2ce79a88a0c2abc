// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a container may hold. The Reader refuses more before it allocates, the Writer refuses to write it, and plans ask
// for no more, so icepath can read whatever it wrote.
#include <cstddef>
#include <cstdint>

#include "ebpf/records.h"
#include "profiler/model/stamps.h"

namespace icepath::rundir {

inline constexpr uint64_t kMaxChunkBytes = 256u << 20; // plain bytes of one chunk

// Largest ratio of a chunk's plain size to its stored size. It bounds a reader's memory and time by the file's size: a
// small file can't claim to be large. Captures of real machines reach 17.
inline constexpr uint64_t kMaxExpansion = 64;

// Records and stamps together. A reader holds three windows that continue each other and, of the run, eight bytes for
// each of some latencies.
inline constexpr uint64_t kMaxWindowBytes = 2 * kMaxChunkBytes;
inline constexpr uint64_t kMaxRunBytes = uint64_t{64} << 30;

// Parsed JSON takes about twenty times its text. Copying and printing recurse once per level, and each new key is
// compared with its object's earlier keys.
inline constexpr uint64_t kMaxJsonBytes = 8u << 20;
inline constexpr size_t kMaxJsonDepth = 32;
inline constexpr size_t kMaxJsonKeys = 1024; // of one object

inline constexpr size_t kMaxCells = 8192;
inline constexpr size_t kMaxArms = 64;
inline constexpr size_t kMaxArmVariables = 256; // of the environment of an arm
inline constexpr size_t kMaxLoadedFiles = 4096; // of an arm
inline constexpr size_t kMaxProbes = 4096;
inline constexpr size_t kMaxInterruptRows = 4096; // of /proc/interrupts
inline constexpr size_t kMaxNoiseSources = 4096; // of a CPU
inline constexpr size_t kMaxNotices = 4096;
inline constexpr size_t kMaxTargets = 4096; // of an attached run
inline constexpr size_t kMaxConnections = 16384; // their JSON stays below kMaxJsonBytes
inline constexpr size_t kMaxUnfollowed = 4096;
inline constexpr size_t kMaxConditions = 1024; // steps of isolation, and what may disturb in spite of it
inline constexpr size_t kMaxLineTimes = 8192; // of one pair of CPUs
inline constexpr size_t kMaxSlots = 65537; // one for each CPU that 16 bits can name, and one for the others

// Per block and per window: a block's stamps are one chunk, each slot's records another.
inline constexpr uint64_t kMaxStamps = kMaxChunkBytes / sizeof(model::SendStamp);
inline constexpr uint64_t kMaxRecords = kMaxChunkBytes / sizeof(icepath_record); // in all slots together

// A window's records times its blocks: each of these is resolved with what all of the records show.
inline constexpr uint64_t kMaxResolvedRecords = 16 * kMaxRecords;

// Records that name threads, kept from earlier windows of the same capture.
inline constexpr size_t kMaxKeptThreads = 65536;

inline constexpr size_t kMaxSides = 65; // of one cell: a sender with 64 receivers, or a receiver with 64 senders
inline constexpr size_t kMaxChannels = 64; // of one cell
inline constexpr size_t kMaxBlocks = 64; // of one window
inline constexpr size_t kMaxWindowThreads = 128; // known from the window's start
inline constexpr size_t kMaxOthers = 1024; // tasks of other cells in a window
inline constexpr size_t kMaxSkipped = 16; // of one window: spans in which programs were skipped
inline constexpr size_t kMaxFunctions = 65536; // of one window's stacks
inline constexpr size_t kMaxStacks = 65536;
inline constexpr size_t kMaxStackDepth = 128;
inline constexpr uint64_t kMaxSamplePeriodNs = 1'000'000'000;

// Messages of one block and flow. Each leaves a stamp at its sender and one at its receiver.
inline constexpr uint32_t kMaxMessages = 1'000'000; // counted ones
inline constexpr uint32_t kMaxWarmUp = 1024;
static_assert(4ull * (kMaxMessages + kMaxWarmUp) <= kMaxStamps, "a ping-pong block has room for all its stamps");

// Most counted messages of a block, for a cell with so many flows.
constexpr uint32_t most_counted(size_t flows)
{
	const uint64_t fit = kMaxStamps / (2 * flows) - kMaxWarmUp;
	return fit < kMaxMessages ? static_cast<uint32_t>(fit) : kMaxMessages;
}
static_assert(most_counted(2) == kMaxMessages && most_counted(kMaxSides - 1) > 10'000);

} // namespace icepath::rundir
