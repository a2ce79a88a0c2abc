// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_interval.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "profiler/stats/student_t.h"

namespace icepath::stats {
namespace {

struct Value {
	uint64_t value;
	uint32_t block;
};

// All values in order, with how many of each block lie before every stride-th one. A redrawn run is then a weight for
// each block, and its percentile a binary search: nothing is sorted twice and nothing is rounded.
class Pool {
public:
	explicit Pool(const std::vector<std::vector<uint64_t>> &blocks)
	{
		for (const auto &block : blocks) {
			if (block.empty())
				continue;
			for (const uint64_t value : block)
				values_.push_back({value, static_cast<uint32_t>(sizes_.size())});
			sizes_.push_back(block.size());
		}
		std::sort(values_.begin(), values_.end(), [](const Value &a, const Value &b) { return a.value < b.value; });
		// As many values apart as there are blocks: the table is then no larger than the values.
		stride_ = std::max<size_t>(kStride, sizes_.size());
		std::vector<uint32_t> before(sizes_.size(), 0);
		for (size_t i = 0; i < values_.size(); ++i) {
			if (i % stride_ == 0)
				before_.insert(before_.end(), before.begin(), before.end());
			++before[values_[i].block];
		}
	}

	size_t size() const { return values_.size(); }
	size_t blocks() const { return sizes_.size(); }
	const std::vector<Value> &values() const { return values_; }

	uint64_t percentile(const std::vector<uint32_t> &weights, Percentile p) const
	{
		uint64_t total = 0;
		for (size_t b = 0; b < sizes_.size(); ++b)
			total += weights[b] * sizes_[b];
		const uint64_t wanted = rank(total, p);
		// The last stride with fewer than `wanted` values before it.
		size_t low = 0, high = before_.size() / sizes_.size();
		while (high - low > 1) {
			const size_t middle = (low + high) / 2;
			(weighted_before(middle, weights) < wanted ? low : high) = middle;
		}
		uint64_t seen = weighted_before(low, weights);
		for (size_t i = low * stride_; i < values_.size(); ++i) {
			seen += weights[values_[i].block];
			if (seen >= wanted)
				return values_[i].value;
		}
		return values_.back().value;
	}

private:
	static constexpr size_t kStride = 64; // at least

	uint64_t weighted_before(size_t stride, const std::vector<uint32_t> &weights) const
	{
		const uint32_t *before = &before_[stride * sizes_.size()];
		uint64_t sum = 0;
		for (size_t b = 0; b < sizes_.size(); ++b)
			sum += uint64_t{before[b]} * weights[b];
		return sum;
	}

	size_t stride_ = kStride;
	std::vector<Value> values_;
	std::vector<uint64_t> sizes_;
	std::vector<uint32_t> before_; // [stride][block]
};

double log_of(uint64_t value) { return std::log(static_cast<double>(std::max<uint64_t>(value, 1))); }

void add_intervals(Distribution &result, const Pool &pool)
{
	const size_t blocks = pool.blocks();
	std::array<double, kReported.size()> mean{}, squares{};
	// The standard fixes mt19937's numbers but not those of its distributions, so the draw is by multiplication.
	std::mt19937 random(20010101);
	std::vector<uint32_t> weights(blocks);
	for (unsigned replicate = 1; replicate <= kReplicates; ++replicate) {
		std::fill(weights.begin(), weights.end(), 0);
		for (size_t i = 0; i < blocks; ++i)
			++weights[static_cast<size_t>(uint64_t{random()} * blocks >> 32)];
		for (size_t q = 0; q < kReported.size(); ++q) {
			if (!result.percentiles[q])
				continue;
			// Welford's update.
			const double value = log_of(pool.percentile(weights, kReported[q]));
			const double delta = value - mean[q];
			mean[q] += delta / replicate;
			squares[q] += delta * (value - mean[q]);
		}
	}
	const double count = static_cast<double>(blocks);
	const double factor = t_975(count - 1) * std::sqrt(count / (count - 1));
	for (size_t q = 0; q < kReported.size(); ++q) {
		if (!result.percentiles[q])
			continue;
		const double half = factor * std::sqrt(squares[q] / (kReplicates - 1));
		const double value = static_cast<double>(*result.percentiles[q]);
		// Nothing is a factor of zero: where the percentile is 0 and some blocks say otherwise, there is no interval.
		if (half > std::log(kWidest) || (value == 0 && half > 0))
			continue;
		result.intervals[q] = Interval{value * std::exp(-half), value * std::exp(half)};
	}
}

} // namespace

Distribution describe(const std::vector<std::vector<uint64_t>> &blocks)
{
	const Pool pool(blocks);
	Distribution result;
	result.count = pool.size();
	result.blocks = pool.blocks();
	if (result.count == 0)
		return result;
	result.min = pool.values().front().value;
	result.max = pool.values().back().value;
	double sum = 0;
	for (const Value &value : pool.values())
		sum += static_cast<double>(value.value);
	result.mean = sum / static_cast<double>(result.count);
	for (size_t q = 0; q < kReported.size(); ++q)
		if (supported(result.count, kReported[q]))
			result.percentiles[q] = pool.values()[rank(result.count, kReported[q]) - 1].value;
	if (result.blocks >= kMinBlocks)
		add_intervals(result, pool);
	return result;
}

} // namespace icepath::stats
