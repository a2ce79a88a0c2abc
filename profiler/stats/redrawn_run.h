// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replicates of a cluster bootstrap: the run as it would be with some of its blocks met more often and others not at
// all. All values are sorted once, with the number of each block's values before every stride-th one. A redrawn run is
// then a weight for each block, and each of its statistics takes a few binary searches, with no further sorting and no
// rounding. Values of a bucket (block_values.h) count as its middle.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "profiler/stats/block_values.h"
#include "profiler/stats/percentile.h"

namespace icepath::stats {

// How often each block with at least one value was drawn, in their order. At least one weight isn't 0.
using Weights = std::vector<uint32_t>;

inline constexpr unsigned kReplicates = 400; // gives a statistic's spread within 3.5 %

// Which blocks are drawn together: the cluster of each, numbered from 0.
struct Clusters {
	std::vector<size_t> of_block;
	size_t count = 0;
};

// Blocks with the same number are one cluster; without numbers each block is one.
Clusters numbered(const std::vector<uint32_t> &numbers, size_t blocks);

// The draws of a bootstrap, the same on every machine.
class Redraw {
public:
	explicit Redraw(const Clusters &clusters)
		: of_block_(clusters.of_block), drawn_(clusters.count), weights_(of_block_.size())
	{}
	const Weights &next(); // draws as many clusters as there are
	const Weights &by_cluster() const { return drawn_; } // the last draw, by cluster instead of block

private:
	// The standard specifies mt19937's numbers but not those of its distributions, so the draw is by multiplication.
	std::mt19937 random_{20010101};
	std::vector<size_t> of_block_;
	Weights drawn_, weights_;
};

// The sum of a value for each block over a redrawn run.
double sum_of(const std::vector<double> &values, const Weights &drawn);

// The variance of a statistic over redrawn runs, as of the run itself, which had that many clusters. 0 for one draw or
// none.
double variance_over(const std::vector<Weights> &draws, size_t clusters,
					 const std::function<double(const Weights &)> &statistic);

class RedrawnRun {
public:
	explicit RedrawnRun(const BlockValues &values);

	size_t values() const { return count_; }
	size_t blocks() const { return sizes_.size(); }
	uint64_t at(size_t index) const; // in ascending order of values
	uint32_t block_at(size_t index) const; // of the value at the same index
	uint64_t values_of(size_t block) const { return sizes_[block]; }
	std::vector<uint64_t> count_up_to(uint64_t value) const; // by block
	double off() const { return groups_.empty() ? 0 : BlockValues::kOff; } // share by which a value may be off
	uint64_t percentile(const Weights &weights, Percentile p) const;

	// Of a sample: over n - 1. 0 for a single value.
	double standard_deviation(const Weights &weights) const;

	// The median of |value - centre|, an order statistic as the percentiles are. The search starts at `near` and is
	// fast if the result is close to it.
	uint64_t median_deviation(const Weights &weights, uint64_t centre, uint64_t near) const;

private:
	struct Value { // one or, of a bucket, several
		uint64_t value;
		uint32_t block, place; // place: within its block; of a bucket: how many it has
	};
	struct Group { // the values of a bucket, of all blocks
		size_t begin, end; // in values_
		uint64_t before, up_to; // how many values there are before its own, and with them
		uint64_t step;
	};

	void count_buckets(const BlockValues &values);
	const Group &group_of(size_t index) const;
	uint64_t count_of(size_t place) const { return groups_.empty() ? 1 : values_[place].place; }
	uint64_t total(const Weights &weights) const;
	size_t strides() const { return before_.size() / sizes_.size(); }
	uint64_t weight_before_stride(size_t stride, const Weights &weights) const;
	uint64_t weight_before(size_t place, const Weights &weights) const;
	uint64_t weight_within(uint64_t low, uint64_t high, const Weights &weights) const; // both inclusive

	size_t stride_ = 0;
	size_t count_ = 0;
	std::vector<Value> values_;
	std::vector<uint64_t> up_to_; // how many there are up to the end of each of values_; empty without buckets
	std::vector<Group> groups_; // empty without buckets
	std::vector<uint64_t> sizes_; // by block
	std::vector<Moments> moments_; // by block
	std::vector<uint32_t> before_; // [stride][block]
};

} // namespace icepath::stats
