// SPDX-License-Identifier: Apache-2.0
// The size of a run's file and fixed sums bound what its reader has to hold.
#include <zstd.h>

#include <cstring>
#include <filesystem>

#include "profiler/rundir/chunk.h"
#include "profiler/rundir/head_json.h"
#include "profiler/rundir/limits.h"
#include "profiler/rundir/room.h"
#include "profiler/rundir/type_table.h"
#include "profiler/rundir/window_json.h"
#include "tests/rundir/container_runs.h"

namespace icepath::rundir {
namespace {

class Sum : public ContainerTest {
protected:
	void add(ChunkKind kind, const std::string &text) { append_chunk(out, kind, std::as_bytes(std::span(text))); }

	// Zeros, packed as small as possible.
	void add_zeros(ChunkKind kind, size_t bytes)
	{
		const std::vector<std::byte> plain(bytes);
		std::vector<std::byte> packed(ZSTD_compressBound(bytes));
		packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), bytes, 1));
		ChunkHeader header{.kind = static_cast<uint32_t>(kind), .flags = kChunkZstd};
		header.stored_bytes = packed.size();
		header.plain_bytes = bytes;
		header.crc32 = chunk_crc32(header, packed);
		const auto front = std::as_bytes(std::span(&header, 1));
		out.insert(out.end(), front.begin(), front.end());
		out.insert(out.end(), packed.begin(), packed.end());
	}

	void add_window(uint32_t records, size_t blocks)
	{
		auto json = to_json(model::Window{}, blocks);
		json["slots"] = {
			{{"cpu", 0}, {"first", 0u}, {"position", records}, {"capacity", records}, {"records", records}}};
		add(ChunkKind::Window, json.dump());
	}

	std::string path()
	{
		write_file(temporary.path("crafted.icp"), {reinterpret_cast<const char *>(out.data()), out.size()});
		return temporary.path("crafted.icp");
	}

	Sum()
	{
		out.resize(sizeof kMagic);
		std::memcpy(out.data(), kMagic, sizeof kMagic);
		add(ChunkKind::Types, type_table().dump());
		add(ChunkKind::Head, to_json(example_head()).dump());
	}

	std::vector<std::byte> out;
};

// 200 kB that would take more than a gigabyte.
TEST_F(Sum, ASmallFileCantClaimToBeLarge)
{
	for (int i = 0; i < 20; ++i) {
		add_window(1 << 20, 0);
		add_zeros(ChunkKind::Records, sizeof(icepath_record) << 20);
	}
	ASSERT_LT(out.size(), 200'000u);
	EXPECT_TRUE(says(complaint(path()), "a chunk claims 67108864 bytes of"));
	EXPECT_TRUE(says(complaint(path()), "in the file, more than 64 times as many"));
}

// A chunk that would shrink further is stored unpacked.
TEST_F(Sum, WhatIsWrittenIsRead)
{
	model::Block block = example_block(0, false);
	const size_t stamps = 100'000;
	block.flows[0].sends.assign(stamps, {});
	{
		Writer writer(run, example_head());
		writer.add(block);
		writer.finish(example_tail());
	}
	EXPECT_EQ(read_all(run).blocks.at(0).flows[0].sends.size(), stamps);
	EXPECT_GE(std::filesystem::file_size(whole), stamps * sizeof(model::SendStamp) / kMaxExpansion);
}

TEST_F(Sum, RecordsOfAWindowAreResolvedOnlySoOften)
{
	add_window(kMaxRecords, kMaxResolvedRecords / kMaxRecords + 1);
	EXPECT_TRUE(says(complaint(path()), "a window has 4194304 records for 17 blocks, more than can be resolved"));
}

TEST(Room, OfAWindowIsBounded)
{
	Room room;
	room.take_window(kMaxRecords, 2);
	room.take_block(kMaxStamps);
	EXPECT_THROW(room.take_block(1), std::runtime_error);
	EXPECT_NO_THROW(room.take_window(kMaxRecords, 2)) << "another window";
}

TEST(Room, OfARunIsBoundedAndToldBeforeItEnds)
{
	Room room;
	uint64_t windows = 0;
	for (; !room.is_full(); ++windows) {
		room.take_window(kMaxRecords, 1);
		room.take_block(kMaxStamps);
	}
	EXPECT_EQ(windows, kMaxRunBytes / kMaxWindowBytes);
	EXPECT_THROW(room.take_window(1, 1), std::runtime_error);
}

} // namespace
} // namespace icepath::rundir
