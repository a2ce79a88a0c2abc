// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/analyse.h"
#include "profiler/analysis/observer_effect.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "profiler/explain/notices.h"
#include "profiler/failure.h"
#include "profiler/rundir/container.h"
#include "profiler/text/finding_words.h"
#include "tests/model/own_window.h"
#include "tests/report/few_blocks.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::analysis {
namespace {

using model::Layer;
using model::Part;
using model::Pattern;

using AggregateTest = FewBlocks;

uint64_t total(const Breakdown &breakdown, Layer layer, Part part = Part::None)
{
	uint64_t ns = 0;
	for (const LayerRow &row : breakdown.rows())
		ns += row.layer == layer && row.part == part ? row.total_ns : 0;
	return ns;
}

TEST_F(AggregateTest, LayersAreThoseOfTheKnownWay)
{
	const RunResult result = of({block(0, false), block(1, true)});
	const CellResult &cell = result.cells[1];
	EXPECT_EQ(cell.paths.deliveries, 100u);
	ASSERT_EQ(cell.paths.complete(), 100u);
	EXPECT_EQ(total(cell.paths.layers, Layer::SenderUser), 200u * 100);
	EXPECT_EQ(total(cell.paths.layers, Layer::SenderKernel), 1000u * 100);
	EXPECT_EQ(total(cell.paths.layers, Layer::SenderKernel, Part::Notify), 300u * 100);
	EXPECT_EQ(total(cell.paths.layers, Layer::Wakeup), 1000u * 100);
	EXPECT_EQ(total(cell.paths.layers, Layer::Runqueue), 1500u * 100);
	EXPECT_EQ(total(cell.paths.layers, Layer::ReceiverKernel), 1000u * 100);
	EXPECT_EQ(total(cell.paths.layers, Layer::ReceiverUser), 300u * 100);
	EXPECT_EQ(cell.paths.layers.total_ns(), kPlainNs * 100);
	EXPECT_EQ(cell.paths.layers.sum_error_ns(), 0u);
	for (const LayerRow &row : cell.paths.layers.rows()) {
		const bool sends =
			row.layer == Layer::SenderUser || (row.layer == Layer::SenderKernel && row.part == Part::None);
		if (row.part == Part::Notify)
			continue;
		EXPECT_EQ(row.role, sends ? path::Role::Sender : path::Role::Receiver) << model::name(row.layer);
		EXPECT_EQ(row.hop, sends ? 0 : 1);
		EXPECT_EQ(row.thread, sends ? "sender" : "receiver");
		EXPECT_EQ(std::reduce(row.provenance_ns.begin(), row.provenance_ns.end()), row.total_ns);
	}
}

TEST_F(AggregateTest, RowsAlwaysTileTheLatency)
{
	write_small_run(run, true, kEnoughRounds);
	for (const CellResult &cell : analyse(run).cells)
		for (const Breakdown *breakdown :
			 {&cell.paths.layers, &cell.ranges.typical->layers, &cell.ranges.tail->layers}) {
			uint64_t sum = 0;
			double mean = 0;
			for (const LayerRow &row : breakdown->rows()) {
				sum += row.total_ns;
				mean += row.mean_ns;
				EXPECT_NEAR(std::reduce(row.by_block.begin(), row.by_block.end()),
							row.mean_ns * static_cast<double>(breakdown->deliveries()), 1e-3);
			}
			EXPECT_GT(sum, 0u);
			EXPECT_NEAR(mean, breakdown->mean_ns(), 1e-6);
			EXPECT_NEAR(mean, static_cast<double>(sum) / static_cast<double>(breakdown->deliveries()), 1e-6)
				<< "blocks of one length";
			EXPECT_EQ(sum, breakdown->total_ns());
			EXPECT_EQ(breakdown->sum_error_ns(), 0u);
		}
}

TEST_F(AggregateTest, LatencyComesFromUnprobedBlocksAndLayersFromProbedOnes)
{
	write_small_run(run);
	const RunResult result = analyse(run);
	const CellResult &cell = result.cells[0];
	EXPECT_EQ(cell.blocks.probed, 4u);
	EXPECT_EQ(cell.blocks.unprobed, 4u);
	EXPECT_EQ(cell.times.latency.count, 2u * 300 * 4);
	EXPECT_EQ(cell.times.latency.min, kPlainNs);
	EXPECT_EQ(cell.times.latency.max, kPlainNs + 70 + 2000);
	EXPECT_EQ(cell.times.latency_probed.count, 2u * 300 * 4);
	EXPECT_EQ(cell.times.latency_probed.min, kPlainNs + 210);
	EXPECT_EQ(cell.times.latency_probed.max, kPlainNs + 381'000) << "slow messages stay";
	EXPECT_EQ(cell.times.by_flow.at(0).count, 1200u);
	EXPECT_EQ(cell.times.by_flow.at(1).count, 1200u);
	EXPECT_EQ(cell.times.round_trip.count, 1200u);
	EXPECT_EQ(cell.times.pacing.count, 0u);
	EXPECT_EQ(result.cells[1].times.pacing.count, 1200u);
	EXPECT_TRUE(result.cells[1].times.by_flow.empty()) << "oneway has one direction: it is latency itself";
	EXPECT_EQ(cell.messages.sent, 2u * 300 * 8) << "every block";
	EXPECT_EQ(cell.messages.received, 2u * 300 * 8);
	EXPECT_EQ(cell.paths.deliveries, cell.paths.complete());
}

TEST_F(AggregateTest, ObserverEffectIsThePairedDifferenceOfBlocksWithoutTheirDrift)
{
	write_small_run(run);
	// ABBA: rounds 0-1, 2-3, 4-5, 6-7; probes add 200, and each round 10 more than the one before.
	const ObserverEffect effect = analyse(run).cells[1].observer_effect;
	for (const auto &told : {effect.p50, effect.mean}) {
		ASSERT_TRUE(told && told->interval);
		EXPECT_EQ(told->pairs, 4u);
		EXPECT_DOUBLE_EQ(told->mean, 200);
		EXPECT_NEAR(told->interval->low, 200, 1e-6) << "nothing else differs";
		EXPECT_NEAR(told->interval->high, 200, 1e-6);
	}
	EXPECT_FALSE(effect.p99.has_value()) << "300 messages have none";
}

TEST_F(AggregateTest, TheTailIsWhatReachesTheProbedP99)
{
	write_small_run(run, true, kEnoughRounds);
	const CellResult cell = analyse(run).cells[0];
	ASSERT_TRUE(cell.ranges.tail.has_value());
	EXPECT_EQ(cell.ranges.tail->from_ns, *cell.times.latency_probed.percentiles[2]);
	EXPECT_GE(cell.ranges.tail->layers.deliveries(), 3600u / 100);
	EXPECT_LT(cell.ranges.tail->layers.deliveries(), 3600u / 20);
	EXPECT_EQ(cell.ranges.tail->messages, cell.ranges.tail->layers.deliveries()) << "all paths are known";
	EXPECT_GT(total(cell.ranges.tail->layers, Layer::Runqueue) / cell.ranges.tail->layers.deliveries(),
			  2u * total(cell.paths.layers, Layer::Runqueue) / cell.paths.layers.deliveries());
}

// Most messages are alike, and one in fifty waits for 2000 ns: the mean includes that, the typical messages don't.
TEST_F(AggregateTest, TypicalMessagesAreThoseAroundTheMedian)
{
	write_small_run(run, true, kEnoughRounds);
	const CellResult cell = analyse(run).cells[1];
	ASSERT_TRUE(cell.ranges.typical.has_value());
	const uint64_t p50 = cell.times.latency_probed.percentiles[0].value();
	EXPECT_LE(cell.ranges.typical->from_ns, p50);
	EXPECT_GE(cell.ranges.typical->to_ns, p50);
	EXPECT_GE(cell.ranges.typical->messages, 1800u / 5);
	EXPECT_LT(cell.ranges.typical->messages, 1800u / 2);
	EXPECT_EQ(cell.ranges.typical->layers.deliveries(), cell.ranges.typical->messages);
	EXPECT_NEAR(cell.ranges.typical->layers.mean_ns(), static_cast<double>(p50), 25);
	EXPECT_GT(cell.paths.layers.mean_ns(), static_cast<double>(p50) + 30);
}

// What fills a log ends a block: its messages count as any, and the mean of blocks tells what they would have been.
TEST_F(AggregateTest, TheFewMessagesOfABlockThatEndedEarlyCountAsAny)
{
	std::vector<model::Block> blocks;
	for (uint32_t round = 0; round < 6; ++round) {
		BlockPlan plan;
		plan.cell = 1;
		plan.round = round;
		plan.probed = true;
		plan.messages = round == 3 ? 10 : 490;
		plan.delay_ns = [&](uint64_t, size_t) { return round == 3 ? 60'000 : 0; };
		blocks.push_back(make_block(socket_cell(Pattern::OneWay), plan));
	}
	blocks[3].end = model::BlockEnd::LogFull;
	const CellResult cell = of(blocks).cells[1];
	EXPECT_EQ(cell.blocks.log_full, 1u);
	const double few_ns = 10 * 60'000.0 / 2460;
	EXPECT_NEAR(cell.paths.layers.mean_ns(), kPlainNs + few_ns, 1e-6);
	EXPECT_NEAR(cell.paths.layers.mean_ns(), cell.times.latency_probed.mean, 1e-6);
	for (const LayerRow &row : cell.paths.layers.rows())
		if (row.layer == Layer::Runqueue) {
			EXPECT_NEAR(row.mean_ns, 1500 + few_ns, 1e-6);
		}
	EXPECT_NEAR(cell.times.latency_probed.mean_by_block, kPlainNs + 10'000, 1e-6) << "a sixth of the blocks";
}

// The messages with unknown paths are mostly those that waited.
TEST_F(AggregateTest, WhetherLayersTellIsAskedOfTimeToo)
{
	CellResult cell = of({block(0, true, 100)}).cells[1];
	EXPECT_TRUE(cell.paths.tells_where());
	EXPECT_DOUBLE_EQ(cell.paths.share_known(), 1);
	cell.paths.deliveries = 105;
	EXPECT_TRUE(cell.paths.tells_where());
	cell.paths.deliveries_ns = static_cast<double>(cell.paths.layers.total_ns()) / 0.8;
	EXPECT_FALSE(cell.paths.tells_where()) << "the five that aren't known took a fifth of the time";
	EXPECT_DOUBLE_EQ(cell.paths.share_known(), 0.8);
}

TEST_F(AggregateTest, WithoutEnoughMessagesThereIsNoTail)
{
	const CellResult cell = of({block(0, true, 500)}).cells[1];
	EXPECT_FALSE(cell.ranges.tail.has_value());
	EXPECT_TRUE(cell.ranges.typical.has_value());
}

TEST_F(AggregateTest, RemembersTheWorstMessageAndWhoDelayedIt)
{
	write_small_run(run);
	const CellResult cell = analyse(run).cells[0];
	ASSERT_NE(cell.followed.worst(), nullptr);
	EXPECT_EQ(cell.followed.worst()->latency_ns(), kPlainNs + 381'000);
	EXPECT_EQ(cell.followed.worst()->seq, 150u);
	EXPECT_EQ(cell.followed.worst()->round, 6u);
	EXPECT_TRUE(cell.followed.worst()->back);
	EXPECT_EQ(cell.followed.worst()->task_names.at(kHog), "kworker/1:2");
	EXPECT_EQ(cell.followed.worst()->task_names.at(kTids[0]), "initiator");
	const auto culprits = cell.paths.culprits.top(1);
	ASSERT_EQ(culprits.size(), 1u);
	EXPECT_EQ(culprits[0].name, "kworker/1:2");
	EXPECT_EQ(culprits[0].layer, Layer::Runqueue);
	EXPECT_GT(culprits[0].total_ns, 381'000u);
}

TEST_F(AggregateTest, RemembersTheSlowestMessages)
{
	write_small_run(run);
	const CellResult cell = analyse(run).cells[0];
	ASSERT_EQ(cell.followed.slowest.size(), FollowedMessages::kSlowest);
	EXPECT_EQ(&cell.followed.slowest.front(), cell.followed.worst());
	// One message in 50 waits 2000 ns longer, and most do in the last probed block, of round 6.
	for (size_t i = 1; i < cell.followed.slowest.size(); ++i) {
		EXPECT_EQ(cell.followed.slowest[i].latency_ns(), kPlainNs + 2260);
		EXPECT_EQ(cell.followed.slowest[i].round, 6u);
		EXPECT_EQ(cell.followed.slowest[i].seq % 50, 7u);
		EXPECT_FALSE(i > 1 && cell.followed.slowest[i].seq == cell.followed.slowest[i - 1].seq &&
					 cell.followed.slowest[i].back == cell.followed.slowest[i - 1].back);
	}
}

// Both ends have the same tid, so the flow distinguishes an answer from a message.
TEST_F(AggregateTest, KnowsTheAnswersOfOneThread)
{
	model::Head head = small_head();
	head.cells[0].graph = model::star(1, {0, 0}, model::Between::OneThread, true);
	head.cells[0].mechanisms = {};
	model::Block one = block_of(2);
	one.cell = 0;
	model::Window &window = own_window(one);
	window.probed = true;
	window.begin.monotonic_ns = 1;
	window.finish.monotonic_ns = 10'000;
	one.sides[1] = one.sides[0];
	one.flows[0].sends.push_back({0, 1000, 1000, 1010, 0, 1100, 1, 0, 0});
	one.flows[0].recvs.push_back({0, 1110, 0, 1120, 1200, 0, 1210, 1, 0});
	one.flows[1].sends.push_back({0, 2000, 2000, 2010, 0, 2100, 1, 0, 0});
	one.flows[1].recvs.push_back({0, 2110, 0, 2120, 2300, 0, 2310, 1, 0});
	rundir::Writer writer(run, head);
	writer.add(one);
	writer.finish({});
	const CellResult cell = analyse(run).cells[0];
	EXPECT_EQ(cell.paths.complete(), 2u);
	ASSERT_NE(cell.followed.worst(), nullptr);
	EXPECT_EQ(cell.followed.worst()->latency_ns(), 310u);
	EXPECT_TRUE(cell.followed.worst()->back);
}

TEST_F(AggregateTest, DroppedRecordsAreCountedAndTheirMessagesAreIncompleteButNotOutOfTheLatency)
{
	model::Block full = block(0, true);
	model::SlotCapture &slot = own_window(full).slots[1];
	slot.capacity = 60;
	slot.records.resize(60);
	const CellResult cell = of({full}).cells[1];
	EXPECT_EQ(cell.capture.dropped, 42u);
	EXPECT_EQ(cell.capture.records, 60u + 102u);
	EXPECT_EQ(cell.capture.bytes, 162u * 64);
	EXPECT_EQ(cell.times.latency_probed.count, 100u);
	EXPECT_EQ(cell.paths.deliveries, 100u);
	EXPECT_LT(cell.paths.complete(), 60u);
	EXPECT_GT(cell.paths.complete(), 40u);
	EXPECT_EQ(cell.paths.complete() +
				  std::accumulate(cell.paths.incomplete.begin(), cell.paths.incomplete.end(), uint64_t{0}),
			  cell.paths.deliveries);
	EXPECT_GT(cell.paths.incomplete[static_cast<size_t>(path::Reason::LostRecord)], 0u);
}

TEST_F(AggregateTest, InvertedStampsNeverBecomeALatency)
{
	model::Block bad = block(0, true);
	bad.flows[0].recvs[50].recv_ns = 5;
	const CellResult cell = of({bad}).cells[1];
	EXPECT_EQ(cell.messages.inverted, 1u);
	EXPECT_EQ(cell.times.latency_probed.count, 99u);
	EXPECT_EQ(cell.paths.incomplete[static_cast<size_t>(path::Reason::InvertedTime)], 1u);
	EXPECT_EQ(cell.paths.complete(), 99u);
}

TEST_F(AggregateTest, FailedBlocksKeepWhatTheyMeasured)
{
	model::Block failed = block(0, false);
	failed.end = model::BlockEnd::Failed;
	failed.failure = "the receiver died";
	failed.flows[0].recvs.resize(52);
	const RunResult result = of({failed});
	const CellResult &cell = result.cells[1];
	EXPECT_EQ(cell.blocks.failed, 1u);
	EXPECT_EQ(cell.times.latency.count, 50u);
	EXPECT_EQ(cell.messages.lost, 50u);
	EXPECT_FALSE(explain::valid(result));
}

TEST_F(AggregateTest, ARunThatDiedIsResolvedAsFarAsItCame)
{
	write_small_run(run, false);
	const std::string file = run + "/" + rundir::kPartialName;
	std::filesystem::resize_file(file, std::filesystem::file_size(file) - 10);
	const RunResult result = analyse(run);
	EXPECT_TRUE(result.partial());
	EXPECT_TRUE(result.truncated);
	EXPECT_EQ(result.cells[0].blocks.probed + result.cells[0].blocks.unprobed, 8u);
	EXPECT_EQ(result.cells[1].blocks.probed + result.cells[1].blocks.unprobed, 7u);
	EXPECT_FALSE(explain::valid(result));
}

TEST_F(AggregateTest, AWholeRunIsValid)
{
	write_small_run(run);
	const RunResult result = analyse(run);
	EXPECT_TRUE(explain::valid(result));
	EXPECT_TRUE(text::notice_sentences(result).empty()) << text::notice_sentences(result).front();
	EXPECT_EQ(text::unfinished_text(result), "");
}

TEST_F(AggregateTest, WhatIsNoRunIsRefused) { EXPECT_THROW(analyse(temporary.path("nowhere")), Failure); }

TEST_F(AggregateTest, NoticesTellWhatAReaderMustKnow)
{
	model::Block lossy = block(0, false);
	lossy.flows[0].recvs.resize(60);
	lossy.flows[0].recvs[10].flags |= model::kStampBadPayload;
	const std::vector<std::string> told = text::notice_sentences(of({lossy}));
	const auto says = [&](const std::string &text) {
		return std::any_of(told.begin(), told.end(),
						   [&](const auto &one) { return one.find(text) != std::string::npos; });
	};
	EXPECT_TRUE(says("uds-stream 64 B pingpong block: not measured"));
	EXPECT_TRUE(says("uds-stream 64 B oneway block: 42 of 100 messages lost"));
	EXPECT_TRUE(says("1 messages arrived with changed bytes"));
	EXPECT_TRUE(says("1 unprobed block is too few for an interval"));
}

TEST_F(AggregateTest, ANoticeTellsThatTheKernelCopiedAfterAll)
{
	model::Block copied = block(0, false);
	for (size_t i = 0; i < 42; ++i)
		copied.flows[0].sends[i].flags |= model::kStampCopied; // two of them warm-up
	const RunResult result = of({copied});
	EXPECT_EQ(result.cells[1].messages.copied_after_all, 40u);
	const std::vector<std::string> told = text::notice_sentences(result);
	EXPECT_NE(
		std::ranges::find(
			told,
			"uds-stream 64 B oneway block: the kernel copied 40 of 100 messages although zero-copy was asked for"),
		told.end());
}

TEST(Notices, WhatManyCellsShareIsOneNoticeInBrief)
{
	RunResult result;
	result.tail.emplace();
	for (int i = 0; i < 5; ++i)
		result.cells.emplace_back().cell.target = "t" + std::to_string(i);
	EXPECT_EQ(
		text::brief_notices(result),
		std::vector<std::string>{"nothing measured in 5 cells: t0 64 B pingpong block: not measured; and 4 more"});
	EXPECT_EQ(text::notice_sentences(result).size(), 5u);
	EXPECT_EQ(text::notice_sentences(result)[4], "t4 64 B pingpong block: not measured");
	result.cells.resize(1);
	EXPECT_EQ(text::brief_notices(result), std::vector<std::string>{"t0 64 B pingpong block: not measured"});
}

// In three blocks of five messages take a millisecond, in the others some microseconds: by that their p50 may be
// seconds, though all that was measured took less than one.
TEST_F(AggregateTest, APercentileThatMayTakeLongerThanTheRunIsMissing)
{
	std::vector<model::Block> blocks;
	uint64_t measured_ns = 0;
	for (uint32_t round = 0; round < 5; ++round) {
		BlockPlan plan;
		plan.cell = 1;
		plan.round = round;
		plan.delay_ns = [&](uint64_t, size_t) { return round % 2 == 0 ? uint64_t{1'000'000} : uint64_t{0}; };
		blocks.push_back(make_block(socket_cell(model::Pattern::OneWay), plan));
		measured_ns += blocks.back().window->finish.monotonic_ns - blocks.back().window->begin.monotonic_ns;
	}
	const stats::Distribution latency = of(blocks).cells[1].times.latency;
	ASSERT_EQ(latency.count, 500u);
	ASSERT_LT(measured_ns, 1'000'000'000u);
	EXPECT_FALSE(latency.percentiles[0] || latency.intervals[0]) << latency.intervals[0]->high;
}

TEST(Notices, OfSpinnersUnderFifoSayWhatHappened)
{
	RunResult result;
	CellResult &cell = result.cells.emplace_back();
	cell.blocks.probed = 3;
	cell.cell.wait = model::Wait::Spin;
	cell.cell.levels.fifo_priority = 1;
	const auto add = [&](Layer layer) {
		path::Path path;
		path.recv_ns = 5000;
		path.segments.push_back({layer, Part::None, 0, 1, {}, {5000, {}}, {}});
		cell.paths.layers.add(path, {});
	};
	const auto told = [&](const char *what) {
		return std::ranges::any_of(text::notice_sentences(result),
								   [&](const std::string &one) { return one.find(what) != std::string::npos; });
	};
	add(Layer::SenderUser);
	EXPECT_TRUE(told("never lost their CPUs"));
	add(Layer::Preempted);
	EXPECT_TRUE(told("lost their CPUs for 5.00 µs of 10.0 µs"));
	cell.cell.levels.fifo_priority = 0;
	EXPECT_FALSE(told("lost their CPUs"));
}

TEST(Notices, InBriefAreThoseThatNothingElseSumsUp)
{
	RunResult result;
	result.tail.emplace();
	result.head.host.plain_root = true;
	result.tail->notices = {"a can't wait by spin: left out there", "b can't wait by spin: left out there",
							"c can't wait by spin: left out there", "d can't wait by spin: left out there",
							"the daemon died"};
	CellResult &cell = result.cells.emplace_back();
	cell.blocks.unprobed = 3;
	cell.messages.lost = 7;
	EXPECT_EQ(text::brief_notices(result),
			  (std::vector<std::string>{"a, b and 2 more can't wait by spin: left out there", "the daemon died"}));
	EXPECT_EQ(text::notice_sentences(result).size(), 7u) << "and the loss";
}

} // namespace
} // namespace icepath::analysis
