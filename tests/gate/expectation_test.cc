// SPDX-License-Identifier: Apache-2.0
#include "profiler/gate/expectation.h"

#include <gtest/gtest.h>

#include "profiler/failure.h"

namespace icepath::gate {
namespace {

Expectation parsed(const std::string &text) { return parse_expectation(text, "test"); }

std::string refusal(const std::string &text)
{
	try {
		parsed(text);
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		return failure.what();
	}
	return "accepted: " + text;
}

TEST(Expectation, HasAFigureAComparisonAndALimit)
{
	const Expectation p50 = parsed("  p50<40us ");
	EXPECT_EQ(p50.figure, Figure::P50);
	EXPECT_EQ(p50.comparison, Comparison::Below);
	EXPECT_EQ(p50.limit, 40'000);
	EXPECT_EQ(p50.text, "p50<40us");
	EXPECT_FALSE(p50.compares());
	EXPECT_EQ(parsed("p99.9 <= 1.5 ms").figure, Figure::P99_9);
	EXPECT_EQ(parsed("p99.9 <= 1.5 ms").limit, 1'500'000);
	EXPECT_EQ(parsed("max < 2s").limit, 2e9);
	EXPECT_EQ(parsed("mean < 7µs").limit, 7000);
	EXPECT_EQ(parsed("cpu < 900ns").limit, 900);
	EXPECT_EQ(parsed("rate >= 90k/s").limit, 90'000);
	EXPECT_EQ(parsed("rate > 2/s").comparison, Comparison::Above);
}

TEST(Expectation, EachFigureHasItsNameAtItsPlace)
{
	for (size_t i = 0; i < kFigures.size(); ++i)
		EXPECT_EQ(static_cast<size_t>(kFigures[i].figure), i) << kFigures[i].name;
}

TEST(Expectation, LostIsANumberOrAShare)
{
	EXPECT_EQ(parsed("lost == 0").comparison, Comparison::Equal);
	EXPECT_FALSE(parsed("lost == 0").is_share);
	EXPECT_TRUE(parsed("lost < 0.5%").is_share);
	EXPECT_DOUBLE_EQ(parsed("lost < 0.5 %").limit, 0.005);
}

TEST(Expectation, LayersAndKeysStandInParentheses)
{
	EXPECT_EQ(parsed("layer(receiver.kernel) < 9us").layer, model::Layer::ReceiverKernel);
	EXPECT_EQ(parsed("tail99( runqueue ) < 30us").layer, model::Layer::Runqueue);
	EXPECT_EQ(parsed("tail99(runqueue) < 30us").figure, Figure::TailLayer);
	const Expectation ratio = parsed("ratio(udp pingpong block processes 64B own qos=(depth=4)) < 0.9");
	EXPECT_EQ(ratio.key, "udp pingpong block processes 64B own qos=(depth=4)");
	EXPECT_EQ(ratio.limit, 0.9);
}

TEST(Expectation, ComparesBuildsByAShare)
{
	const Expectation slower = parsed("p50 slower < 3%");
	EXPECT_EQ(slower.change, Change::Slower);
	EXPECT_TRUE(slower.compares());
	EXPECT_DOUBLE_EQ(slower.limit, 0.03);
	EXPECT_EQ(parsed("layer(wakeup) faster >= 10%").change, Change::Faster);
}

TEST(Expectation, SaysWhatIsWrong)
{
	const std::pair<const char *, const char *> all[] = {
		{"", "must begin with a figure"},
		{"p51 < 40us", "must begin with a figure"},
		{"p50", "needs one of <, <=, >, >=, =="},
		{"p50 != 40us", "needs one of"},
		{"p50 =< 40us", "needs one of"},
		{"p50 < ", "isn't a number"},
		{"p50 < -1us", "isn't a number"},
		{"p50 < -0us", "isn't a number"},
		{"p50 < nanus", "isn't a number"},
		{"p50 < infs", "isn't a number"},
		{"p50 < 1e999s", "isn't a number"},
		{"p50 < 1e308s", "too large"},
		{"p50 < 40", "must be a time"},
		{"p50 < 40us or so", "must be a time"},
		{"p50 < 40 %", "must be a time"},
		{"p50 == 40us", "only lost"},
		{"p50 slowr < 3%", "stands where"},
		{"p50 slower < 3us", "a share"},
		{"p50 slower < 3", "a share"},
		{"lost slower == 0%", "only lost"},
		{"lost < 5 messages", "a number of messages"},
		{"rate > 90k", "messages per second"},
		{"layer < 4us", "needs a layer"},
		{"layer(runque) < 4us", "isn't one of the layers"},
		{"layer(runqueue < 4us", "needs a layer"},
		{"ratio() < 1", "the key is empty"},
		{"ratio < 1", "needs the key"},
		{"ratio(tcp) < 1us", "a number, as 0.9"},
		{"ratio(tcp) slower < 3%", "already compares"},
	};
	for (const auto &[text, why] : all) {
		EXPECT_NE(refusal(text).find(why), std::string::npos) << refusal(text);
		EXPECT_TRUE(refusal(text).starts_with("test: ")) << refusal(text);
	}
	EXPECT_NE(refusal(std::string(2000, ' ') + "p50 < 4us" + std::string(2000, 'x')).find("bytes"), std::string::npos);
}

} // namespace
} // namespace icepath::gate
