// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/difference.h"

#include <gtest/gtest.h>

#include <random>

#include "profiler/analysis/layer_style.h"
#include "profiler/explain/remedies.h"
#include "profiler/text/cause_lines.h"
#include "profiler/text/difference_table.h"

namespace icepath::explain {
namespace {

using model::Layer;
using model::Part;

path::Observations four_threads()
{
	path::Observations seen;
	for (const auto &[tid, name] :
		 {std::pair<uint32_t, const char *>{1, "tx"}, {2, "library"}, {3, "daemon"}, {9, "rx"}})
		seen.threads[tid].name = name;
	return seen;
}

struct ThreadPiece {
	Layer layer;
	Part part;
	uint16_t hop;
	uint32_t tid;
	uint64_t ns;
};

path::Path path_by_thread(const std::vector<ThreadPiece> &pieces)
{
	path::Path path;
	path.send_ns = path.recv_ns = 1000;
	for (const ThreadPiece &piece : pieces) {
		path::Segment segment{piece.layer, piece.part, piece.hop, piece.tid, {}, {}, {}};
		segment.begin.at_ns = path.recv_ns;
		segment.end.at_ns = path.recv_ns += piece.ns;
		path.segments.push_back(segment);
	}
	return path;
}

// Each block has `messages` of these pieces, which `scale` makes longer.
analysis::Breakdown breakdown_of(const std::vector<ThreadPiece> &pieces, const std::vector<double> &scale,
								 uint64_t messages = 3)
{
	analysis::Breakdown breakdown;
	const path::Observations seen = four_threads();
	for (size_t block = 0; block < scale.size(); ++block) {
		std::vector<ThreadPiece> scaled = pieces;
		for (ThreadPiece &piece : scaled)
			piece.ns = static_cast<uint64_t>(static_cast<double>(piece.ns) * scale[block]);
		for (uint64_t message = 0; message < messages; ++message)
			breakdown.add(path_by_thread(scaled), seen);
		breakdown.end_block(messages, static_cast<uint32_t>(block));
	}
	return breakdown;
}

const std::vector<double> kEight = {1, 1.1, 0.9, 1.2, 1, 0.8, 1, 1.05};

// Straight from sender to receiver, and by a thread of the library and a daemon.
const std::vector<ThreadPiece> kDirect = {{Layer::SenderUser, Part::None, 0, 1, 1000},
										  {Layer::SenderKernel, Part::None, 0, 1, 2000},
										  {Layer::Wakeup, Part::None, 1, 9, 1500},
										  {Layer::Runqueue, Part::None, 1, 9, 500},
										  {Layer::ReceiverUser, Part::None, 1, 9, 300}};
const std::vector<ThreadPiece> kRelayed = {
	{Layer::SenderUser, Part::None, 0, 1, 1000},   {Layer::Wakeup, Part::None, 1, 2, 4000},
	{Layer::RelayUser, Part::None, 1, 2, 900},     {Layer::Wakeup, Part::None, 2, 3, 7000},
	{Layer::Runqueue, Part::IdleExit, 2, 3, 600},  {Layer::RelayKernel, Part::None, 2, 3, 800},
	{Layer::SenderKernel, Part::None, 0, 1, 2000}, {Layer::Wakeup, Part::None, 3, 9, 1500},
	{Layer::ReceiverUser, Part::None, 3, 9, 300}};

const DifferenceRow *row_of(const Difference &difference, Layer layer, path::Role role, uint16_t relay = 0)
{
	for (const KindDifference &kind : difference.kinds)
		for (const DifferenceRow &row : kind.rows)
			if (row.layer == layer && row.role == role && row.relay == relay)
				return &row;
	return nullptr;
}

TEST(Difference, HasEachWakingByItself)
{
	const analysis::Breakdown a = breakdown_of(kRelayed, std::vector<double>(8, 1)),
							  b = breakdown_of(kDirect, std::vector<double>(8, 1));
	const Difference difference = compare({a, analysis::Code::OfLibrary}, {b, analysis::Code::OfSides});
	EXPECT_EQ(difference.of.a_ns, 18'100u);
	EXPECT_EQ(difference.of.b_ns, 5'300u);
	ASSERT_FALSE(difference.kinds.empty());
	EXPECT_EQ(difference.kinds[0].kind, analysis::LayerKind::Waking);
	EXPECT_EQ(difference.kinds[0].of.ns(), 4000 + 7000 + 600) << "leaving idle is waking; the receiver's is alike";
	const DifferenceRow *daemon = row_of(difference, Layer::Wakeup, path::Role::Relay, 2);
	ASSERT_TRUE(daemon);
	EXPECT_EQ(daemon->of.ns(), 7000);
	EXPECT_EQ(daemon->threads[0], "daemon");
	EXPECT_EQ(daemon->threads[1], "");
	EXPECT_EQ(text::row_text(*daemon, true), "wakeup at relay 2 (daemon)");
	const DifferenceRow *receiver = row_of(difference, Layer::Wakeup, path::Role::Receiver);
	ASSERT_TRUE(receiver);
	EXPECT_EQ(receiver->of.ns(), 0) << "the receiver is one place, whatever its hop";
	EXPECT_EQ(receiver->threads[1], "rx");
	const std::string words = text::most_of_it(difference);
	EXPECT_EQ(words, "Of that, waking 11.6 µs (91 % ±0), mostly wakeup at relay 2 (daemon)");
}

// One is a library's and the other isn't: then the code is of two kinds.
TEST(Difference, TellsLibraryFromOwnCode)
{
	const analysis::Breakdown a = breakdown_of(kDirect, kEight), b = breakdown_of(kDirect, kEight);
	const Difference difference = compare({a, analysis::Code::OfLibrary}, {b, analysis::Code::OfSides});
	EXPECT_EQ(difference.of.ns(), 0);
	const auto of = [&](analysis::LayerKind kind) {
		const auto found = std::ranges::find(difference.kinds, kind, &KindDifference::kind);
		return found == difference.kinds.end() ? 0 : found->of.ns();
	};
	EXPECT_GT(of(analysis::LayerKind::Library), 1200);
	EXPECT_EQ(of(analysis::LayerKind::Library), -of(analysis::LayerKind::YourCode));
}

TEST(Difference, IsAsCertainAsTheBlocksAreAlike)
{
	std::vector<ThreadPiece> more = kDirect;
	more[2].ns += 3000;
	const analysis::Breakdown a = breakdown_of(more, kEight), b = breakdown_of(kDirect, kEight);
	const Difference difference = compare({a, analysis::Code::OfSides}, {b, analysis::Code::OfSides});
	const DifferenceRow *wakeup = row_of(difference, Layer::Wakeup, path::Role::Receiver);
	ASSERT_TRUE(wakeup && wakeup->of.interval && wakeup->of.share_interval);
	EXPECT_TRUE(wakeup->of.is_told());
	EXPECT_LT(wakeup->of.interval->low, 3000);
	EXPECT_GT(wakeup->of.interval->high, 3000);
	EXPECT_NEAR(difference.share(wakeup->of), 1, 0.001);
	EXPECT_NEAR(wakeup->of.share_interval->low, 1, 0.01) << "all of the difference, however long that is";
	const DifferenceRow *kernel = row_of(difference, Layer::SenderKernel, path::Role::Sender);
	ASSERT_TRUE(kernel && kernel->of.interval);
	EXPECT_FALSE(kernel->of.is_told());
}

// Whatever the paths are, rows add up to their kind, kinds to the sum, and the sum is the difference of the means.
TEST(Difference, AddsUpToTheNanosecond)
{
	std::mt19937_64 random(7);
	const path::Observations seen = four_threads();
	for (int round = 0; round < 200; ++round) {
		std::array<analysis::Breakdown, 2> sides;
		for (analysis::Breakdown &side : sides)
			for (uint32_t block = 0; block < 1 + random() % 9; ++block) {
				const uint64_t messages = 1 + random() % 7;
				for (uint64_t message = 0; message < messages; ++message) {
					std::vector<ThreadPiece> pieces;
					const auto last = static_cast<uint16_t>(1 + random() % 4);
					for (uint16_t hop = 0; hop <= last; ++hop)
						for (uint64_t piece = 0; piece < 1 + random() % 3; ++piece)
							pieces.push_back({static_cast<Layer>(random() % model::kLayerCount),
											  static_cast<Part>(random() % model::kPartCount), hop,
											  static_cast<uint32_t>(hop + 1), random() % 100'000});
					side.add(path_by_thread(pieces), seen);
				}
				side.end_block(messages + random() % 50, block);
			}
		const auto any = [&] { return static_cast<analysis::Code>(random() % 3); };
		const Difference difference = compare({sides[0], any()}, {sides[1], any()});
		EXPECT_NEAR(static_cast<double>(difference.of.a_ns), sides[0].mean_ns(), 1);
		EXPECT_NEAR(static_cast<double>(difference.of.b_ns), sides[1].mean_ns(), 1);
		uint64_t a_ns = 0, b_ns = 0;
		for (const KindDifference &kind : difference.kinds) {
			uint64_t rows_a_ns = 0, rows_b_ns = 0;
			for (const DifferenceRow &row : kind.rows) {
				rows_a_ns += row.of.a_ns;
				rows_b_ns += row.of.b_ns;
			}
			ASSERT_EQ(rows_a_ns, kind.of.a_ns);
			ASSERT_EQ(rows_b_ns, kind.of.b_ns);
			a_ns += kind.of.a_ns;
			b_ns += kind.of.b_ns;
		}
		ASSERT_EQ(a_ns, difference.of.a_ns);
		ASSERT_EQ(b_ns, difference.of.b_ns);
	}
}

TEST(Difference, IsATableOfWhatDiffers)
{
	const analysis::Breakdown a = breakdown_of(kRelayed, std::vector<double>(8, 1)),
							  b = breakdown_of(kDirect, std::vector<double>(8, 1));
	text::Page page({false, true}, 100);
	text::add_difference(page, compare({a, analysis::Code::OfLibrary}, {b, analysis::Code::OfLibrary}),
						 {"fast", "plain", "longer by", "of it"});
	const std::string text = page.take();
	for (const char *line : {
			 "  mean µs                           fast  plain  longer by         of it\n",
			 "  waking                          13.100  1.500    +11.600 ±0.000   91 % ±0  ░░░░░░░░░░░░░░░\n",
			 "    wakeup              relay 2    7.000  0.000     +7.000 ±0.000   55 % ±0  daemon\n",
			 "  everything else                  3.300  3.300     +0.000           0 %\n",
			 "  sum                             18.100  5.300    +12.800 ±0.000  100 %     = recv - send\n",
		 })
		EXPECT_NE(text.find(line), std::string::npos) << line << "isn't in\n" << text;
}

// Kernel +3.0 µs and user -2.5 µs: "600 % of it" says nothing.
TEST(Difference, HasNoSharesWhereAPartIsMoreThanTheWhole)
{
	std::vector<ThreadPiece> other = kDirect;
	other[0].ns += 2500;
	std::vector<ThreadPiece> more = kDirect;
	more[1].ns += 3000;
	const std::vector<double> alike(8, 1);
	const analysis::Breakdown a = breakdown_of(more, alike), b = breakdown_of(other, alike),
							  plain = breakdown_of(kDirect, alike);
	EXPECT_TRUE(compare({a, analysis::Code::OfSides}, {plain, analysis::Code::OfSides}).has_shares());
	const Difference difference = compare({a, analysis::Code::OfSides}, {b, analysis::Code::OfSides});
	ASSERT_EQ(difference.of.ns(), 500);
	EXPECT_FALSE(difference.has_shares());
	EXPECT_FALSE(compare({a, analysis::Code::OfSides}, {a, analysis::Code::OfSides}).has_shares()) << "of nothing";
	EXPECT_EQ(text::most_of_it(difference),
			  "It takes longer in: kernel +3.00 µs, sender.kernel. Some others take less");
	text::Page page({false, true}, 100);
	text::add_difference(page, difference, {"fast", "plain", "longer by", "of it"});
	text::add_next(page,
				   text::steps_of({{RemedyId::Tick, 6, 3000, {Way::StopTick}}}, {}, "it", difference.has_shares()));
	const std::string text = page.take();
	EXPECT_EQ(text.find('%'), std::string::npos) << text;
	EXPECT_EQ(text.find("of it "), std::string::npos) << text;
	EXPECT_NE(text.find("  kernel           5.000  2.000     +3.000 ±0.000  ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓\n"), std::string::npos)
		<< text;
	EXPECT_NE(text.find("without shares: a row differs by more than the sum"), std::string::npos) << text;
	EXPECT_NE(text.find("next      3.00 µs of it: the timer tick and what it starts: nohz_full="), std::string::npos)
		<< text;
}

// A row is more than the whole, but no kind takes less.
TEST(Difference, SaysThatOthersTakeLessWhereSomeDo)
{
	Difference difference;
	difference.of = {1500, 1000, stats::Interval{400, 600}, {}};
	DifferenceRow more{model::Layer::SenderKernel, Part::None, path::Role::Sender, 0, {}, {3000, 0, {}, {}}},
		less{model::Layer::Network, Part::None, path::Role::Receiver, 0, {}, {0, 2500, {}, {}}};
	difference.kinds = {{analysis::LayerKind::Kernel, {more, less}, difference.of}};
	ASSERT_FALSE(difference.has_shares());
	EXPECT_TRUE(text::most_of_it(difference).starts_with("It takes longer in: kernel +0.5"))
		<< text::most_of_it(difference);
	EXPECT_EQ(text::most_of_it(difference).find("take less"), std::string::npos) << text::most_of_it(difference);
}

// Sender and receiver have rows of one layer, also where no relay makes a column for places.
TEST(Difference, TellsRowsOfOneLayerApart)
{
	std::vector<ThreadPiece> interrupted = kDirect;
	interrupted.insert(interrupted.begin() + 1, {Layer::Interrupt, Part::None, 0, 1, 4000});
	interrupted.push_back({Layer::Interrupt, Part::None, 1, 9, 2000});
	const std::vector<double> alike(8, 1);
	const analysis::Breakdown a = breakdown_of(interrupted, alike), b = breakdown_of(kDirect, alike);
	const Difference difference = compare({a, analysis::Code::OfSides}, {b, analysis::Code::OfSides});
	text::Page page({false, true}, 100);
	text::add_difference(page, difference, {"fast", "plain", "longer by", "of it"});
	const std::string text = page.take();
	EXPECT_NE(text.find("    interrupt (sender)     4.000"), std::string::npos) << text;
	EXPECT_NE(text.find("    interrupt (receiver)   2.000"), std::string::npos) << text;
	EXPECT_EQ(text::row_text(difference.kinds[0].rows[0], false), "interrupt (sender)");
	const analysis::Breakdown relayed = breakdown_of(kRelayed, alike);
	const Difference by_relay = compare({relayed, analysis::Code::OfSides}, {b, analysis::Code::OfSides});
	page.line();
	text::add_difference(page, by_relay, {"fast", "plain", "longer by", "of it"});
	EXPECT_EQ(page.take().find("wakeup ("), std::string::npos) << "their column has the place";
}

TEST(DifferenceTable, SaysWhatAQuestionMarkIs)
{
	Difference difference;
	DifferenceRow row{model::Layer::Runqueue, model::Part::None, path::Role::Receiver, 0, {}, {}};
	row.of.a_ns = 1000;
	row.of.interval = row.of.share_interval = stats::Interval{0.9, 1.1};
	const auto printed = [&] {
		difference.kinds = {{analysis::LayerKind::WaitingForCpu, {row}, row.of}};
		difference.of = row.of;
		text::Page page({false, true}, 100);
		text::add_difference(page, difference, {"tail", "typical", "growth", "of growth", true});
		return page.take();
	};
	EXPECT_EQ(printed().find("±?"), std::string::npos) << printed();
	row.of.share_interval = std::nullopt;
	EXPECT_NE(printed().find("\n  ±?: too few blocks have such time\n"), std::string::npos) << printed();
}

} // namespace
} // namespace icepath::explain
