// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "profiler/path/shares.h"

namespace icepath::analysis {
namespace {

// Any user of the machine can choose names, so their number is bounded.
constexpr size_t kMaxNames = 4096;
constexpr std::string_view kOthers = "others";

// `made`: storage for a name that has to be composed.
std::string_view thread_name(const path::Observations &seen, uint32_t tid, std::string &made)
{
	const auto at = seen.threads.find(tid);
	if (at != seen.threads.end() && !at->second.name.empty())
		return at->second.name;
	return made = fmt::format("thread {}", tid);
}

std::string_view name_of(const path::Culprit &who, const path::Observations &seen, std::string &made)
{
	if (who.kind == path::Culprit::Kind::Task && who.id != 0)
		if (const auto at = seen.task_names.find(who.id); at != seen.task_names.end() && !at->second.empty())
			return at->second;
	return made = culprit_name(who, seen.task_names);
}

template <class Row> Row &row_with(std::map<std::string, Row, std::less<>> &rows, std::string_view name)
{
	const auto at = rows.lower_bound(name);
	return at != rows.end() && at->first == name ? at->second : rows.emplace_hint(at, std::string(name), Row())->second;
}

} // namespace

std::string thread_name(const path::Observations &seen, uint32_t tid)
{
	std::string made;
	return std::string(thread_name(seen, tid, made));
}

path::Role role_of(const path::Path &path, const path::Segment &segment)
{
	if (segment.hop == 0)
		return path::Role::Sender;
	return segment.hop == path.segments.back().hop ? path::Role::Receiver : path::Role::Relay;
}

size_t Breakdown::HashOfPlace::operator()(const Place &place) const
{
	const auto layer = static_cast<size_t>(place.layer), part = static_cast<size_t>(place.part);
	return ((size_t{place.hop} * 4 + static_cast<size_t>(place.role)) * 64 + part) * 64 + layer;
}

void Breakdown::add(const path::Path &path, const path::Observations &seen)
{
	const uint64_t latency = path.recv_ns - path.send_ns;
	Block &block = present_block();
	uint64_t sum = 0;
	for (size_t i = 0; i < path.segments.size(); ++i) {
		const path::Segment &segment = path.segments[i];
		const uint64_t ns = segment.duration_ns();
		sum += ns;
		if (ns == 0)
			continue;
		Sum &row = row_of({segment.layer, segment.part, role_of(path, segment), segment.hop}, segment.thread, i, seen);
		row.ns[static_cast<size_t>(segment.provenance())] += ns;
		if (row.by_block.empty() || row.by_block.back().first != blocks_.size() - 1)
			row.by_block.emplace_back(blocks_.size() - 1, 0);
		row.by_block.back().second += ns;
	}
	for (uint16_t relay = 1; !path.segments.empty() && relay < path.segments.back().hop; ++relay)
		++passed_[relay];
	++block.deliveries;
	++deliveries_;
	total_ns_ += latency;
	sum_error_ns_ += std::max(sum, latency) - std::min(sum, latency);
}

Breakdown::Sum &Breakdown::row_of(const Place &place, uint32_t thread, size_t index, const path::Observations &seen)
{
	constexpr size_t kMostKnown = 64;
	if (known_.of != this)
		known_ = {.of = this};
	std::vector<KnownRow> &known = known_.by_index;
	if (index < known.size() && known[index].place == place && known[index].thread == thread)
		return *known[index].sum;
	std::string made;
	Sum &row = row_with(sums_[place], thread_name(seen, thread, made));
	if (index >= known.size() && index < kMostKnown)
		known.resize(index + 1, {place, thread, &row});
	if (index < known.size())
		known[index] = {place, thread, &row};
	return row;
}

uint64_t Breakdown::passed(uint16_t relay) const
{
	const auto found = passed_.find(relay);
	return found == passed_.end() ? 0 : found->second;
}

void LayerRow::add(const LayerRow &more)
{
	total_ns += more.total_ns;
	mean_ns += more.mean_ns;
	std::ranges::transform(provenance_ns, more.provenance_ns, provenance_ns.begin(), std::plus());
	std::ranges::transform(by_block, more.by_block, by_block.begin(), std::plus());
}

std::vector<LayerRow> Breakdown::rows() const
{
	std::vector<LayerRow> rows;
	for (const auto &[place, threads] : sums_)
		for (const auto &[thread, sum] : threads) {
			const uint64_t total_ns = std::reduce(sum.ns.begin(), sum.ns.end());
			const double mean_ns = static_cast<double>(total_ns) / static_cast<double>(deliveries_);
			rows.push_back(
				{place.layer, place.part, place.hop, place.role, thread, total_ns, sum.ns, mean_ns, spread_out(sum)});
		}
	std::ranges::sort(rows, {}, [](const LayerRow &row) {
		return std::tuple(row.layer, row.hop, row.role, std::string_view(row.thread), row.part);
	});
	return rows;
}

void Breakdown::end_block(uint64_t complete, uint32_t cluster)
{
	if (complete > 0)
		present_block();
	if (in_block_)
		blocks_.back().cluster = cluster;
	in_block_ = false;
	known_.by_index.clear();
}

Breakdown::Block &Breakdown::present_block()
{
	if (!in_block_)
		blocks_.push_back({.cluster = UINT32_MAX - static_cast<uint32_t>(blocks_.size())});
	in_block_ = true;
	return blocks_.back();
}

double Breakdown::mean_ns() const
{
	return deliveries_ > 0 ? static_cast<double>(total_ns_) / static_cast<double>(deliveries_) : 0;
}

stats::WeightedBlocks Breakdown::blocks() const
{
	stats::WeightedBlocks blocks;
	for (const Block &block : blocks_) {
		blocks.weights.push_back(static_cast<double>(block.deliveries));
		blocks.clusters.push_back(block.cluster);
	}
	return blocks;
}

stats::RedrawnMeans Breakdown::means() const
{
	const stats::WeightedBlocks all = blocks();
	return stats::RedrawnMeans(all.weights, all.clusters);
}

std::vector<double> Breakdown::spread_out(const Sum &sum) const
{
	std::vector<double> by_block(blocks_.size(), 0);
	for (const auto &[block, ns] : sum.by_block)
		by_block[block] = static_cast<double>(ns);
	return by_block;
}

std::map<model::Layer, LayerRow> Breakdown::by_layer() const
{
	std::map<model::Layer, LayerRow> layers;
	for (const LayerRow &row : rows()) {
		const auto [at, is_first] = layers.try_emplace(row.layer, row);
		if (!is_first)
			at->second.add(row);
	}
	return layers;
}

size_t Breakdown::blocks_with_deliveries() const
{
	return static_cast<size_t>(std::ranges::count_if(blocks_, [](const Block &block) { return block.deliveries > 0; }));
}

double Breakdown::most_of_one_block() const
{
	uint64_t most = 0;
	for (const Block &block : blocks_)
		most = std::max(most, block.deliveries);
	return deliveries_ > 0 ? static_cast<double>(most) / static_cast<double>(deliveries_) : 0;
}

Culprits::Sums &Culprits::Sums::operator+=(const Sums &other)
{
	waiting_ns += other.waiting_ns;
	interrupted_ns += other.interrupted_ns;
	asleep_ns += other.asleep_ns;
	return *this;
}

Culprits::OfKey &Culprits::row_of(const Key &key, std::string_view name)
{
	auto &rows = by_key_[key];
	const auto &[kind, origin, layer, part, of_late_waker] = key;
	// A task without a name is named by its tid.
	const bool has_name = kind == path::Culprit::Kind::Task && !name.starts_with("task ");
	const std::string alike = has_name ? without_numbers(name) : std::string(name);
	if (const auto known = rows.find(alike); known != rows.end()) {
		known->second.has_others = known->second.has_others || known->second.first_name != name;
		return known->second;
	}
	if (names_ >= kMaxNames && name != kOthers)
		return row_of({path::Culprit::Kind::None, Origin::Unknown, layer, part, of_late_waker}, kOthers);
	++names_;
	OfKey &of = rows[alike];
	of.first_name = name;
	return of;
}

void Culprits::book(const path::Culprit &who, const path::Segment &segment, uint64_t ns, const path::Observations &seen,
					bool of_late_waker)
{
	std::string made;
	const bool slept = !of_late_waker && segment.layer != model::Layer::Interrupt &&
					   !model::waits_for_cpu(segment.layer, segment.part);
	const Origin origin = origin_of(who, slept, seen);
	std::string_view name = name_of(who, seen, made);
	if (slept && origin == Origin::OwnTimer)
		name = made = thread_name(seen, segment.thread) + "'s own timer";
	OfKey &of = row_of({who.kind, origin, segment.layer, segment.part, of_late_waker}, name);
	const bool is_first = of.last_path != paths_;
	if (of.segments == 0) {
		of.first = who;
		of.owner = origin == Origin::OwnThread ? owner_of(who.id, seen) : Owner::None;
	}
	of.ns += ns;
	++of.segments;
	of.messages += is_first;
	of.last_path = paths_;
	if (!block_)
		return;
	if (of.by_block.empty() || of.by_block.back().block != *block_)
		of.by_block.push_back({*block_});
	of.by_block.back().ns += ns;
	of.by_block.back().messages += is_first;
}

void Culprits::add(const path::Path &path, const path::Observations &seen, std::optional<size_t> block)
{
	++paths_;
	block_ = block;
	for (const path::Share &share : path.shares) {
		book(share.who, path.segments.at(share.segment), share.ns, seen, false);
		sums_.waiting_ns += share.ns;
	}
	auto late = path.late_wakers.begin();
	for (size_t i = 0; i < path.segments.size(); ++i) {
		const path::Segment &segment = path.segments[i];
		const uint64_t ns = segment.duration_ns();
		uint64_t late_ns = 0; // the waker isn't to blame for
		for (; late != path.late_wakers.end() && late->segment == i; ++late) {
			book(late->who, segment, late->ns, seen, true);
			late_ns += late->ns;
		}
		if (segment.culprit.kind == path::Culprit::Kind::None || ns == 0 ||
			model::waits_for_cpu(segment.layer, segment.part))
			continue;
		if (ns > late_ns)
			book(segment.culprit, segment, ns - late_ns, seen, false);
		(segment.layer == model::Layer::Interrupt ? sums_.interrupted_ns : sums_.asleep_ns) += ns;
	}
}

std::vector<CulpritRow> Culprits::top(size_t count) const
{
	std::vector<CulpritRow> rows;
	for (const auto &[key, names] : by_key_)
		for (const auto &[name, sum] : names) {
			const auto &[kind, origin, layer, part, of_late_waker] = key;
			const bool is_interrupt = kind == path::Culprit::Kind::Interrupt;
			rows.push_back({kind, origin, sum.has_others ? name : sum.first_name, name, sum.first.interrupt,
							is_interrupt ? sum.first.id : 0, sum.owner, layer, part, of_late_waker, sum.ns,
							sum.segments, sum.messages, sum.by_block});
		}
	std::ranges::sort(rows, {}, [](const CulpritRow &row) {
		return std::tuple(UINT64_MAX - row.total_ns, std::string_view(row.name), row.kind, row.origin, row.layer,
						  row.part, row.of_late_waker);
	});
	rows.resize(std::min(rows.size(), count));
	return rows;
}

namespace {

constexpr size_t kNames = 3; // of one hop
constexpr double kLeastNamed = 0.05; // of a hop's time
constexpr double kRare = 0.05; // of deliveries

struct Sum {
	double mean_ns = 0;
	std::map<std::string, double> by_name;
};

Hop hop_of(path::Role role, const Sum &sum)
{
	std::vector<std::pair<double, std::string>> names;
	for (const auto &[name, ns] : sum.by_name)
		names.emplace_back(ns, name);
	std::ranges::stable_sort(names, std::ranges::greater(), &std::pair<double, std::string>::first);
	Hop hop{role, "", sum.mean_ns};
	for (size_t i = 0; i < std::min(names.size(), kNames); ++i)
		if (i == 0 || names[i].first >= kLeastNamed * sum.mean_ns)
			hop.threads += (i > 0 ? "/" : "") + names[i].second;
	return hop;
}

} // namespace

std::vector<Hop> hops(const Breakdown &layers)
{
	std::map<std::pair<path::Role, uint16_t>, Sum> sums; // the receiver is one hop, however many came before it
	for (const LayerRow &row : layers.rows()) {
		Sum &sum = sums[{row.role, row.role == path::Role::Relay ? row.hop : uint16_t{0}}];
		sum.mean_ns += row.mean_ns;
		sum.by_name[row.thread] += row.mean_ns;
	}
	std::vector<Hop> way;
	if (std::ranges::any_of(sums, [](const auto &one) { return one.first.first == path::Role::Relay; }))
		for (const auto &[place, sum] : sums) {
			const Hop hop = hop_of(place.first, sum);
			const bool is_rare = hop.role == path::Role::Relay && static_cast<double>(layers.passed(place.second)) <
																	  kRare * static_cast<double>(layers.deliveries());
			if (is_rare && !way.empty() && way.back().threads == kRareHops)
				way.back().mean_ns += hop.mean_ns;
			else
				way.push_back({hop.role, is_rare ? kRareHops : hop.threads, hop.mean_ns});
		}
	return way;
}

} // namespace icepath::analysis
