// SPDX-License-Identifier: Apache-2.0
// The matrix must be able to fail: hand-made pairs of blocks, whose added time is where it belongs, or isn't.
#include "profiler/selftest/matrix.h"

#include <gtest/gtest.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "profiler/capture/probes.h"
#include "profiler/selftest/injections.h"
#include "profiler/selftest/matrix_text.h"

namespace icepath::selftest {
namespace {

using model::Layer;
using model::Part;

const Injection kHog = {
	"hog", "a task", {"uds-stream", 100}, {}, {}, {{Layer::Runqueue}, {Layer::Queue, Part::Preempted}}, "the-hog"};

struct Piece {
	Layer layer;
	Part part;
	double ns;
};

BlockMeans block(const std::vector<Piece> &pieces, double named_ns = 0)
{
	BlockMeans means;
	for (const Piece &piece : pieces) {
		means.layers_ns[static_cast<size_t>(piece.layer)][static_cast<size_t>(piece.part)] += piece.ns;
		means.latency_ns += piece.ns;
	}
	means.named_ns = named_ns;
	means.complete = means.messages = 20;
	return means;
}

// Blocks of 20 µs, and those in which the injection added `pieces`, with noise of up to 0.9 µs in another layer.
std::vector<BlockPair> pairs_with(const std::vector<Piece> &pieces, size_t count = 12)
{
	constexpr double kNoiseNs[] = {900, -900, 400, -400};
	std::vector<BlockPair> pairs;
	for (size_t i = 0; i < count; i++) {
		const auto usual = [](double noise_ns) {
			return std::vector<Piece>{{Layer::SenderKernel, Part::None, 10'000},
									  {Layer::Wakeup, Part::Ipi, 10'000 + noise_ns}};
		};
		std::vector<Piece> more = usual(kNoiseNs[i % std::size(kNoiseNs)]);
		more.insert(more.end(), pieces.begin(), pieces.end());
		pairs.push_back({block(usual(0)), block(more, 400'000)});
	}
	return pairs;
}

TEST(Matrix, AnInjectionLandsWhereItBelongs)
{
	const Row row =
		row_of(kHog, pairs_with({{Layer::Runqueue, Part::None, 400'000}, {Layer::Queue, Part::Preempted, 100'000}}));
	EXPECT_EQ(row.verdict, Verdict::Lands) << row.why;
	EXPECT_EQ(row.pairs, 12u);
	EXPECT_NEAR(row.in_place->median, 1, 0.01);
	EXPECT_NEAR(row.layers[static_cast<size_t>(Layer::Runqueue)]->median, 0.8, 0.01);
	EXPECT_NEAR(row.added_ns->median, 500'000, 2'000);
	EXPECT_NEAR(*row.named, 0.8, 1e-9);
	EXPECT_EQ(exit_code({row}), ExitCode::Ok);
}

TEST(Matrix, AWrongLayerIsExitCodeOne)
{
	const Row row = row_of(kHog, pairs_with({{Layer::Blocked, Part::None, 500'000}}));
	EXPECT_EQ(row.verdict, Verdict::Strays);
	EXPECT_NE(row.why.find("in blocked"), std::string::npos) << row.why;
	EXPECT_EQ(exit_code({row}), ExitCode::TargetMissed);
}

TEST(Matrix, AWrongPartOfTheRightLayerIsWrong)
{
	const Row row = row_of(kHog, pairs_with({{Layer::Queue, Part::Busy, 500'000}}));
	EXPECT_EQ(row.verdict, Verdict::Strays);
	EXPECT_NE(row.why.find("in queue"), std::string::npos) << row.why;
}

// 96 % in place is enough, 4 % in one other layer is too much.
TEST(Matrix, FourPercentElsewhereAreTooMuch)
{
	const Row row =
		row_of(kHog, pairs_with({{Layer::Runqueue, Part::None, 480'000}, {Layer::Interrupt, Part::None, 20'000}}));
	EXPECT_GE(row.in_place->median, 0.95);
	EXPECT_EQ(row.verdict, Verdict::Strays);
	EXPECT_NE(row.why.find("in interrupt"), std::string::npos) << row.why;
	EXPECT_EQ(exit_code({row}), ExitCode::TargetMissed);
}

TEST(Matrix, WhatDoesntStandOutIsUndecided)
{
	const Row nothing = row_of(kHog, pairs_with({}));
	EXPECT_EQ(nothing.verdict, Verdict::Undecided);
	EXPECT_EQ(exit_code({nothing}), ExitCode::TargetMissed);
	const Row few = row_of(kHog, pairs_with({{Layer::Runqueue, Part::None, 500'000}}, 5));
	EXPECT_EQ(few.verdict, Verdict::Undecided);
	EXPECT_NE(few.why.find("too few"), std::string::npos) << few.why;
	EXPECT_EQ(row_of(kHog, {}).verdict, Verdict::Undecided);
}

// Some percent of 15 µs are within the noise: neither straying nor landing is proved.
TEST(Matrix, WhatNoiseMayBeIsUndecided)
{
	const Row row =
		row_of(kHog, pairs_with({{Layer::Runqueue, Part::None, 15'000}, {Layer::Wakeup, Part::Ipi, 600}}, 8));
	EXPECT_EQ(row.verdict, Verdict::Undecided) << row.in_place->median;
}

TEST(Matrix, PathsThatAreUnknownProveNothing)
{
	std::vector<BlockPair> pairs = pairs_with({{Layer::Runqueue, Part::None, 500'000}});
	for (BlockPair &pair : pairs)
		pair.with.messages = 40;
	const Row row = row_of(kHog, pairs);
	EXPECT_EQ(row.verdict, Verdict::Undecided);
	EXPECT_NEAR(row.known, 0.5, 1e-9);
	EXPECT_NE(row.why.find("complete path"), std::string::npos) << row.why;
}

TEST(Matrix, WhatMayAddNothingWasntInjectedWhereItDoes)
{
	Injection idle = kHog;
	idle.why_nothing = "CPUs don't idle";
	const Row nothing = row_of(idle, pairs_with({}));
	EXPECT_EQ(nothing.verdict, Verdict::NotInjected);
	EXPECT_NE(nothing.why.find("CPUs don't idle"), std::string::npos) << nothing.why;
	EXPECT_EQ(exit_code({nothing}), ExitCode::MachineCannot);
	EXPECT_EQ(row_of(idle, pairs_with({{Layer::Blocked, Part::None, 500'000}})).verdict, Verdict::Strays);
}

TEST(Matrix, APathThatARelaysStampsContradictIsProof)
{
	std::vector<BlockPair> pairs = pairs_with({{Layer::Runqueue, Part::None, 500'000}});
	Injection relayed = kHog;
	relayed.stamped_relay = true;
	EXPECT_EQ(row_of(relayed, pairs).contradicted, 0u);
	EXPECT_EQ(row_of(relayed, pairs).verdict, Verdict::Lands);
	EXPECT_EQ(row_of(kHog, pairs).contradicted, std::nullopt);
	pairs[3].without.contradicted = 1;
	const Row row = row_of(relayed, pairs);
	EXPECT_EQ(row.verdict, Verdict::Strays);
	EXPECT_NE(row.why.find("contradict"), std::string::npos) << row.why;
	EXPECT_EQ(exit_code({row}), ExitCode::TargetMissed);
}

TEST(Matrix, WhatCantBeInjectedNeitherPassesNorFails)
{
	const Row not_here = not_injected(kHog, "no such thing here");
	const Row landed = row_of(kHog, pairs_with({{Layer::Runqueue, Part::None, 500'000}}));
	EXPECT_EQ(exit_code({landed, not_here}), ExitCode::Ok);
	EXPECT_EQ(exit_code({not_here}), ExitCode::MachineCannot);
	const std::string text = text_of({landed, not_here});
	EXPECT_NE(text.find("no such thing here"), std::string::npos) << text;
	EXPECT_NE(text.find("of 2: 1 lands, 0 strays, 0 undecided, 1 not injected"), std::string::npos) << text;
}

TEST(Matrix, WhatNoProbeTellsNeitherPassesNorFails)
{
	const Row untold = not_judged(kHog, "no such probe");
	const Row landed = row_of(kHog, pairs_with({{Layer::Runqueue, Part::None, 500'000}}));
	EXPECT_EQ(exit_code({landed, untold}), ExitCode::Ok);
	EXPECT_EQ(exit_code({untold}), ExitCode::MachineCannot);
	const std::string text = text_of({landed, untold});
	EXPECT_NE(text.find("no such probe"), std::string::npos) << text;
	EXPECT_NE(text.find("0 not injected, 1 not judged"), std::string::npos) << text;
}

TEST(Injections, NameProbesThatThereAre)
{
	for (const Injection &one : injections())
		if (*one.needs_probe) {
			EXPECT_LT(capture::number_of(one.needs_probe), capture::kProbes.size()) << one.name;
		}
}

TEST(Matrix, ItsJsonHasEveryLayerAndTheVerdict)
{
	const Row row = row_of(kHog, pairs_with({{Layer::Runqueue, Part::None, 500'000}}));
	const auto json =
		nlohmann::json::parse(json_of({row, not_injected(kHog, "why not")}, {"0", "now", {}, "", 8, {"one"}}));
	EXPECT_TRUE(json["passed"]);
	EXPECT_EQ(json["verdicts"]["lands"], 1);
	EXPECT_EQ(json["verdicts"]["not injected"], 1);
	const auto &first = json["injections"][0];
	EXPECT_EQ(first["verdict"], "lands");
	EXPECT_EQ(first["layers"].size(), model::kLayerCount);
	EXPECT_NEAR(first["layers"]["runqueue"]["share"]["median"].get<double>(), 1, 0.01);
	EXPECT_EQ(first["layers"]["runqueue"]["share"]["ci95"].size(), 2u);
	EXPECT_EQ(json["injections"][1]["verdict"], "not injected");
	EXPECT_TRUE(json["injections"][1]["added_ns"].is_null());
}

} // namespace
} // namespace icepath::selftest
