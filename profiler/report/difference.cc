// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

#include "profiler/report/quantity.h"

namespace icepath::report {
namespace {

using RowKey = std::tuple<LayerKind, model::Layer, model::Part, path::Role, uint16_t>;

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
	for (const LayerRow &row : side.layers.rows()) {
		const uint16_t relay = row.role == path::Role::Relay ? row.hop : uint16_t{0};
		OfRowKey &of = keys[{kind_of(row.layer, row.part, side.of_library), row.layer, row.part, row.role, relay}];
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
	return apportion(weights, static_cast<uint64_t>(std::llround(sum)));
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
	std::map<LayerKind, stats::TwoSums> by_kind;
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

namespace {

std::string name_without_relays(const DifferenceRow &row)
{
	const std::string text = layer_text(row.layer, row.part);
	return row.has_namesake ? fmt::format("{} ({})", text, place_text(row)) : text;
}

} // namespace

std::string row_text(const DifferenceRow &row, bool has_relays)
{
	const std::string text = layer_text(row.layer, row.part);
	const std::string &thread = row.threads[row.of.a_ns > 0 ? 0 : 1];
	return !has_relays                     ? name_without_relays(row)
		   : row.role == path::Role::Relay ? fmt::format("{} at {} ({})", text, place_text(row), thread)
										   : fmt::format("{} at the {} ({})", text, place_text(row), thread);
}

namespace {

constexpr const char *kSumOfRows = "sum";
constexpr double kHardlyDiffers = 0.01; // of the whole that shares divide

// The whole difference; without shares what A takes longer in the kinds in which it does.
double whole_ns(const Difference &difference)
{
	if (difference.has_shares())
		return static_cast<double>(difference.of.ns());
	int64_t longer_ns = 0;
	for (const KindDifference &kind : difference.kinds)
		longer_ns += std::max<int64_t>(kind.of.ns(), 0);
	return static_cast<double>(std::max<int64_t>(longer_ns, 1)); // a divisor, even where A takes longer in no kind
}

struct DifferenceLine {
	std::string name, place = {}, threads = {};
	DifferenceFigures of = {};
	std::optional<LayerKind> kind = {}; // of a row for a kind
	bool has_intervals = true; // false: several rows together
};

std::string signed_microseconds(int64_t ns)
{
	return (ns < 0 ? "-" : "+") + exact_microseconds(static_cast<uint64_t>(std::abs(ns)));
}

// "±0.213", with as many decimals as the figure beside it.
std::string half_text(const std::optional<stats::Interval> &interval)
{
	return interval
			   ? "±" + exact_microseconds(static_cast<uint64_t>(std::llround((interval->high - interval->low) / 2)))
			   : "±?";
}

std::string half_share_text(const std::optional<stats::Interval> &interval)
{
	return interval ? fmt::format("±{:.0f}", 50 * (interval->high - interval->low)) : "±?";
}

void add_to_figures(DifferenceFigures &sum, const DifferenceFigures &more)
{
	sum.a_ns += more.a_ns;
	sum.b_ns += more.b_ns;
}

// The table's lines in their order, without the sum.
class DifferenceLines {
public:
	explicit DifferenceLines(const Difference &difference) : difference_(difference), whole_ns_(whole_ns(difference))
	{
		DifferenceLine rest{.name = "everything else", .has_intervals = false};
		for (const KindDifference &kind : difference.kinds) {
			if (differs(kind.of) || std::ranges::any_of(kind.rows, [&](const auto &row) { return differs(row.of); }))
				add_kind(kind);
			else
				add_to_figures(rest.of, kind.of);
		}
		if (rest.of.a_ns > 0 || rest.of.b_ns > 0)
			lines_.push_back(rest);
	}
	std::vector<DifferenceLine> take() { return std::move(lines_); }

private:
	bool differs(const DifferenceFigures &of) const
	{
		return std::abs(static_cast<double>(of.ns())) >= kHardlyDiffers * std::abs(whole_ns_);
	}

	std::string threads_of(const DifferenceRow &row) const
	{
		const auto &[a, b] = row.threads;
		if (!difference_.has_relays)
			return "";
		return a == b || b.empty() ? a : a.empty() ? b : a + " | " + b;
	}

	void add_kind(const KindDifference &kind)
	{
		lines_.push_back({.name = style_of(kind.kind).word, .of = kind.of, .kind = kind.kind});
		const auto hardly = std::ranges::count_if(kind.rows, [&](const auto &row) { return !differs(row.of); });
		DifferenceLine others{.name = fmt::format("  {} others", hardly), .has_intervals = false};
		for (const DifferenceRow &row : kind.rows)
			if (hardly > 1 && !differs(row.of))
				add_to_figures(others.of, row.of);
			else
				lines_.push_back({.name = "  " + (difference_.has_relays ? layer_text(row.layer, row.part)
																		 : name_without_relays(row)),
								  .place = difference_.has_relays ? place_text(row) : "",
								  .threads = threads_of(row),
								  .of = row.of});
		if (hardly > 1)
			lines_.push_back(others);
	}

	const Difference &difference_;
	const double whole_ns_;
	std::vector<DifferenceLine> lines_;
};

namespace column {
enum : size_t { Name, Place, OfA, OfB, More, MoreHalf, Share, ShareHalf, Rest, Count };
} // namespace column
using DifferenceColumns = std::array<std::string, column::Count>; // of a row

// `share`: nothing if there are no shares.
DifferenceColumns columns_of(const DifferenceLine &line, std::optional<double> share, const std::string &rest)
{
	const bool is_sum = line.name == kSumOfRows;
	return {line.name,
			line.place,
			exact_microseconds(line.of.a_ns),
			exact_microseconds(line.of.b_ns),
			signed_microseconds(line.of.ns()),
			line.has_intervals ? half_text(line.of.interval) : "",
			share ? fmt::format("{:.0f} %", std::round(100 * *share) + 0.0) : "",
			share && line.has_intervals && !is_sum ? half_share_text(line.of.share_interval) : "",
			rest};
}

void add_difference_rows(Page &page, const std::vector<DifferenceColumns> &rows)
{
	std::array<size_t, column::Rest> widths{};
	for (const DifferenceColumns &row : rows)
		for (size_t i = 0; i < widths.size(); ++i)
			widths[i] = std::max(widths[i], columns(row[i]));
	for (const DifferenceColumns &row : rows) {
		std::string text = " ";
		for (size_t i = 0; i < widths.size(); ++i) {
			const bool is_half = i == column::MoreHalf || i == column::ShareHalf;
			if (widths[i] > 0)
				text += (i == column::Name || is_half ? " " : "  ") +
						(i <= column::Place || is_half ? pad_right(row[i], widths[i]) : pad_left(row[i], widths[i]));
		}
		text = page.spelled(text) + (row[column::Rest].empty() ? "" : "  " + row[column::Rest]);
		text.erase(text.find_last_not_of(' ') + 1);
		page.line(text);
	}
}

} // namespace

void add_difference(Page &page, const Difference &difference, const DifferenceHeads &heads)
{
	constexpr size_t kBar = 16;
	const bool has_shares = difference.has_shares();
	const double whole = whole_ns(difference);
	std::vector<DifferenceColumns> rows = {
		{"mean µs", "", heads.a, heads.b, heads.difference, "", has_shares ? heads.share : "", "", ""}};
	for (const DifferenceLine &line : DifferenceLines(difference).take()) {
		const double part = static_cast<double>(line.of.ns()) / whole;
		const auto bar = static_cast<size_t>(std::lround(std::clamp(part, 0.0, 1.0) * kBar));
		rows.push_back(columns_of(line, has_shares ? std::optional(part) : std::nullopt,
								  !line.kind ? page.spelled(line.threads)
								  : bar > 0  ? kind_symbol(*line.kind, bar, page.look())
											 : ""));
	}
	rows.push_back(columns_of({.name = kSumOfRows, .of = difference.of}, has_shares ? std::optional(1.0) : std::nullopt,
							  page.spelled("= recv - send")));
	if (heads.b_first)
		for (DifferenceColumns &row : rows)
			std::swap(row[column::OfA], row[column::OfB]);
	add_difference_rows(page, rows);
	if (!has_shares)
		page.line("  without shares: a row differs by more than the sum");
}

std::string most_of_it(const Difference &difference)
{
	constexpr double kEnough = 0.8, kWorthWords = 0.1;
	constexpr size_t kMost = 3;
	const bool has_shares = difference.has_shares();
	const double whole = whole_ns(difference);
	std::string text;
	double told = 0;
	size_t kinds = 0;
	for (const KindDifference &kind : difference.kinds) {
		const double share = static_cast<double>(kind.of.ns()) / whole;
		if (share < kWorthWords || told >= kEnough || kinds == kMost)
			break;
		if (!kind.of.is_told())
			continue;
		told += share;
		++kinds;
		const std::string beside =
			has_shares ? fmt::format(" ({:.0f} % {})", 100 * share, half_share_text(kind.of.share_interval)) : "";
		text += fmt::format("{}{} {}{} µs{}", text.empty() ? (has_shares ? "Of that, " : "It takes longer in: ") : "; ",
							style_of(kind.kind).word, has_shares ? "" : "+",
							microseconds(static_cast<double>(kind.of.ns())), beside);
		const DifferenceRow &most = kind.rows.front();
		text += fmt::format(", {}{}",
							kind.rows.size() == 1             ? ""
							: most.of.ns() * 2 > kind.of.ns() ? "mostly "
															  : "first ",
							row_text(most, difference.has_relays));
	}
	const bool some_less =
		std::ranges::any_of(difference.kinds, [](const KindDifference &kind) { return kind.of.ns() < 0; });
	return has_shares || text.empty() || !some_less ? text : text + ". Some others take less";
}

} // namespace icepath::report
