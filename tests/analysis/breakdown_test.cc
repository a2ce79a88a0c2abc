// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/breakdown.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "ebpf/records.h"
#include "profiler/path/shares.h"

namespace icepath::analysis {
namespace {

using model::Layer;
using model::Part;
using path::Path;
using path::Provenance;
using path::Segment;

path::Observations threads()
{
	path::Observations seen;
	for (const auto &[tid, name] : {std::pair<uint32_t, const char *>{1, "tx"}, {2, "broker"}, {3, "rx"}})
		seen.threads[tid].name = name;
	seen.task_names = {{9, "hog"}};
	return seen;
}

struct Piece {
	Layer layer;
	uint16_t hop;
	uint64_t ns;
	Part part = Part::None;
	Provenance end = Provenance::Exact;
	path::Culprit culprit = {};
};

Path path_of(const std::vector<Piece> &pieces)
{
	Path path;
	path.send_ns = 1000;
	path::Boundary at{1000, {}, Provenance::Exact, 1000, 1000};
	for (const Piece &piece : pieces) {
		Segment segment{piece.layer, piece.part, piece.hop, piece.hop + 1u, at, at, piece.culprit};
		segment.end.at_ns += piece.ns;
		segment.end.provenance = piece.end;
		at = segment.end;
		path.segments.push_back(segment);
	}
	path.recv_ns = at.at_ns;
	return path;
}

TEST(Breakdown, GoesByRoleAndThread)
{
	Breakdown breakdown;
	breakdown.add(path_of({{Layer::SenderKernel, 0, 10}, {Layer::RelayKernel, 1, 20}, {Layer::ReceiverKernel, 2, 30}}),
				  threads());
	const auto rows = breakdown.rows();
	ASSERT_EQ(rows.size(), 3u);
	EXPECT_EQ(rows[0].role, path::Role::Sender);
	EXPECT_EQ(rows[0].thread, "tx");
	EXPECT_EQ(rows[1].role, path::Role::Receiver);
	EXPECT_EQ(rows[2].role, path::Role::Relay) << "in the order of the layers";
	EXPECT_EQ(rows[2].thread, "broker");
}

TEST(Breakdown, AWorseEndMakesTheSegment)
{
	Breakdown breakdown;
	breakdown.add(path_of({{Layer::SenderKernel, 0, 10},
						   {Layer::Queue, 1, 20, Part::None, Provenance::Inferred},
						   {Layer::ReceiverKernel, 1, 30}}),
				  threads());
	const auto rows = breakdown.rows();
	EXPECT_EQ(rows[0].provenance_ns, (std::array<uint64_t, 4>{10, 0, 0, 0}));
	EXPECT_EQ(rows[1].provenance_ns, (std::array<uint64_t, 4>{0, 0, 0, 20}));
	EXPECT_EQ(rows[2].provenance_ns, (std::array<uint64_t, 4>{0, 0, 0, 30})) << "it begins where the one before ended";
}

TEST(Breakdown, RowsTileTheLatencyHoweverItIsKnown)
{
	for (const Provenance provenance :
		 {Provenance::Exact, Provenance::Paired, Provenance::Calibrated, Provenance::Inferred}) {
		Breakdown breakdown;
		breakdown.add(path_of({{Layer::SenderKernel, 0, 10},
							   {Layer::Queue, 1, 20, Part::None, provenance},
							   {Layer::ReceiverKernel, 1, 30}}),
					  threads());
		uint64_t sum_ns = 0;
		for (const LayerRow &row : breakdown.rows())
			sum_ns += row.total_ns;
		EXPECT_EQ(sum_ns, breakdown.total_ns()) << path::kProvenanceNames[static_cast<size_t>(provenance)];
	}
}

TEST(Breakdown, SeesLayersThatMissTheLatencyWhicheverWay)
{
	Breakdown breakdown;
	Path path = path_of({{Layer::SenderKernel, 0, 10}});
	path.recv_ns += 3;
	breakdown.add(path, threads());
	path.recv_ns -= 6;
	breakdown.add(path, threads());
	EXPECT_EQ(breakdown.sum_error_ns(), 6u) << "errors of opposite signs don't cancel";
}

TEST(Breakdown, SegmentsWithoutTimeHaveNoRow)
{
	Breakdown breakdown;
	breakdown.add(path_of({{Layer::SenderKernel, 0, 10}, {Layer::Network, 1, 0}}), threads());
	EXPECT_EQ(breakdown.rows().size(), 1u);
}

constexpr path::Culprit kHog{path::Culprit::Kind::Task, 9, 0}, kIdle{path::Culprit::Kind::IdleCpu, 0, 0},
	kUnknown{path::Culprit::Kind::Unknown, 0, 0}, kTick{path::Culprit::Kind::Interrupt, 236, ICEPATH_INTERRUPT_TIMER};

Path delayed()
{
	Path path = path_of({{Layer::SenderKernel, 0, 5},
						 {Layer::Interrupt, 0, 4, Part::None, Provenance::Exact, kTick},
						 {Layer::Blocked, 1, 7, Part::Lock, Provenance::Exact, kHog},
						 {Layer::Runqueue, 1, 40, Part::None, Provenance::Exact, kHog},
						 {Layer::Preempted, 1, 10}});
	path.shares = {{3, kHog, 30}, {3, kTick, 1}, {3, kIdle, 9}, {4, kHog, 4}, {4, kUnknown, 6}};
	return path;
}

TEST(Culprits, HaveWhatTheyHadOfAWaitAndAllOfAnInterruptOrASleep)
{
	Culprits culprits;
	culprits.add(delayed(), threads());
	culprits.add(delayed(), threads());
	std::vector<std::string> rows;
	for (const CulpritRow &row : culprits.top(99))
		rows.push_back(fmt::format("{} {} {} in {}", row.name, model::name(row.layer), row.total_ns, row.segments));
	EXPECT_EQ(rows,
			  (std::vector<std::string>{"hog runqueue 60 in 2", "idle CPU runqueue 18 in 2", "hog blocked 14 in 2",
										"unknown preempted 12 in 2", "hog preempted 8 in 2",
										"timer interrupt interrupt 8 in 2", "timer interrupt runqueue 2 in 2"}));
	EXPECT_EQ(culprits.top(2).size(), 2u);
	EXPECT_EQ(culprits.top(99).back().kind, path::Culprit::Kind::Interrupt);
}

// Of 100 ns of sleep the broker, which ended it, had no CPU for 70.
TEST(Culprits, OfALateWakerHaveItsTime)
{
	constexpr path::Culprit kBroker = {path::Culprit::Kind::Task, 2};
	Path path = path_of({{Layer::SenderKernel, 0, 10},
						 {Layer::Queue, 2, 100, Part::Blocked, Provenance::Exact, kBroker},
						 {Layer::ReceiverKernel, 2, 20}});
	path.late_wakers = {{1, kHog, 70}};
	Culprits culprits;
	culprits.add(path, threads());
	const std::vector<CulpritRow> rows = culprits.top(SIZE_MAX);
	ASSERT_EQ(rows.size(), 2u);
	EXPECT_EQ(rows[0].name, "hog");
	EXPECT_EQ(rows[0].total_ns, 70u);
	EXPECT_FALSE(rows[0].ended_sleep()) << "it took a CPU";
	EXPECT_EQ(rows[0].origin, Origin::OthersTask);
	EXPECT_EQ(rows[1].total_ns, 30u) << "the rest is its own";
	EXPECT_TRUE(rows[1].ended_sleep());
	EXPECT_EQ(rows[1].origin, Origin::OwnThread);
	EXPECT_EQ(culprits.sums().asleep_ns, 100u);
	path.late_wakers[0].ns = 100;
	Culprits all;
	all.add(path, threads());
	EXPECT_EQ(all.top(SIZE_MAX).size(), 1u) << "nothing is left of the waker's";
}

TEST(Culprits, CountAMessageOnceHoweverOftenTheyDelayedIt)
{
	const path::Culprit hog{path::Culprit::Kind::Task, 9};
	const Path twice = path_of({{Layer::SenderKernel, 0, 10},
								{Layer::Blocked, 0, 7, Part::None, Provenance::Exact, hog},
								{Layer::SenderKernel, 0, 10},
								{Layer::Blocked, 0, 5, Part::None, Provenance::Exact, hog}});
	Culprits culprits;
	culprits.add(twice, threads());
	culprits.add(twice, threads());
	const auto rows = culprits.top(99);
	ASSERT_EQ(rows.size(), 1u);
	EXPECT_EQ(rows[0].segments, 4u);
	EXPECT_EQ(rows[0].messages, 2u);
}

TEST(Culprits, AddUpToTheLayersOfDelay)
{
	Culprits culprits;
	culprits.add(delayed(), threads());
	const Culprits::Sums sums = culprits.sums();
	EXPECT_EQ(sums.waiting_ns, 50u) << "runqueue and preempted";
	EXPECT_EQ(sums.interrupted_ns, 4u);
	EXPECT_EQ(sums.asleep_ns, 7u);
	uint64_t rows_ns = 0;
	for (const CulpritRow &row : culprits.top(99))
		rows_ns += row.total_ns;
	EXPECT_EQ(rows_ns, sums.total_ns());
}

TEST(Culprits, HaveTheKernelsNames)
{
	using Kind = path::Culprit::Kind;
	EXPECT_EQ(path::culprit_name({Kind::Interrupt, 3, ICEPATH_INTERRUPT_SOFTIRQ}, {}), "NET_RX softirq");
	EXPECT_EQ(path::culprit_name({Kind::Interrupt, 99, ICEPATH_INTERRUPT_SOFTIRQ}, {}), "softirq 99");
	EXPECT_EQ(path::culprit_name({Kind::Interrupt, 24, ICEPATH_INTERRUPT_DEVICE}, {}), "interrupt 24");
	EXPECT_EQ(path::culprit_name({Kind::Interrupt, 0, 200}, {}), "interrupt of kind 200");
	const auto of_timer = [](uint8_t timer) {
		return path::culprit_name({Kind::Interrupt, 0, ICEPATH_INTERRUPT_TIMER, path::Culprit::Work::NotTold, timer},
								  {});
	};
	EXPECT_EQ(of_timer(ICEPATH_TIMER_NOT_TOLD), "timer interrupt");
	EXPECT_EQ(of_timer(ICEPATH_TIMER_TICK), "timer interrupt");
	EXPECT_EQ(of_timer(ICEPATH_TIMER_PERF), "timer interrupt (a perf event's timer)");
	EXPECT_EQ(path::culprit_name({Kind::Task, 0, 0}, {}), "idle task");
	EXPECT_EQ(path::culprit_name({Kind::Task, 7, 0}, {}), "task 7");
}

TEST(Hops, AWayByThreadsHasThemInOrder)
{
	Breakdown breakdown;
	breakdown.add(path_of({{Layer::SenderUser, 0, 10}, {Layer::ReceiverUser, 1, 30}}), threads());
	EXPECT_TRUE(hops(breakdown).empty()) << "from sender to receiver at once";
	breakdown.add(path_of({{Layer::SenderUser, 0, 20},
						   {Layer::Wakeup, 1, 40},
						   {Layer::RelayUser, 1, 60},
						   {Layer::ReceiverUser, 2, 50}}),
				  threads());
	const std::vector<Hop> way = hops(breakdown);
	ASSERT_EQ(way.size(), 3u);
	EXPECT_EQ(way[0].role, path::Role::Sender);
	EXPECT_DOUBLE_EQ(way[0].mean_ns, 15);
	EXPECT_EQ(way[1].role, path::Role::Relay);
	EXPECT_EQ(way[1].threads, "broker");
	EXPECT_DOUBLE_EQ(way[1].mean_ns, 50);
	EXPECT_EQ(way[2].role, path::Role::Receiver);
	EXPECT_EQ(way[2].threads, "rx/broker") << "the receiver of either message, by time";
	EXPECT_DOUBLE_EQ(way[2].mean_ns, 40);
}

TEST(Hops, ThoseOfFewMessagesStandTogether)
{
	Breakdown breakdown;
	for (int i = 0; i < 99; i++)
		breakdown.add(path_of({{Layer::SenderUser, 0, 10}, {Layer::RelayUser, 1, 20}, {Layer::ReceiverUser, 2, 30}}),
					  threads());
	breakdown.add(path_of({{Layer::SenderUser, 0, 10},
						   {Layer::RelayUser, 1, 20},
						   {Layer::RelayUser, 2, 200},
						   {Layer::RelayUser, 3, 300},
						   {Layer::ReceiverUser, 4, 30}}),
				  threads());
	const std::vector<Hop> way = hops(breakdown);
	ASSERT_EQ(way.size(), 4u);
	EXPECT_EQ(way[1].threads, "broker");
	EXPECT_EQ(way[2].threads, kRareHops);
	EXPECT_DOUBLE_EQ(way[2].mean_ns, 5) << "of all, as at the others";
	EXPECT_EQ(way[3].role, path::Role::Receiver);
	breakdown.add(path_of({{Layer::SenderUser, 0, 10}, {Layer::ReceiverUser, 1, 30}}), threads());
	EXPECT_EQ(hops(breakdown).back().threads, "rx") << "the broker received one of a hundred";
}

} // namespace
} // namespace icepath::analysis
