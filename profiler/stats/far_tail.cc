// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/far_tail.h"

#include <algorithm>
#include <vector>

#include "profiler/stats/distributions.h"

namespace icepath::stats {
namespace {

constexpr double kOutside = 0.025; // on each side

// The `count` largest values, and the clusters that they lie in.
class Largest {
public:
	Largest(const RedrawnRun &run, const Clusters &clusters, size_t count)
		: run_(run), cluster_of_(clusters.of_block), sizes_(clusters.count, 0), counts_(clusters.count, 0)
	{
		for (size_t b = 0; b < run.blocks(); ++b)
			sizes_[cluster_of_[b]] += static_cast<double>(run.values_of(b));
		for (const double size : sizes_)
			squared_sizes_ += size * size;
		while (count_ < count)
			grow();
	}

	void grow()
	{
		const size_t cluster = cluster_at(count_++);
		squares_ += 2 * counts_[cluster] + 1;
		products_ += sizes_[cluster];
		++counts_[cluster];
	}

	void shrink()
	{
		const size_t cluster = cluster_at(--count_);
		squares_ -= 2 * counts_[cluster] - 1;
		products_ -= sizes_[cluster];
		--counts_[cluster];
	}

	double count() const { return static_cast<double>(count_); }
	bool is_all() const { return count_ == run_.values(); }
	uint64_t next() const { return run_.at(run_.values() - 1 - count_); } // the largest value outside
	size_t clusters() const
	{
		return static_cast<size_t>(std::ranges::count_if(counts_, [](double count) { return count > 0; }));
	}

	double effective_clusters() const { return count() * count() / squares_; }

	// Messages per cluster of events: the variance of the clusters' counts over that of independent messages.
	double together() const
	{
		if (count_ == 0)
			return 1;
		const double share = count() / static_cast<double>(run_.values());
		const auto clusters = static_cast<double>(counts_.size());
		const double squares = squares_ - 2 * share * products_ + share * share * squared_sizes_;
		return std::max(1.0, squares * clusters / (clusters - 1) / count());
	}

private:
	size_t cluster_at(size_t place) const { return cluster_of_[run_.block_at(run_.values() - 1 - place)]; }

	const RedrawnRun &run_;
	const std::vector<size_t> &cluster_of_; // by block
	std::vector<double> sizes_, counts_; // by cluster: of all values, and of the largest ones
	size_t count_ = 0;
	// Sums over the clusters: of counts squared, of counts times sizes, of sizes squared.
	double squares_ = 0, products_ = 0, squared_sizes_ = 0;
};

size_t count_beyond(const RedrawnRun &run, Percentile p) { return run.values() - rank(run.values(), p); }

} // namespace

size_t blocks_beyond(const RedrawnRun &run, Percentile p)
{
	const Clusters blocks = numbered({}, run.blocks());
	return Largest(run, blocks, count_beyond(run, p)).clusters();
}

bool enough_beyond(const RedrawnRun &run, Percentile p, const Clusters &clusters)
{
	if (p == kP50)
		return true;
	if (blocks_beyond(run, p) < kBlocksBeyond)
		return false;
	return !is_far(p) ||
		   (run.blocks() >= kFarBeyond && uint64_t{run.values()} * (100000 - p.per_100000) >= kFarBeyond * 100000 &&
			Largest(run, clusters, count_beyond(run, p)).clusters() >= kBlocksBeyond);
}

double effective_clusters(const RedrawnRun &run, Percentile p, const Clusters &clusters)
{
	return Largest(run, clusters, count_beyond(run, p)).effective_clusters();
}

std::optional<Interval> far_interval(const RedrawnRun &run, Percentile p, const Clusters &clusters)
{
	const double expected = static_cast<double>(run.values()) * (1 - p.per_100000 / 1e5);
	const Largest beyond(run, clusters, count_beyond(run, p));
	const double least_together = beyond.together();

	Largest fewer = beyond;
	for (;; fewer.shrink()) {
		const double together = std::max(least_together, fewer.together());
		if (poisson_at_most(fewer.count() / together, expected / together) <= kOutside)
			break;
		if (fewer.count() == 0)
			return std::nullopt;
	}
	Largest more = beyond;
	for (;; more.grow()) {
		if (more.is_all())
			return std::nullopt;
		const double together = std::max(least_together, more.together());
		if (poisson_at_least(more.count() / together, expected / together) <= kOutside)
			break;
	}
	return Interval{static_cast<double>(more.next()), static_cast<double>(fewer.next())};
}

} // namespace icepath::stats
