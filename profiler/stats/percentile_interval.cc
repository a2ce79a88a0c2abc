// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/percentile_interval.h"

#include <algorithm>
#include <ranges>

#include "profiler/stats/cluster_share.h"

namespace icepath::stats {
namespace {

class SharesOfRun {
public:
	SharesOfRun(const RedrawnRun &run, const Clusters &clusters, double outside) : run_(run), outside_(outside)
	{
		for (size_t block = 0; block < run.blocks(); ++block)
			blocks_.push_back({0, run.values_of(block), static_cast<uint32_t>(clusters.of_block[block])});
	}

	// Whether the share of values up to `value` is certainly less than `share`, or that of values below it certainly
	// more.
	bool surely_fewer_up_to(uint64_t value, double share) { return most_or_least(run_.count_up_to(value), 1) < share; }
	bool surely_more_below(uint64_t value, double share)
	{
		return value > 0 && most_or_least(run_.count_up_to(value - 1), -1) > share;
	}

private:
	// The share of these values, plus or minus its half width.
	double most_or_least(const std::vector<uint64_t> &counts, double sign)
	{
		double count = 0, of = 0;
		for (size_t block = 0; block < counts.size(); ++block) {
			blocks_[block].count = counts[block];
			count += static_cast<double>(counts[block]);
			of += static_cast<double>(blocks_[block].of);
		}
		const auto spread = spread_of_share(blocks_);
		return count / of + (spread ? sign * spread->half_width(outside_) : 0);
	}

	const RedrawnRun &run_;
	double outside_;
	std::vector<Counted> blocks_;
};

} // namespace

Interval interval_by_shares(const RedrawnRun &run, Percentile p, const Clusters &clusters, double outside)
{
	SharesOfRun shares(run, clusters, outside);
	const double share = p.per_100000 / 1e5;
	const size_t measured = rank(run.values(), p) - 1;
	const auto first_that_fails = [](size_t begin, size_t end, const auto &holds) {
		return *std::ranges::partition_point(std::views::iota(begin, end), holds);
	};
	const size_t low =
		first_that_fails(0, measured, [&](size_t i) { return shares.surely_fewer_up_to(run.at(i), share); });
	const size_t high = first_that_fails(measured + 1, run.values(),
										 [&](size_t i) { return !shares.surely_more_below(run.at(i), share); }) -
						1;
	return {static_cast<double>(run.at(low)), static_cast<double>(run.at(high))};
}

} // namespace icepath::stats
