// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gil Tene's HdrHistogram: counts in buckets whose width grows with the value, so that each keeps three significant digits.
// For the files that other tools read; icepath's own percentiles are exact (percentile.h).
//
// The geometry is that of the Java original with lowestDiscernibleValue 1 and numberOfSignificantValueDigits 3, so that
// index i means the same values there: https://github.com/HdrHistogram/HdrHistogram (AbstractHistogram.java).
#include <cstddef>
#include <cstdint>
#include <vector>

namespace icepath::stats {

class HdrHistogram {
public:
	static constexpr int kDigits = 3;
	static constexpr uint64_t kSubBuckets = 2048; // the power of two at or above 2 * 10^kDigits

	// Values from 0 to 2^62; a larger one counts as 2^62.
	void add(uint64_t value);

	uint64_t total() const { return total_; }
	uint64_t max() const { return max_; } // as it was added; 0 where empty
	const std::vector<uint64_t> &counts() const { return counts_; } // by index, up to the last that isn't zero

	static size_t index_of(uint64_t value);
	static uint64_t lowest_at(size_t index); // of the values that share it
	static uint64_t highest_at(size_t index); // likewise
	static uint64_t middle_at(size_t index);

	double mean() const; // of the buckets' middles; 0 where empty
	double standard_deviation() const; // of the population, by the buckets' middles

private:
	std::vector<uint64_t> counts_;
	uint64_t total_ = 0, max_ = 0;
};

} // namespace icepath::stats
