// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/chunk.h"

#include <cstring>
#include <fmt/format.h>
#include <new>
#include <stdexcept>
#include <zlib.h>
#include <zstd.h>

#include "profiler/failure.h"
#include "profiler/rundir/limits.h"

namespace icepath::rundir {

uint32_t chunk_crc32(ChunkHeader header, std::span<const std::byte> stored)
{
	header.crc32 = 0;
	const auto add = [](uLong crc, const void *bytes, size_t count) {
		return crc32_z(crc, static_cast<const Bytef *>(bytes), count);
	};
	return static_cast<uint32_t>(add(add(0, &header, sizeof header), stored.data(), stored.size()));
}

void append_chunk(std::vector<std::byte> &out, ChunkKind kind, std::span<const std::byte> plain)
{
	if (plain.size() > kMaxChunkBytes)
		throw Failure(ExitCode::Internal, fmt::format("a part of the run has {} bytes, the container takes {} at most",
													  plain.size(), kMaxChunkBytes));
	ChunkHeader header;
	header.kind = static_cast<uint32_t>(kind);
	header.plain_bytes = plain.size();
	header.stored_bytes = plain.size();
	const size_t at = out.size();
	out.resize(at + sizeof header);
	if (kind == ChunkKind::Stamps || kind == ChunkKind::Records) {
		out.resize(out.size() + ZSTD_compressBound(plain.size()));
		// Level 1: stamps and records shrink to a third, and the next block waits while one is packed.
		const size_t packed = ZSTD_compress(out.data() + at + sizeof header, out.size() - at - sizeof header,
											plain.data(), plain.size(), 1);
		if (ZSTD_isError(packed))
			throw Failure(ExitCode::Internal,
						  fmt::format("packing a part of the run failed: {}", ZSTD_getErrorName(packed)));
		const bool shrinks_too_much = plain.size() / kMaxExpansion > packed;
		header.flags = shrinks_too_much ? 0 : kChunkZstd;
		header.stored_bytes = shrinks_too_much ? plain.size() : packed;
		out.resize(at + sizeof header + (shrinks_too_much ? 0 : packed));
	}
	if (header.flags == 0)
		out.insert(out.end(), plain.begin(), plain.end());
	header.crc32 = chunk_crc32(header, std::span(out).subspan(at + sizeof header));
	std::memcpy(out.data() + at, &header, sizeof header);
}

Unpacker::Unpacker() : context_(ZSTD_createDCtx(), ZSTD_freeDCtx)
{
	if (!context_)
		throw std::bad_alloc();
}

std::span<const std::byte> Unpacker::unpack(const ChunkHeader &header, std::span<const std::byte> stored)
{
	if (chunk_crc32(header, stored) != header.crc32)
		throw std::runtime_error("the checksum doesn't fit");
	if ((header.flags & ~kChunkZstd) != 0)
		throw std::runtime_error("unknown packing");
	if (!(header.flags & kChunkZstd)) {
		if (header.plain_bytes != stored.size())
			throw std::runtime_error("two sizes that must be equal differ");
		return stored;
	}
	// The frame has its size too: check it before allocating.
	if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != header.plain_bytes)
		throw std::runtime_error("the packed payload has another size than its header says");
	plain_.resize(header.plain_bytes);
	const size_t unpacked =
		ZSTD_decompressDCtx(context_.get(), plain_.data(), plain_.size(), stored.data(), stored.size());
	if (ZSTD_isError(unpacked) || unpacked != plain_.size())
		throw std::runtime_error("the payload can't be unpacked");
	return plain_;
}

} // namespace icepath::rundir
