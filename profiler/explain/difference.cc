// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

namespace icepath::explain {
namespace {

using RowKey = std::tuple<analysis::LayerKind, model::Layer, model::Part, path::Role, uint16_t>;

struct OfRowKey {
	std::array<double, 2> mean_ns{};
	std::array<std::map<std::string, double>, 2> threads;
	stats::TwoSums sums;
};

void add_to(std::vector<double> &sums, const std::vector<double> &more)
{
	sums.resize(std::max(sums.size(), more.size()), 0);
	for (size_t i = 0; i < more.size(); ++i)
		sums[i] += more[i];
}

void add_to(stats::TwoSums &sums, const stats::TwoSums &more)
{
	add_to(sums.a, more.a);
	add_to(sums.b, more.b);
}

// Messages reach the receiver by different numbers of hops, so only relays keep their hop.
void add_side(const Compared &side, size_t which, std::map<RowKey, OfRowKey> &keys)
{
	for (const analysis::LayerRow &row : side.layers.rows()) {
		const uint16_t relay = row.role == path::Role::Relay ? row.hop : uint16_t{0};
		OfRowKey &of = keys[{analysis::kind_of(row.layer, row.part, side.code), row.layer, row.part, row.role, relay}];
		of.mean_ns[which] += row.mean_ns;
		of.threads[which][row.thread] += row.mean_ns;
		add_to(which == 0 ? of.sums.a : of.sums.b, row.by_block);
	}
}

std::string names_of_threads(const std::map<std::string, double> &threads)
{
	constexpr size_t kNames = 2;
	constexpr double kLeastNamed = 0.05;
	std::vector<std::pair<double, std::string>> names;
	double all = 0;
	for (const auto &[name, ns] : threads) {
		names.emplace_back(ns, name);
		all += ns;
	}
	std::ranges::stable_sort(names, std::ranges::greater(), &std::pair<double, std::string>::first);
	std::string text;
	for (size_t i = 0; i < std::min(names.size(), kNames); ++i)
		if (i == 0 || names[i].first >= kLeastNamed * all)
			text += (i > 0 ? "/" : "") + names[i].second;
	return text + (names.size() > kNames ? "/…" : "");
}

// Rounds the means of one side so that they add up.
std::vector<uint64_t> rounded_to_add_up(const std::map<RowKey, OfRowKey> &keys, size_t which)
{
	constexpr double kFine = 1024; // of a nanosecond
	std::vector<uint64_t> weights;
	double sum = 0;
	for (const auto &[key, of] : keys) {
		weights.push_back(static_cast<uint64_t>(std::llround(of.mean_ns[which] * kFine)));
		sum += of.mean_ns[which];
	}
	return analysis::apportion(weights, static_cast<uint64_t>(std::llround(sum)));
}

auto greatest_first = [](const auto &one, const auto &other) { return one.of.ns() > other.of.ns(); };

class DifferenceIntervals {
public:
	DifferenceIntervals(const Compared &a, const Compared &b, stats::TwoSums whole)
		: blocks_{a.layers.blocks().weights.size(), b.layers.blocks().weights.size()},
		  difference_(a.layers.blocks(), b.layers.blocks()), whole_(padded(std::move(whole)))
	{}
	void set(DifferenceFigures &of, const stats::TwoSums &sums) const
	{
		const stats::TwoSums all = padded(sums);
		of.interval = difference_.interval(all);
		if (difference_.difference(whole_) != 0)
			of.share_interval = difference_.share_interval(all, whole_);
	}

private:
	// A side without such time has no sums.
	stats::TwoSums padded(stats::TwoSums sums) const
	{
		sums.a.resize(blocks_[0], 0);
		sums.b.resize(blocks_[1], 0);
		return sums;
	}
	std::array<size_t, 2> blocks_;
	stats::RedrawnDifference difference_;
	stats::TwoSums whole_;
};

} // namespace

Difference compare(const Compared &a, const Compared &b)
{
	std::map<RowKey, OfRowKey> keys;
	add_side(a, 0, keys);
	add_side(b, 1, keys);
	const std::array<std::vector<uint64_t>, 2> whole_ns = {rounded_to_add_up(keys, 0), rounded_to_add_up(keys, 1)};
	stats::TwoSums all;
	std::map<analysis::LayerKind, stats::TwoSums> by_kind;
	for (const auto &[key, of] : keys) {
		add_to(all, of.sums);
		add_to(by_kind[std::get<0>(key)], of.sums);
	}
	const DifferenceIntervals intervals(a, b, all);
	Difference difference;
	intervals.set(difference.of, all);
	difference.of.share_interval = std::nullopt;
	size_t place = 0;
	for (const auto &[key, of] : keys) { // those of a kind together
		const auto &[kind, layer, part, role, relay] = key;
		if (difference.kinds.empty() || difference.kinds.back().kind != kind) {
			difference.kinds.push_back({kind, {}, {}});
			intervals.set(difference.kinds.back().of, by_kind[kind]);
		}
		KindDifference &its_kind = difference.kinds.back();
		DifferenceRow &row = its_kind.rows.emplace_back(DifferenceRow{
			layer, part, role, relay, {names_of_threads(of.threads[0]), names_of_threads(of.threads[1])}, {}});
		row.of.a_ns = whole_ns[0][place];
		row.of.b_ns = whole_ns[1][place];
		intervals.set(row.of, of.sums);
		++place;
		for (DifferenceFigures *sum : {&its_kind.of, &difference.of}) {
			sum->a_ns += row.of.a_ns;
			sum->b_ns += row.of.b_ns;
		}
		difference.has_relays = difference.has_relays || role == path::Role::Relay;
	}
	std::ranges::stable_sort(difference.kinds, greatest_first);
	for (KindDifference &kind : difference.kinds) {
		std::ranges::stable_sort(kind.rows, greatest_first);
		for (DifferenceRow &row : kind.rows)
			row.has_namesake = std::ranges::count_if(kind.rows, [&](const DifferenceRow &other) {
								   return other.layer == row.layer && other.part == row.part;
							   }) > 1;
	}
	return difference;
}

bool Difference::has_shares() const
{
	constexpr double kMost = 1.005; // which is still written as 100 %
	const auto is_a_part = [&](const DifferenceFigures &part) { return share(part) < kMost; };
	return of.ns() != 0 && std::ranges::all_of(kinds, [&](const KindDifference &kind) {
			   return is_a_part(kind.of) && std::ranges::all_of(kind.rows, is_a_part, &DifferenceRow::of);
		   });
}

const KindDifference *carrier_of(const Difference &difference)
{
	constexpr double kMost = 0.5;
	const auto carrier = std::ranges::find_if(difference.kinds, [&](const KindDifference &kind) {
		return kind.of.share_interval && kind.of.share_interval->low > kMost;
	});
	return carrier == difference.kinds.end() || !difference.has_shares() ? nullptr : &*carrier;
}

bool is_own_code(const DifferenceRow &row)
{
	using model::Layer;
	return row.part == model::Part::None &&
		   (row.layer == Layer::SenderUser || row.layer == Layer::RelayUser || row.layer == Layer::ReceiverUser);
}

std::string layer_text(model::Layer layer, model::Part part)
{
	std::string text(model::name(layer));
	return part == model::Part::None ? text : text + "/" + std::string(model::name(part));
}

std::string place_text(const DifferenceRow &row)
{
	const std::string_view role = path::kRoleNames[static_cast<size_t>(row.role)];
	return row.role == path::Role::Relay ? fmt::format("{} {}", role, row.relay) : std::string(role);
}

} // namespace icepath::explain
