// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/block_values.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "profiler/stats/hdr_histogram.h"

namespace icepath::stats {
namespace {

constexpr size_t kValuesOfBucket = 8;

uint32_t bucket_of(uint64_t value) { return static_cast<uint32_t>(HdrHistogram::index_of(value)); }

std::vector<Bucket> buckets_of(std::span<const uint64_t> values)
{
	std::vector<uint32_t> indices(values.size());
	std::ranges::transform(values, indices.begin(), bucket_of);
	std::ranges::sort(indices);
	size_t different = 0;
	for (size_t i = 0; i < indices.size(); ++i)
		different += i == 0 || indices[i] != indices[i - 1];
	std::vector<Bucket> buckets;
	buckets.reserve(different);
	for (const uint32_t index : indices) {
		if (buckets.empty() || buckets.back().index != index)
			buckets.push_back({index, 0});
		++buckets.back().count;
	}
	return buckets;
}

void take_in(BlockValues::Block &block, const BlockValues::Block &more)
{
	std::vector<Bucket> both;
	both.reserve(block.buckets.size() + more.buckets.size());
	std::ranges::merge(block.buckets, more.buckets, std::back_inserter(both), {}, &Bucket::index, &Bucket::index);
	size_t kept = 0;
	for (const Bucket &bucket : both)
		if (kept > 0 && both[kept - 1].index == bucket.index)
			both[kept - 1].count += bucket.count;
		else
			both[kept++] = bucket;
	block.buckets.assign(both.begin(), both.begin() + static_cast<ptrdiff_t>(kept));
	block.moments.add(more.moments);
	block.blocks += more.blocks;
	block.openings += more.openings - (block.last_opening == more.opening ? 1 : 0);
	block.last_opening = more.last_opening;
}

} // namespace

void Moments::add(double value)
{
	const double away = value - mean;
	mean += away / ++count;
	squares += away * (value - mean);
}

void Moments::add(const Moments &more)
{
	const double both = count + more.count, away = more.mean - mean;
	squares += more.squares + away * away * count * more.count / both;
	mean += away * more.count / both;
	count = both;
}

void BlockValues::add(std::vector<uint64_t> values, uint32_t opening)
{
	if (values.empty())
		return;
	const auto owner = std::make_shared<const std::vector<uint64_t>>(std::move(values));
	add(owner, *owner, opening);
}

void BlockValues::add(const SharedValues &owner, std::span<const uint64_t> values, uint32_t opening)
{
	if (values.empty())
		return;
	Block block;
	block.opening = block.last_opening = opening;
	double sum = 0;
	for (const uint64_t value : values) {
		block.moments.add(static_cast<double>(value));
		sum += static_cast<double>(value);
	}
	const auto [least, most] = std::ranges::minmax(values);
	min_ = std::min(min_, least);
	max_ = std::max(max_, most);
	sum_ += sum;
	sum_of_means_ += sum / static_cast<double>(values.size());
	count_ += values.size();
	++measured_;
	if (exact_) {
		block.owner = owner;
		block.values = values;
	} else {
		block.buckets = buckets_of(values);
	}
	append(std::move(block));
	if (exact_ && kept_ > most_)
		coarsen();
	while (!exact_ && kept_ > most_ / kValuesOfBucket && blocks_.size() >= 2 * kLeastBlocks)
		join();
}

void BlockValues::coarsen()
{
	exact_ = false;
	kept_ = 0;
	for (Block &block : blocks_) {
		block.buckets = buckets_of(std::exchange(block.values, {}));
		block.owner.reset();
		kept_ += block.buckets.size();
	}
}

// Joins each block with its neighbours in the same opening. Where each opening is one block, joins it with the next
// openings.
void BlockValues::join()
{
	const bool each_is_an_opening =
		std::ranges::adjacent_find(blocks_, {}, [](const Block &block) { return block.opening; }) == blocks_.end();
	if (each_is_an_opening) {
		blocks_together_ = SIZE_MAX;
		openings_together_ *= 2;
	} else {
		blocks_together_ *= 2;
	}
	kept_ = 0;
	for (Block &block : std::exchange(blocks_, {}))
		append(std::move(block));
	blocks_.shrink_to_fit();
}

bool BlockValues::may_take_in(const Block &block, const Block &more) const
{
	const size_t openings = block.openings + more.openings - (block.last_opening == more.opening ? 1 : 0);
	return openings <= openings_together_ && block.blocks <= blocks_together_ - std::min(blocks_together_, more.blocks);
}

void BlockValues::append(Block block)
{
	if (blocks_.empty() || !may_take_in(blocks_.back(), block)) {
		kept_ += (block.owner ? block.owner->size() : 0) + block.buckets.size();
		blocks_.push_back(std::move(block));
		return;
	}
	kept_ -= blocks_.back().buckets.size();
	take_in(blocks_.back(), block);
	kept_ += blocks_.back().buckets.size();
}

std::vector<uint32_t> BlockValues::openings() const
{
	std::vector<uint32_t> openings;
	for (const Block &block : blocks_)
		openings.push_back(block.opening);
	return openings;
}

BlockValues kept_values(const std::vector<std::vector<uint64_t>> &blocks, const std::vector<uint32_t> &openings)
{
	BlockValues values;
	for (size_t i = 0; i < blocks.size(); ++i)
		values.add(blocks[i], openings.empty() ? 0 : openings.at(i));
	return values;
}

PooledValues::PooledValues(const BlockValues &values) : count_(values.count())
{
	for (const BlockValues::Block &block : values.blocks()) {
		values_.insert(values_.end(), block.values.begin(), block.values.end());
		for (const Bucket &bucket : block.buckets) {
			up_to_.resize(std::max<size_t>(up_to_.size(), bucket.index + 1));
			up_to_[bucket.index] += bucket.count;
		}
	}
	std::ranges::sort(values_);
	for (size_t i = 1; i < up_to_.size(); ++i)
		up_to_[i] += up_to_[i - 1];
}

PooledValues::Range PooledValues::at_rank(uint64_t rank) const
{
	if (up_to_.empty())
		return {values_[rank - 1], values_[rank - 1]};
	const auto index = static_cast<size_t>(std::ranges::lower_bound(up_to_, rank) - up_to_.begin());
	return {HdrHistogram::lowest_at(index), HdrHistogram::highest_at(index)};
}

uint64_t PooledValues::count_within(uint64_t from, uint64_t to) const
{
	if (up_to_.empty())
		return static_cast<uint64_t>(std::ranges::upper_bound(values_, to) - std::ranges::lower_bound(values_, from));
	const auto counted = [&](size_t buckets) {
		return buckets == 0 ? 0 : up_to_[std::min(buckets, up_to_.size()) - 1];
	};
	return counted(bucket_of(to) + 1) - counted(bucket_of(from));
}

} // namespace icepath::stats
