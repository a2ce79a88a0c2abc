// SPDX-License-Identifier: Apache-2.0
#pragma once
// A chunk of the container: its header, packing and unpacking. No file access.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct ZSTD_DCtx_s;

namespace icepath::rundir {

inline constexpr char kMagic[8] = {'I', 'C', 'E', 'P', 'A', 'T', 'H', '\n'};

// The values read as text in a hex dump of a little-endian file.
enum class ChunkKind : uint32_t {
	Types = 0x45505954, // "TYPE"
	Head = 0x44414548, // "HEAD"
	Window = 0x444e4957, // "WIND"
	Records = 0x53434552, // "RECS"
	Measurement = 0x5341454d, // "MEAS"
	Stamps = 0x504d5453, // "STMP"
	Tail = 0x4c494154, // "TAIL"
};

inline constexpr uint32_t kChunkZstd = 1u << 0; // the payload is one zstd frame

struct ChunkHeader {
	uint32_t kind = 0;
	uint32_t flags = 0;
	uint64_t stored_bytes = 0; // in the file
	uint64_t plain_bytes = 0;  // after unpacking
	uint32_t crc32 = 0;        // of this header with crc32 = 0, then of the stored payload
	uint32_t reserved = 0;
};
static_assert(sizeof(ChunkHeader) == 32);

// IEEE 802.3 CRC-32 of header and payload.
uint32_t chunk_crc32(ChunkHeader header, std::span<const std::byte> stored);

// Appends one chunk to `out`. Binary kinds are packed unless they shrink by more than kMaxExpansion allows; JSON stays
// readable with a pager. Throws Failure(Internal) if the payload is larger than kMaxChunkBytes.
void append_chunk(std::vector<std::byte> &out, ChunkKind kind, std::span<const std::byte> plain);

// Unpacks chunks one after another in the same memory.
class Unpacker {
public:
	Unpacker();
	// Returns the payload, which is valid until the next call, and as long as `stored`. Throws std::runtime_error with
	// the reason if it contradicts the header. The caller has compared header.stored_bytes with `stored` and
	// header.plain_bytes with a limit.
	std::span<const std::byte> unpack(const ChunkHeader &header, std::span<const std::byte> stored);

private:
	std::unique_ptr<ZSTD_DCtx_s, size_t (*)(ZSTD_DCtx_s *)> context_;
	std::vector<std::byte> plain_;
};

} // namespace icepath::rundir
