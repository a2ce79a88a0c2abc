// SPDX-License-Identifier: Apache-2.0
// A block cut into windows that continue each other: each message is resolved once, and like in the whole block if that
// has its path. Complete paths are true.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "profiler/resolve/resolve.h"
#include "profiler/rundir/container.h"
#include "tests/rundir/example_run.h"
#include "tests/simulator/seen.h"
#include "tests/simulator/truth_check.h"

namespace icepath::simulator {
namespace {

std::string text_of(const path::Path &path)
{
	std::string text = fmt::format("{} {}", path.send_ns, path.recv_ns);
	for (const path::Segment &segment : path.segments)
		text += fmt::format(" {}/{}@{}", model::name(segment.layer), model::name(segment.part), segment.end.at_ns);
	return text;
}

struct Paths : resolve::Visitor {
	void visit(const resolve::ResolvedBlock &resolved) override
	{
		for (size_t i = 0; i < resolved.paths.size(); ++i) {
			EXPECT_TRUE(by_message.emplace(resolved.seen.deliveries[i].message, resolved.paths[i]).second) << "twice";
		}
	}
	std::map<uint64_t, path::Path> by_message;
};

// The STILL_OFF record that the capture writes as a window ends.
icepath_record still_off(const icepath_record &off, uint64_t at_ns)
{
	icepath_record still = off;
	still.type = ICEPATH_RECORD_STILL_OFF;
	if (off.off.out_ns != 0 &&
		off.off.out_ns == off.off.waking_ns) // it was met at its waking: off since before the window
		still.off.out_ns = 1;
	still.end_ns = at_ns;
	return still;
}

// What ended within [from_ns, to_ns). `left`: by slot, the records that no window has yet, and the next number.
model::Block part_of(const model::Block &block, uint64_t from_ns, uint64_t to_ns, std::vector<model::SlotCapture> &left)
{
	const auto is_in = [&](uint64_t at_ns) { return at_ns >= from_ns && at_ns < to_ns; };
	model::Block part = block;
	const auto window = std::make_shared<model::Window>(*block.window);
	part.window = window;
	window->begins_midway = from_ns != 0;
	window->ends_midway = to_ns != UINT64_MAX;
	if (from_ns != 0)
		window->begin.monotonic_ns = from_ns;
	if (to_ns != UINT64_MAX)
		window->finish.monotonic_ns = to_ns;
	for (size_t i = 0; i < left.size(); ++i) {
		model::SlotCapture &slot = window->slots[i];
		std::vector<icepath_record> &records = left[i].records;
		// Ordered by number. An interrupt may have put times out of order.
		const auto end = std::ranges::find_if(records, [&](const icepath_record &one) { return one.end_ns >= to_ns; });
		slot.records.assign(records.begin(), end);
		records.erase(records.begin(), end);
		for (const icepath_record &one : records)
			if (const bool off = one.type == ICEPATH_RECORD_OFF_CPU || one.type == ICEPATH_RECORD_STILL_OFF;
				off && still_off(one, to_ns).off.out_ns < to_ns && one.end_ns >= to_ns)
				slot.records.push_back(still_off(one, to_ns));
		slot.first = left[i].position;
		for (icepath_record &one : slot.records)
			one.seq = left[i].position++;
		slot.position = left[i].position;
	}
	for (model::BlockFlow &flow : part.flows) {
		std::erase_if(flow.sends,
					  [&](const model::SendStamp &send) { return !is_in(std::max(send.send_ns, send.return_ns)); });
		std::erase_if(flow.recvs, [&](const model::RecvStamp &recv) { return !is_in(recv.recv_ns); });
	}
	return part;
}

std::map<uint64_t, path::Path> resolved(const model::Block &block, const model::Cell &cell, std::vector<uint64_t> cuts)
{
	const rundir::TemporaryDirectory temporary;
	model::Head head;
	head.cells = {cell};
	{
		rundir::Writer writer(temporary.path("run"), head);
		std::vector<model::SlotCapture> left = block.window->slots;
		for (model::SlotCapture &slot : left) {
			std::ranges::sort(slot.records, {}, &icepath_record::seq);
			slot.position = 0;
		}
		uint64_t from_ns = 0;
		cuts.push_back(UINT64_MAX);
		for (const uint64_t to_ns : cuts) {
			writer.add(part_of(block, from_ns, to_ns, left));
			from_ns = to_ns;
		}
		writer.finish({});
	}
	Paths paths;
	resolve::resolve(temporary.path("run"), paths, {.threads = 1});
	return paths.by_message;
}

class CutBlocks : public testing::TestWithParam<size_t> {};

TEST_P(CutBlocks, AreResolvedOnceAndTruly)
{
	constexpr uint64_t kSeeds = 300;
	uint64_t complete = 0, kept = 0;
	for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
		const Scenario scenario = Scenario::random(seed);
		if (!scenario.alone() && !scenario.library)
			continue; // in no block: see Simulation::observe()
		Simulation simulation(scenario);
		simulation.run();
		const std::vector<Truth> truths = simulation.truths();
		const model::Block block = simulation.block({});
		const auto whole = resolved(block, simulation.cell(), {});
		const uint64_t begin_ns = block.window->begin.monotonic_ns,
					   length_ns = block.window->finish.monotonic_ns - begin_ns;
		std::vector<uint64_t> cuts;
		for (size_t i = 1; i <= GetParam(); ++i)
			cuts.push_back(begin_ns + (length_ns * (10 * i + seed % 7)) / (10 * (GetParam() + 1)));
		const auto cut = resolved(block, simulation.cell(), cuts);
		for (const auto &[message, path] : whole) {
			complete += path.complete();
			const auto found = cut.find(message);
			if (found == cut.end() || !found->second.complete())
				continue;
			// Later records may make a path ambiguous. Without them it is complete, and true.
			if (path.complete()) {
				EXPECT_EQ(text_of(found->second), text_of(path)) << scenario.text();
			}
			const auto truth = std::ranges::find(truths, message, &Truth::message);
			ASSERT_NE(truth, truths.end());
			EXPECT_EQ(wrong(found->second, *truth), "") << scenario.text();
			kept += path.complete();
		}
		EXPECT_LE(cut.size(), whole.size());
		if (GetParam() == 1) {
			EXPECT_EQ(cut.size(), whole.size()) << "seed " << seed;
		}
	}
	EXPECT_GT(complete, 1000u);
	EXPECT_GT(kept, 90 * complete / 100); // a window of three cuts may be shorter than a message's latency
	std::printf("%zu cuts: %lu of %lu complete paths kept\n", GetParam(), kept, complete);
}

INSTANTIATE_TEST_SUITE_P(Once, CutBlocks, testing::Values(1, 3));

} // namespace
} // namespace icepath::simulator
