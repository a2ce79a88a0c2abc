// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a container may hold: the one definition. The Reader refuses more before it takes memory for it, the Writer refuses
// to write it, and who plans a run asks for no more; so whatever icepath wrote, it can read.
#include <cstddef>
#include <cstdint>

#include "ebpf/records.h"
#include "profiler/model/stamps.h"

namespace icepath::rundir {

inline constexpr uint64_t kMaxChunkBytes = 256u << 20; // plain bytes of one chunk

// What a chunk holds is at most so many times what it takes in the file, so a reader's memory and time are bounded by the size of the file:
// a small one can't claim to be large. Captures of real machines come to 17.
inline constexpr uint64_t kMaxExpansion = 64;

// In sum, records and stamps: a reader holds three windows that go on from each other, and of a run eight bytes for each of some latencies.
inline constexpr uint64_t kMaxWindowBytes = 2 * kMaxChunkBytes;
inline constexpr uint64_t kMaxRunBytes = uint64_t{64} << 30;

// Parsed JSON takes some twenty times its text. Copying and printing it recurses once a level, and every new key is
// compared with those of its object before it.
inline constexpr uint64_t kMaxJsonBytes = 8u << 20;
inline constexpr size_t kMaxJsonDepth = 32;
inline constexpr size_t kMaxJsonKeys = 1024; // of one object

inline constexpr size_t kMaxCells = 8192;
inline constexpr size_t kMaxProbes = 4096;
inline constexpr size_t kMaxInterruptRows = 4096; // of /proc/interrupts
inline constexpr size_t kMaxNotices = 4096;
inline constexpr size_t kMaxLineTimes = 8192; // of one pair of CPUs
inline constexpr size_t kMaxSlots = 65537; // one for each CPU that 16 bits can name, one for the others

// Of one block and of one window: a block's stamps are one chunk, the records of each slot another.
inline constexpr uint64_t kMaxStamps = kMaxChunkBytes / sizeof(model::SendStamp);
inline constexpr uint64_t kMaxRecords = kMaxChunkBytes / sizeof(icepath_record); // in all slots together

// A window's records are resolved once for each of its blocks.
inline constexpr uint64_t kMaxResolvedRecords = 16 * kMaxRecords;

// Of windows that go on from each other: records that name threads, which are kept from all that came before.
inline constexpr size_t kMaxKeptThreads = 65536;

inline constexpr size_t kMaxSides = 65; // of one cell: a sender and 64 receivers, or the other way round
inline constexpr size_t kMaxChannels = 64; // of one cell
inline constexpr size_t kMaxBlocks = 64; // of one window
inline constexpr size_t kMaxWindowThreads = 128; // known from its start
inline constexpr size_t kMaxSkipped = 16; // times within which programs were skipped, of one window

// Messages of one block and flow. Each leaves a stamp where it was sent and one where it came in.
inline constexpr uint32_t kMaxMessages = 1'000'000; // counted ones
inline constexpr uint32_t kMaxWarmUp = 1024;
static_assert(4ull * (kMaxMessages + kMaxWarmUp) <= kMaxStamps, "a ping-pong block has room for all its stamps");

// Counted messages of a block of a cell with so many flows.
constexpr uint32_t most_counted(size_t flows)
{
	const uint64_t fit = kMaxStamps / (2 * flows) - kMaxWarmUp;
	return fit < kMaxMessages ? static_cast<uint32_t>(fit) : kMaxMessages;
}
static_assert(most_counted(2) == kMaxMessages && most_counted(kMaxSides - 1) > 10'000);

} // namespace icepath::rundir
