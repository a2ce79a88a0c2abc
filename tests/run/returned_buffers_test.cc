// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/returned_buffers.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <filesystem>

#include "profiler/run/run_record.h"

namespace icepath::run {
namespace {

size_t taken_from_the_system()
{
	const struct mallinfo2 heap = mallinfo2();
	return heap.arena + heap.hblkhd;
}

// Blocks with more and more records, as a busy machine has them now and then.
TEST(ReturnedBuffers, ABlockWithManyRecordsLeavesNoMemoryBehind)
{
	std::string folder = testing::TempDir() + "icepath-buffers-XXXXXX";
	ASSERT_NE(mkdtemp(folder.data()), nullptr);
	model::Head head;
	head.cells.resize(1);
	head.cells[0].target = "pipe";
	head.cells[0].graph = model::star(1, {0, 1}, model::Between::Processes, true);
	RunRecord record(folder + "/run", head);
	const auto add = [&](uint32_t records) {
		model::Window window;
		window.probed = true;
		window.slots = {{.cpu = 0, .position = records, .capacity = 1u << 16, .records = {}}};
		for (uint32_t i = 0; i < records; ++i) {
			icepath_record &one = window.slots[0].records.emplace_back();
			one.type = ICEPATH_RECORD_OFF_CPU;
			one.tid = i * 2654435761u;
			one.end_ns = uint64_t{i} * 1000;
		}
		record.add(window, {});
	};
	const ReturnedBuffers returned;
	add(100);
	const size_t before = taken_from_the_system();
	for (const uint32_t records : {2000, 10000, 30000, 60000, 100})
		add(records);
	EXPECT_LE(taken_from_the_system(), before + 2 * ReturnedBuffers::kFrom);
	std::filesystem::remove_all(folder);
}

} // namespace
} // namespace icepath::run
