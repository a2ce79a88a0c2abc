// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/redrawn_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "profiler/stats/hdr_histogram.h"

namespace icepath::stats {
namespace {

constexpr size_t kStride = 64; // at least

} // namespace

Clusters numbered(const std::vector<uint32_t> &numbers, size_t blocks)
{
	std::map<uint32_t, size_t> known;
	Clusters clusters;
	for (size_t i = 0; i < blocks; ++i) {
		const size_t cluster =
			numbers.empty() ? clusters.count : known.emplace(numbers.at(i), clusters.count).first->second;
		clusters.of_block.push_back(cluster);
		clusters.count = std::max(clusters.count, cluster + 1);
	}
	return clusters;
}

const Weights &Redraw::next()
{
	std::ranges::fill(drawn_, 0);
	for (size_t i = 0; i < drawn_.size(); ++i)
		++drawn_[static_cast<size_t>(uint64_t{random_()} * drawn_.size() >> 32)];
	for (size_t block = 0; block < weights_.size(); ++block)
		weights_[block] = drawn_[of_block_[block]];
	return weights_;
}

double sum_of(const std::vector<double> &values, const Weights &drawn)
{
	return std::inner_product(values.begin(), values.end(), drawn.begin(), 0.0);
}

double variance_over(const std::vector<Weights> &draws, size_t clusters,
					 const std::function<double(const Weights &)> &statistic)
{
	if (draws.size() < 2)
		return 0;
	Moments values;
	for (const Weights &drawn : draws)
		values.add(statistic(drawn));
	const auto count = static_cast<double>(clusters);
	return values.squares / (values.count - 1) * count / (count - 1);
}

RedrawnRun::RedrawnRun(const BlockValues &values) : count_(values.count())
{
	values_.reserve(values.kept());
	for (const BlockValues::Block &block : values.blocks()) {
		const auto number = static_cast<uint32_t>(sizes_.size());
		for (size_t i = 0; i < block.values.size(); ++i)
			values_.push_back({block.values[i], number, static_cast<uint32_t>(i)});
		for (const Bucket &bucket : block.buckets)
			values_.push_back({bucket.index, number, bucket.count});
		sizes_.push_back(block.count());
		moments_.push_back(block.moments);
	}
	// Interleaves the blocks' equal values, so that no single block has the largest. Those of buckets: see block_at().
	std::sort(values_.begin(), values_.end(), [](const Value &a, const Value &b) {
		return a.value != b.value ? a.value < b.value : std::tie(a.place, a.block) < std::tie(b.place, b.block);
	});
	if (!values.is_exact())
		count_buckets(values);
	// The stride is at least the number of blocks, so the table isn't larger than the values.
	stride_ = std::max<size_t>(kStride, sizes_.size());
	std::vector<uint32_t> before(sizes_.size(), 0);
	for (size_t place = 0; place < values_.size(); ++place) {
		if (place % stride_ == 0)
			before_.insert(before_.end(), before.begin(), before.end());
		before[values_[place].block] += static_cast<uint32_t>(count_of(place));
	}
}

namespace {

// Multiples of the step, modulo the size, reach each number below the size once, and any number of successive ones lie
// evenly: the continued fraction of step and size has only small quotients (Niederreiter, "Quasi-Monte Carlo methods
// and pseudo-random numbers", Bulletin of the AMS 84 (1978), 5). Near the golden section there is such a step.
uint64_t even_step(uint64_t size)
{
	constexpr uint64_t kSmall = 5;
	const auto is_even = [size](uint64_t step) {
		uint64_t more = size, less = step;
		while (less > 0 && more / less <= kSmall)
			more = std::exchange(less, more % less);
		return less == 0 && more == 1;
	};
	auto step = static_cast<uint64_t>(0.618 * static_cast<double>(size));
	for (uint64_t tried = 0; tried < size && !is_even(step); ++tried)
		step = step % size + 1;
	return step;
}

} // namespace

void RedrawnRun::count_buckets(const BlockValues &values)
{
	up_to_.reserve(values_.size());
	for (size_t begin = 0; begin < values_.size();) {
		const uint64_t index = values_[begin].value, before = up_to_.empty() ? 0 : up_to_.back();
		size_t end = begin;
		for (; end < values_.size() && values_[end].value == index; ++end) {
			up_to_.push_back((up_to_.empty() ? 0 : up_to_.back()) + values_[end].place);
			values_[end].value = std::clamp(HdrHistogram::middle_at(index), values.min(), values.max());
		}
		groups_.push_back({begin, end, before, up_to_.back(), even_step(up_to_.back() - before)});
		begin = end;
	}
}

const RedrawnRun::Group &RedrawnRun::group_of(size_t index) const
{
	return *std::ranges::upper_bound(groups_, index, {}, &Group::up_to);
}

uint64_t RedrawnRun::at(size_t index) const { return values_[groups_.empty() ? index : group_of(index).begin].value; }

// Of a bucket, only the number of each block's values is known. They are taken in steps that reach each of them once,
// so any first part of them has each block's share, as it has among equal exact values.
uint32_t RedrawnRun::block_at(size_t index) const
{
	if (groups_.empty())
		return values_[index].block;
	const Group &group = group_of(index);
	const uint64_t size = group.up_to - group.before, spread = (index - group.before) * group.step % size;
	const auto begin = up_to_.begin() + static_cast<ptrdiff_t>(group.begin);
	const auto end = up_to_.begin() + static_cast<ptrdiff_t>(group.end);
	return values_[static_cast<size_t>(std::upper_bound(begin, end, group.before + spread) - up_to_.begin())].block;
}

std::vector<uint64_t> RedrawnRun::count_up_to(uint64_t value) const
{
	const auto end = static_cast<size_t>(std::ranges::upper_bound(values_, value, {}, &Value::value) - values_.begin());
	const size_t stride = std::min(end / stride_, strides() - 1);
	const auto before = before_.begin() + static_cast<ptrdiff_t>(stride * sizes_.size());
	std::vector<uint64_t> counts(before, before + static_cast<ptrdiff_t>(sizes_.size()));
	for (size_t place = stride * stride_; place < end; ++place)
		counts[values_[place].block] += count_of(place);
	return counts;
}

uint64_t RedrawnRun::total(const Weights &weights) const
{
	uint64_t sum = 0;
	for (size_t b = 0; b < sizes_.size(); ++b)
		sum += weights[b] * sizes_[b];
	return sum;
}

uint64_t RedrawnRun::weight_before_stride(size_t stride, const Weights &weights) const
{
	const uint32_t *before = &before_[stride * sizes_.size()];
	uint64_t sum = 0;
	for (size_t b = 0; b < sizes_.size(); ++b)
		sum += uint64_t{before[b]} * weights[b];
	return sum;
}

uint64_t RedrawnRun::weight_before(size_t place, const Weights &weights) const
{
	const size_t stride = std::min(place / stride_, strides() - 1);
	uint64_t sum = weight_before_stride(stride, weights);
	for (size_t i = stride * stride_; i < place; ++i)
		sum += weights[values_[i].block] * count_of(i);
	return sum;
}

uint64_t RedrawnRun::weight_within(uint64_t low, uint64_t high, const Weights &weights) const
{
	const auto first = std::ranges::lower_bound(values_, low, {}, &Value::value);
	const auto end = std::ranges::upper_bound(values_, high, {}, &Value::value);
	return weight_before(static_cast<size_t>(end - values_.begin()), weights) -
		   weight_before(static_cast<size_t>(first - values_.begin()), weights);
}

uint64_t RedrawnRun::percentile(const Weights &weights, Percentile p) const
{
	const uint64_t wanted = rank(total(weights), p);
	// Finds the last stride with fewer than `wanted` values before it.
	size_t low = 0, high = strides();
	while (high - low > 1) {
		const size_t middle = (low + high) / 2;
		(weight_before_stride(middle, weights) < wanted ? low : high) = middle;
	}
	uint64_t seen = weight_before_stride(low, weights);
	for (size_t i = low * stride_; i < values_.size(); ++i) {
		seen += weights[values_[i].block] * count_of(i);
		if (seen >= wanted)
			return values_[i].value;
	}
	return values_.back().value;
}

double RedrawnRun::standard_deviation(const Weights &weights) const
{
	const double n = static_cast<double>(total(weights));
	if (n < 2)
		return 0;
	const auto times = [&](size_t b) { return static_cast<double>(weights[b]); };
	const auto size = [&](size_t b) { return static_cast<double>(sizes_[b]); };
	double mean = 0, squares = 0;
	for (size_t b = 0; b < sizes_.size(); ++b)
		mean += times(b) * size(b) / n * moments_[b].mean;
	for (size_t b = 0; b < sizes_.size(); ++b) {
		const double away = moments_[b].mean - mean;
		squares += times(b) * (moments_[b].squares + size(b) * away * away);
	}
	return std::sqrt(squares / (n - 1));
}

uint64_t RedrawnRun::median_deviation(const Weights &weights, uint64_t centre, uint64_t near) const
{
	const uint64_t wanted = rank(total(weights), kP50);
	const auto enough = [&](uint64_t deviation) {
		const uint64_t low = centre - std::min(centre, deviation);
		const uint64_t high = centre + std::min(UINT64_MAX - centre, deviation);
		return weight_within(low, high, weights) >= wanted;
	};
	// Doubles the steps away from `near` until the smallest sufficient deviation lies in [low, high].
	uint64_t low = 0, high = near;
	if (enough(near)) {
		for (uint64_t step = 1; high > 0; step *= 2) {
			const uint64_t nearer = high - std::min(high, step);
			if (!enough(nearer)) {
				low = nearer + 1;
				break;
			}
			high = nearer;
		}
	} else {
		for (uint64_t step = 1; !enough(high); step *= 2) {
			low = high + 1;
			high += std::min(UINT64_MAX - high, step);
		}
	}
	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;
		if (enough(middle))
			high = middle;
		else
			low = middle + 1;
	}
	return high;
}

} // namespace icepath::stats
