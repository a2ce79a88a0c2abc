// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_difference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "profiler/stats/far_tail.h"

namespace icepath::stats {
namespace {

size_t having(const std::vector<double> &sums)
{
	return static_cast<size_t>(std::ranges::count_if(sums, [](double sum) { return sum > 0; }));
}

} // namespace

RedrawnDifference::RedrawnDifference(const WeightedBlocks &a, const WeightedBlocks &b)
{
	std::vector<uint32_t> numbers = a.clusters;
	numbers.insert(numbers.end(), b.clusters.begin(), b.clusters.end());
	std::vector<size_t> by_time(numbers.size());
	std::iota(by_time.begin(), by_time.end(), size_t{0});
	std::ranges::stable_sort(by_time, {}, [&](size_t block) { return numbers[block]; });
	a_.order.resize(a.weights.size());
	b_.order.resize(b.weights.size());
	std::vector<uint32_t> sorted;
	for (size_t place = 0; place < by_time.size(); ++place) {
		const size_t block = by_time[place];
		sorted.push_back(numbers[block]);
		(block < a_.order.size() ? a_.order[block] : b_.order[block - a_.order.size()]) = place;
	}
	a_.weights.resize(sorted.size()); // before placed(), which has their number
	b_.weights.resize(sorted.size());
	a_.weights = a_.placed(a.weights);
	b_.weights = b_.placed(b.weights);
	a_.all = std::reduce(a_.weights.begin(), a_.weights.end());
	b_.all = std::reduce(b_.weights.begin(), b_.weights.end());
	draws_ = BlockDraws(numbered(sorted, sorted.size()), [this](const Weights &drawn) {
		return sum_of(a_.weights, drawn) > 0 && sum_of(b_.weights, drawn) > 0;
	});
}

std::vector<double> RedrawnDifference::OneMean::placed(const std::vector<double> &sums) const
{
	std::vector<double> all_blocks(weights.size(), 0);
	for (size_t block = 0; block < order.size(); ++block)
		all_blocks[order[block]] = sums.at(block);
	return all_blocks;
}

double RedrawnDifference::OneMean::of(const std::vector<double> &placed, const Weights &drawn) const
{
	return sum_of(placed, drawn) / sum_of(weights, drawn);
}

std::optional<double> RedrawnDifference::half_width(const Placed &sums, const Placed &part) const
{
	if (std::max(having(part.a), having(part.b)) < kBlocksBeyond || !draws_.enough())
		return std::nullopt;
	std::vector<double> evidence; // what each block adds to both means
	for (size_t place = 0; place < part.a.size(); ++place)
		evidence.push_back(part.a[place] / a_.all + part.b[place] / b_.all);
	return draws_.half_width([&](const Weights &drawn) { return a_.of(sums.a, drawn) - b_.of(sums.b, drawn); },
							 evidence);
}

double RedrawnDifference::difference(const TwoSums &sums) const
{
	const auto mean = [](const std::vector<double> &its, double weight) {
		return weight > 0 ? std::reduce(its.begin(), its.end()) / weight : 0;
	};
	return mean(sums.a, a_.all) - mean(sums.b, b_.all);
}

std::optional<Interval> RedrawnDifference::interval(const TwoSums &sums) const
{
	const Placed all = placed(sums);
	const auto half = half_width(all, all);
	const double middle = difference(sums);
	return half ? std::optional(Interval{middle - *half, middle + *half}) : std::nullopt;
}

std::optional<Interval> RedrawnDifference::share_interval(const TwoSums &part, const TwoSums &whole) const
{
	const double of_all = difference(whole), share = difference(part) / of_all;
	const Placed its = placed(part);
	Placed pushes = placed(whole);
	const auto less = [share](double sum, double of_whole) { return sum - share * of_whole; };
	std::ranges::transform(its.a, pushes.a, pushes.a.begin(), less);
	std::ranges::transform(its.b, pushes.b, pushes.b.begin(), less);
	const auto half = half_width(pushes, its);
	return half ? std::optional(Interval{share - *half / std::abs(of_all), share + *half / std::abs(of_all)})
				: std::nullopt;
}

} // namespace icepath::stats
