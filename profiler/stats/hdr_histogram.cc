// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/hdr_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace icepath::stats {
namespace {

constexpr uint64_t kHalf = HdrHistogram::kSubBuckets / 2;
constexpr int kHalfBits = std::bit_width(kHalf) - 1;
constexpr uint64_t kLargest = uint64_t{1} << 62;

// Number of low bits in which values of one bucket differ.
int shift_of(uint64_t value)
{
	return static_cast<int>(std::bit_width(value | (HdrHistogram::kSubBuckets - 1))) - kHalfBits - 1;
}

// The first two halves have width 1, and each further half has twice the width of the one before.
int shift_at(size_t index) { return index < 2 * kHalf ? 0 : static_cast<int>(index / kHalf) - 1; }

} // namespace

size_t HdrHistogram::index_of(uint64_t value)
{
	value = std::min(value, kLargest);
	const int shift = shift_of(value);
	return static_cast<size_t>(shift) * kHalf + (value >> shift);
}

uint64_t HdrHistogram::lowest_at(size_t index)
{
	const int shift = shift_at(index);
	return (index - static_cast<size_t>(shift) * kHalf) << shift;
}

uint64_t HdrHistogram::highest_at(size_t index) { return lowest_at(index) + (uint64_t{1} << shift_at(index)) - 1; }

uint64_t HdrHistogram::middle_at(size_t index) { return lowest_at(index) + (uint64_t{1} << shift_at(index)) / 2; }

void HdrHistogram::add(uint64_t value)
{
	const size_t index = index_of(value);
	if (index >= counts_.size())
		counts_.resize(index + 1);
	counts_[index]++;
	total_++;
	max_ = std::max(max_, std::min(value, kLargest));
}

void HdrHistogram::add(const HdrHistogram &more)
{
	counts_.resize(std::max(counts_.size(), more.counts_.size()));
	for (size_t i = 0; i < more.counts_.size(); i++)
		counts_[i] += more.counts_[i];
	total_ += more.total_;
	max_ = std::max(max_, more.max_);
}

double HdrHistogram::mean() const
{
	double sum = 0;
	for (size_t i = 0; i < counts_.size(); i++)
		sum += static_cast<double>(counts_[i]) * static_cast<double>(middle_at(i));
	return total_ ? sum / static_cast<double>(total_) : 0;
}

double HdrHistogram::standard_deviation() const
{
	const double centre = mean();
	double sum = 0;
	for (size_t i = 0; i < counts_.size(); i++) {
		const double away = static_cast<double>(middle_at(i)) - centre;
		sum += static_cast<double>(counts_[i]) * away * away;
	}
	return total_ ? std::sqrt(sum / static_cast<double>(total_)) : 0;
}

} // namespace icepath::stats
