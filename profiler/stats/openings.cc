// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/openings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "profiler/stats/distributions.h"

namespace icepath::stats {
namespace {

struct Sum {
	double count = 0, sum = 0;
	void add(double value)
	{
		++count;
		sum += value;
	}
	double mean() const { return sum / count; }
};

std::optional<Openings::Difference> difference_of(const std::vector<OpeningBlock> &blocks)
{
	std::array<Sum, 2> treatments;
	for (const OpeningBlock &block : blocks)
		treatments[block.treated].add(std::log(block.value));
	std::map<uint32_t, Sum> openings;
	Sum all;
	const auto rest = [&](const OpeningBlock &block) {
		return std::log(block.value) - treatments[block.treated].mean();
	};
	for (const OpeningBlock &block : blocks) {
		openings[block.opening].add(rest(block));
		all.add(rest(block));
	}
	const bool both = treatments[0].count > 0 && treatments[1].count > 0;
	const double count = static_cast<double>(openings.size());
	const double freedom = all.count - count - (both ? 1 : 0);
	if (openings.size() < 2 || freedom < 1)
		return std::nullopt;
	double between = 0, within = 0, squares = 0;
	for (const auto &[number, sum] : openings) {
		between += sum.count * (sum.mean() - all.mean()) * (sum.mean() - all.mean());
		squares += sum.count * sum.count;
	}
	for (const OpeningBlock &block : blocks) {
		const double away = rest(block) - openings.at(block.opening).mean();
		within += away * away;
	}
	between /= count - 1;
	within /= freedom;
	if (!(within > 0))
		return std::nullopt;
	// Blocks per opening: the coefficient in the expected mean square for openings of unequal size.
	const double blocks_each = (all.count - squares / all.count) / (count - 1);
	Openings::Difference result;
	result.f = between / within;
	result.p = f_beyond(result.f, count - 1, freedom);
	result.between_sd = std::sqrt(std::max(0.0, between - within) / blocks_each);
	result.within_sd = std::sqrt(within);
	return result;
}

// The largest share of squares that may remain when openings are split into the best two groups. Normally or evenly
// spread openings fall below it in one of a hundred cases: the more openings, the smaller a gap suffices. From
// simulation; below 7 openings no gap suffices.
double most_left_over(size_t openings) { return 0.15 - 0.9 / static_cast<double>(openings); }

std::vector<Mode> modes_of(const std::vector<double> &values)
{
	constexpr size_t kLeast = 2; // openings of a mode: a single one is an accident
	if (values.size() < 2 * kLeast)
		return {};
	std::vector<double> logs;
	for (const double value : values)
		logs.push_back(std::log(value));
	std::ranges::sort(logs);
	const auto squares = [&](size_t begin, size_t end, double &mean) {
		Sum sum;
		for (size_t i = begin; i < end; ++i)
			sum.add(logs[i]);
		mean = sum.mean();
		double squared = 0;
		for (size_t i = begin; i < end; ++i)
			squared += (logs[i] - mean) * (logs[i] - mean);
		return squared;
	};
	double mean = 0;
	const double all = squares(0, logs.size(), mean);
	double least = all;
	std::vector<Mode> modes;
	for (size_t split = kLeast; split + kLeast <= logs.size(); ++split) {
		double low = 0, high = 0;
		const double left = squares(0, split, low) + squares(split, logs.size(), high);
		if (left >= least)
			continue;
		least = left;
		modes = {{std::exp(low), split}, {std::exp(high), logs.size() - split}};
	}
	return least <= most_left_over(logs.size()) * all ? modes : std::vector<Mode>();
}

} // namespace

Openings look_at_openings(const std::vector<OpeningBlock> &all)
{
	std::vector<OpeningBlock> blocks;
	std::ranges::copy_if(all, std::back_inserter(blocks), [](const OpeningBlock &block) { return block.value > 0; });
	std::map<uint32_t, Sum> untreated;
	for (const OpeningBlock &block : blocks)
		if (!block.treated)
			untreated[block.opening].add(std::log(block.value));
	Openings result;
	for (const auto &[number, sum] : untreated)
		result.values.push_back(std::exp(sum.mean()));
	result.difference = difference_of(blocks);
	if (result.differ())
		result.modes = modes_of(result.values);
	return result;
}

} // namespace icepath::stats
