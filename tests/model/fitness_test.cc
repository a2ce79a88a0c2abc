// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/fitness.h"

#include <gtest/gtest.h>

namespace icepath::model {
namespace {

const Quietness kSeen{
	{{1, 500'000'000, 100, 13'000'000, 198'000, {}, ""}, {0, 500'000'000, 10, 100'000, 9'000, {}, ""}}, {{61, 63}}, {}};

TEST(Fitness, IsForEachPurposeAgainstItsThreshold)
{
	const auto of = [](const Quietness &seen) {
		std::string text;
		for (const Fitness &one : fitness(seen))
			text += !one.fit ? '?' : *one.fit ? 'y' : 'n';
		return text; // medians, ranks, tails
	};
	EXPECT_EQ(of(kSeen), "yyn") << "2.6 % of the time is taken";
	EXPECT_EQ(of({{{0, 1'000'000'000, 10, 900'000, 90'000, {}, ""}}, {{61, 91}}, {}}), "yyy");
	EXPECT_EQ(of({{{0, 1'000'000'000, 10, 900'000, 100'000, {}, ""}}, {{61, 91}}, {}}), "yyn") << "one long gap";
	EXPECT_EQ(of({{{0, 1'000'000'000, 10, 1'000'000, 90'000, {}, ""}}, {{61, 91}}, {}}), "yyn") << "0.1 %";
	EXPECT_EQ(of({{{0, 1'000'000'000, 10, 50'000'000, 90'000, {}, ""}}, {{60, 90}}, {}}), "nnn")
		<< "5 %, and 1.5 times";
	EXPECT_EQ(of({{{0, 1'000'000'000, 10, 50'000'000, 90'000, {}, ""}}, {{61, 91}}, {}}), "nnn") << "5 %";
	EXPECT_EQ(of({{{0, 1'000'000'000, 10, 49'000'000, 90'000, {}, ""}}, {{60, 90}}, {}}), "ynn") << "1.5 times";
	EXPECT_EQ(of({{}, {{60, 61}}, {}}), "???") << "ranks need both";
	EXPECT_EQ(of({{{0, 1'000'000'000, 10, 900'000, 90'000, {}, ""}}, {}, {}}), "y?y");
	const CpuNoise calm{0, 1'000'000'000, 10, 900'000, 90'000, {}, ""};
	EXPECT_EQ(of({{calm}, {{61, 91}}, {{900'000, 1'000'000'000}}}), "yyy") << "a hypervisor's 0.09 % isn't added";
	EXPECT_EQ(of({{calm}, {{61, 91}}, {{1'000'000, 1'000'000'000}}}), "yyn") << "a hypervisor's 0.1 %";
	EXPECT_EQ(of({{calm}, {{61, 91}}, {{50'000'000, 1'000'000'000}}}), "nnn") << "the hypervisor's 5 %";
	EXPECT_EQ(of({}), "???") << "what wasn't measured isn't fit";
	EXPECT_EQ(fitness(kSeen)[0].taken.value().cpu, 1u) << "the worse one";
	EXPECT_DOUBLE_EQ(fitness(kSeen)[0].taken->share, 0.026);
	EXPECT_EQ(fitness(kSeen)[2].taken.value().longest_ns, 198'000u);
}

// A load that begins after the look.
TEST(Fitness, IsAlsoByWhatKeptWorkersFromRunning)
{
	const CpuNoise calm{0, 1'000'000'000, 10, 900'000, 90'000, {}, ""};
	const auto seen = [&](uint64_t kept_off_ns) {
		return Quietness{
			{calm},
			{{61, 91}},
			{},
			{{0, 9'000'000'000, 5, 0, 0, {}, ""}, {1, 1'000'000'000, 5, kept_off_ns, kept_off_ns, {}, ""}}};
	};
	const auto fits = [&](uint64_t kept_off_ns, size_t purpose) {
		return fitness(seen(kept_off_ns))[purpose].fit.value();
	};
	EXPECT_TRUE(fits(49'000'000, 0) && fits(49'000'000, 1));
	EXPECT_FALSE(fits(50'000'000, 0) || fits(50'000'000, 1)) << "5 %";
	EXPECT_TRUE(fits(990'000, 2)) << "one gap in a whole run may be long";
	EXPECT_FALSE(fits(1'000'000, 2)) << "0.1 %";
	const Taken taken = fitness(seen(50'000'000))[0].taken.value();
	EXPECT_TRUE(taken.during_run);
	EXPECT_EQ(taken.cpu, 1u);
	EXPECT_FALSE(fitness(seen(800'000))[0].taken->during_run) << "the look met more";
	EXPECT_FALSE(fitness(seen(990'000))[2].taken->during_run) << "tails fit: what is told is the longest gap";
}

} // namespace
} // namespace icepath::model
