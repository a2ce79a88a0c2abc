// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gil Tene's HdrHistogram: counts in buckets whose width grows with the value, so that each keeps three significant
// digits. For files that other tools read; icepath's own percentiles are exact (percentile.h).
//
// The geometry is that of the Java original with lowestDiscernibleValue 1 and numberOfSignificantValueDigits 3, so an
// index has the same values in both: https://github.com/HdrHistogram/HdrHistogram (AbstractHistogram.java).
#include <cstddef>
#include <cstdint>
#include <vector>

namespace icepath::stats {

class HdrHistogram {
public:
	static constexpr int kDigits = 3;
	static constexpr uint64_t kSubBuckets = 2048; // the power of two at or above 2 * 10^kDigits

	// 0 to 2^62; a larger value counts as 2^62.
	void add(uint64_t value);
	void add(const HdrHistogram &more);

	uint64_t total() const { return total_; }
	uint64_t max() const { return max_; } // as added, not rounded; 0 if empty
	const std::vector<uint64_t> &counts() const { return counts_; } // by index, up to the last non-zero one

	static size_t index_of(uint64_t value);
	static uint64_t lowest_at(size_t index); // lowest value of the bucket
	static uint64_t highest_at(size_t index); // highest value of the bucket
	static uint64_t middle_at(size_t index);

	double mean() const; // of the buckets' middles; 0 if empty
	double standard_deviation() const; // of the population, by the buckets' middles

private:
	std::vector<uint64_t> counts_;
	uint64_t total_ = 0, max_ = 0;
};

} // namespace icepath::stats
