// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replicates of a cluster bootstrap: the run as it would be with some of its blocks met more often and others not at
// all. All values are sorted once, with the number of each block's values before every stride-th one. A redrawn run is
// then a weight for each block, and each of its statistics takes a few binary searches, with no further sorting and no
// rounding.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

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

private:
	// The standard specifies mt19937's numbers but not those of its distributions, so the draw is by multiplication.
	std::mt19937 random_{20010101};
	std::vector<size_t> of_block_;
	Weights drawn_, weights_;
};

// Of a value for each block, in a redrawn run.
double sum_of(const std::vector<double> &values, const Weights &drawn);

// The variance of a statistic over redrawn runs, as of the run itself, which had that many clusters. 0 for one draw or
// none.
double variance_over(const std::vector<Weights> &draws, size_t clusters,
					 const std::function<double(const Weights &)> &statistic);

class RedrawnRun {
public:
	explicit RedrawnRun(const std::vector<std::vector<uint64_t>> &blocks);

	size_t values() const { return values_.size(); }
	size_t blocks() const { return sizes_.size(); }
	uint64_t at(size_t index) const { return values_[index].value; } // in ascending order of values
	uint32_t block_at(size_t index) const { return values_[index].block; } // block of the value at the same index
	uint64_t values_of(size_t block) const { return sizes_[block]; }
	std::vector<uint64_t> count_up_to(uint64_t value) const; // by block
	double mean() const; // of all values, unweighted; needs at least one

	uint64_t percentile(const Weights &weights, Percentile p) const;

	// Of a sample: over n - 1. 0 for a single value.
	double standard_deviation(const Weights &weights) const;

	// The median of |value - centre|, an order statistic as the percentiles are. The search starts at `near` and is
	// fast if the result is close to it.
	uint64_t median_deviation(const Weights &weights, uint64_t centre, uint64_t near) const;

private:
	struct Value {
		uint64_t value;
		uint32_t block, place; // place: within its block
	};
	struct Moments {
		double mean = 0, squares = 0; // squares: sum of (value - mean)^2
	};

	uint64_t total(const Weights &weights) const;
	size_t strides() const { return before_.size() / sizes_.size(); }
	uint64_t weight_before_stride(size_t stride, const Weights &weights) const;
	uint64_t weight_before(size_t index, const Weights &weights) const;
	uint64_t weight_within(uint64_t low, uint64_t high, const Weights &weights) const; // both inclusive

	size_t stride_ = 0;
	std::vector<Value> values_;
	std::vector<uint64_t> sizes_; // by block
	std::vector<Moments> moments_; // by block
	std::vector<uint32_t> before_; // [stride][block]
};

} // namespace icepath::stats
