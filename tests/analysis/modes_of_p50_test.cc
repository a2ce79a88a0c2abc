// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "profiler/analysis/cell_modes.h"
#include "profiler/text/mode_words.h"

namespace icepath::analysis {
namespace {

// `up_to`: the share of messages up to each mode's end, with its interval. Modes are 1 µs wide.
CellResult cell_with_modes(const std::vector<std::pair<double, stats::Interval>> &up_to, uint64_t p50,
						   stats::Interval interval)
{
	CellResult cell;
	cell.times.latency.percentiles[0] = p50;
	cell.times.latency.intervals[0] = interval;
	for (size_t i = 0; i < up_to.size(); ++i) {
		CellMode &mode = cell.modes.all.emplace_back();
		mode.range.from_ns = i * 1000;
		mode.range.to_ns = i + 1 < up_to.size() ? i * 1000 + 999 : UINT64_MAX;
		mode.share_up_to = {static_cast<uint64_t>(1000 * up_to[i].first), 1000, up_to[i].second};
	}
	return cell;
}

TEST(ModesOfP50, AreThoseThatAnotherRunMayHaveItIn)
{
	const auto at = [](const CellResult &cell) {
		const auto of = modes_of_p50(cell);
		return of ? std::pair(of->first, of->last) : std::pair<size_t, size_t>(9, 9);
	};
	using Places = std::pair<size_t, size_t>;
	EXPECT_EQ(at(cell_with_modes({{0.7, {0.6, 0.8}}, {1, {1, 1}}}, 500, {480, 520})), Places(0, 0));
	EXPECT_EQ(at(cell_with_modes({{0.3, {0.2, 0.4}}, {1, {1, 1}}}, 1500, {1480, 1520})), Places(1, 1));
	EXPECT_EQ(at(cell_with_modes({{0.55, {0.45, 0.65}}, {1, {1, 1}}}, 500, {480, 520})), Places(0, 1))
		<< "by the shares";
	EXPECT_EQ(at(cell_with_modes({{0.45, {0.35, 0.55}}, {1, {1, 1}}}, 1500, {1480, 1520})), Places(0, 1))
		<< "by the shares";
	EXPECT_EQ(at(cell_with_modes({{0.7, {0.6, 0.8}}, {1, {1, 1}}}, 900, {700, 1200})), Places(0, 1)) << "by the p50";
	EXPECT_EQ(at(cell_with_modes({{0.2, {0.1, 0.3}}, {0.6, {0.45, 0.7}}, {1, {1, 1}}}, 1500, {1400, 1600})),
			  Places(1, 2));
	EXPECT_FALSE(lies_between_modes(cell_with_modes({{0.7, {0.6, 0.8}}, {1, {1, 1}}}, 500, {480, 520})));
	EXPECT_TRUE(lies_between_modes(cell_with_modes({{0.55, {0.45, 0.65}}, {1, {1, 1}}}, 500, {480, 520})));
	EXPECT_FALSE(lies_between_modes(CellResult()));
	EXPECT_EQ(text::p50_text(cell_with_modes({{0.7, {0.6, 0.8}}, {1, {1, 1}}}, 500, {480, 520})),
			  "the p50 lies in mode 1");
	EXPECT_EQ(text::p50_text(cell_with_modes({{0.7, {0.6, 0.8}}, {1, {1, 1}}}, 900, {700, 1200})),
			  "the p50 lies between modes 1 and 2");
}

} // namespace
} // namespace icepath::analysis
