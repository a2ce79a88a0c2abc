// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/worker_gaps.h"

#include <gtest/gtest.h>

namespace icepath::analysis {
namespace {

resolve::ResolvedBlock resolved(uint64_t begin_ns)
{
	resolve::ResolvedBlock block;
	auto window = std::make_shared<model::Window>();
	window->begin.monotonic_ns = begin_ns;
	block.block.window = window;
	block.block.sides.resize(2);
	block.block.sides[0].tid = 1;
	block.block.sides[1].tid = 2;
	block.seen.begin_ns = begin_ns;
	block.seen.end_ns = begin_ns + 1'000'000;
	block.seen.threads[1].tid = 1;
	block.seen.threads[2].tid = 2;
	block.seen.threads[2].first_cpu = 1;
	path::OffCpu off;
	off.out_ns = begin_ns + 100;
	off.in_ns = begin_ns + 5'100;
	off.out_cpu = off.in_cpu = 1;
	off.preempted = true;
	block.seen.threads[2].off = {off};
	block.seen.cpus[1].runs = {{off.out_ns, off.in_ns, 9, 0, false}};
	block.seen.task_names[9] = "hog";
	return block;
}

TEST(WorkerGaps, IsNotTheOtherSideOfTheCell)
{
	resolve::ResolvedBlock block = resolved(1'000'000);
	block.seen.cpus[1].runs[0].tid = 1;
	model::Cell cell;
	WorkerGaps gaps;
	gaps.add(block, cell);
	for (const model::CpuNoise &one : gaps.take())
		EXPECT_EQ(one.gaps, 0u);
}

TEST(WorkerGaps, AddsUpTheTimesOfTheWorkersOfEachCpu)
{
	model::Cell cell;
	cell.graph.sides.at(0).cpu = 0;
	cell.graph.sides.at(1).cpu = 1;
	WorkerGaps gaps;
	gaps.add(resolved(1'000'000), cell);
	gaps.add(resolved(1'000'000), cell); // another cell's block in the same window
	gaps.add(resolved(9'000'000), cell);
	const auto found = gaps.take();
	ASSERT_EQ(found.size(), 2u);
	EXPECT_EQ(found[0], (model::CpuNoise{0, 3'000'000, 0, 0, 0, {}, ""}));
	EXPECT_EQ(found[1], (model::CpuNoise{1, 3'000'000, 3, 15'000, 5'000, {{"hog", 3, 15'000, 5'000}}, "hog"}));
}

// By callback a library's thread works for the side: what keeps it off counts, and it is nobody's hog.
TEST(WorkerGaps, IsOfTheThreadsThatHandleMessagesToo)
{
	constexpr uint32_t kHandler = 7;
	model::Cell cell;
	cell.wait = model::Wait::Callback;
	cell.graph.sides.at(1).cpu = 1;
	resolve::ResolvedBlock block = resolved(1'000'000);
	block.seen.threads[kHandler] = block.seen.threads[2];
	block.seen.threads[kHandler].tid = kHandler;
	block.seen.threads[2].off.clear(); // the side's own thread sleeps
	const auto noise_of_receiver = [&] {
		WorkerGaps gaps;
		gaps.add(block, cell);
		return gaps.take().at(1);
	};
	EXPECT_EQ(noise_of_receiver().gaps, 0u) << "a thread that handles nothing";
	block.block.flows.resize(1);
	block.block.flows[0].recvs.resize(2);
	for (model::RecvStamp &stamp : block.block.flows[0].recvs)
		stamp.flags = model::by_thread(kHandler);
	EXPECT_EQ(noise_of_receiver(), (model::CpuNoise{1, 1'000'000, 1, 5'000, 5'000, {{"hog", 1, 5'000, 5'000}}, "hog"}));
	block.seen.cpus[1].runs[0].tid = kHandler;
	block.seen.threads[2].off = block.seen.threads[kHandler].off;
	block.seen.threads[kHandler].off.clear();
	EXPECT_EQ(noise_of_receiver().gaps, 0u) << "it is of the cell";
}

} // namespace
} // namespace icepath::analysis
