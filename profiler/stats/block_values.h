// SPDX-License-Identifier: Apache-2.0
#pragma once
// A quantity's values, block by block, in memory that doesn't grow with their number.
//
// Up to a limit each value is kept. Beyond it, each block keeps a histogram with three significant digits
// (hdr_histogram.h): then a value is off by kOff at most, and counts, mean, deviation, least and largest value stay
// exact. If these histograms have many buckets, neighbouring blocks are joined, at first only those of one opening,
// until kLeastBlocks to 2 * kLeastBlocks are left. Each then has equally many blocks, or openings, except for what is
// left over at the end of an opening or of the run. So each is as much evidence as another, as in the method of batch
// means (Law, "Simulation Modeling and Analysis"), and intervals stay valid. What is kept depends on the values and
// their order alone.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace icepath::stats {

// A block's values; several quantities may share them.
using SharedValues = std::shared_ptr<const std::vector<uint64_t>>;

// Values of a block of which only the bucket and their number are known.
struct Bucket {
	uint32_t index = 0; // of HdrHistogram
	uint32_t count = 0;
};

// Mean and sum of squares around it, by Welford's update.
struct Moments {
	double count = 0, mean = 0, squares = 0;
	void add(double value);
	void add(const Moments &more);
};

class BlockValues {
public:
	struct Block {
		SharedValues owner;
		std::span<const uint64_t> values; // in the order they came; empty if there are buckets
		std::vector<Bucket> buckets; // ascending
		Moments moments;
		uint32_t opening = 0; // of the first block that was joined
		uint32_t last_opening = 0;
		size_t blocks = 1, openings = 1; // that were joined

		uint64_t count() const { return static_cast<uint64_t>(moments.count); }
	};

	static constexpr size_t kLeastBlocks = 128; // percentiles beyond p99 take 75: far_tail.h
	static constexpr double kOff = 0.0005; // of a value, where not each is kept: half the width of a bucket

	// `most`: number of values to keep, including others that their owners hold. Of buckets, an eighth of that are
	// kept, or those of 2 * kLeastBlocks blocks.
	explicit BlockValues(size_t most = SIZE_MAX) : most_(most) {}
	// The values of one block, perhaps none; or some of them.
	void add(std::vector<uint64_t> values, uint32_t opening = 0);
	void add(const SharedValues &owner, std::span<const uint64_t> values, uint32_t opening);

	bool is_exact() const { return exact_; }
	const std::vector<Block> &blocks() const { return blocks_; } // that have a value
	uint64_t measured_blocks() const { return measured_; } // of which some may be joined
	uint64_t count() const { return count_; }
	uint64_t min() const { return min_; } // of at least one value
	uint64_t max() const { return max_; }
	double sum() const { return sum_; }
	double mean_by_block() const { return sum_of_means_ / static_cast<double>(measured_); }
	size_t kept() const { return kept_; } // values or buckets
	std::vector<uint32_t> openings() const; // of blocks()

private:
	void coarsen();
	void join();
	void append(Block block);
	bool may_take_in(const Block &block, const Block &more) const;

	size_t most_;
	std::vector<Block> blocks_;
	size_t blocks_together_ = 1, openings_together_ = 1; // at most, of those that are joined
	bool exact_ = true;
	uint64_t measured_ = 0, count_ = 0, min_ = UINT64_MAX, max_ = 0;
	double sum_ = 0, sum_of_means_ = 0;
	size_t kept_ = 0;
};

// Each value is kept. `openings`: of each block; empty: all are of one.
BlockValues kept_values(const std::vector<std::vector<uint64_t>> &blocks, const std::vector<uint32_t> &openings = {});

// All values of all blocks, in ascending order.
class PooledValues {
public:
	explicit PooledValues(const BlockValues &values);
	uint64_t count() const { return count_; }
	// What is known of the value of that rank, from 1 on: both ends are inclusive, and equal if each value was kept.
	struct Range {
		uint64_t low = 0, high = 0;
	};
	Range at_rank(uint64_t rank) const;
	// Values from `from` to `to`, both inclusive. They are ends of such ranges, or 0 or UINT64_MAX.
	uint64_t count_within(uint64_t from, uint64_t to) const;

private:
	uint64_t count_ = 0;
	std::vector<uint64_t> values_; // ascending, or
	std::vector<uint64_t> up_to_; // by index of HdrHistogram: how many values are in this bucket and in those before
};

} // namespace icepath::stats
