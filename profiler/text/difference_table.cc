// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/difference_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "profiler/analysis/layer_style.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/look.h"
#include "profiler/text/table.h"

namespace icepath::text {
namespace {

std::string name_without_relays(const explain::DifferenceRow &row)
{
	const std::string text = explain::layer_text(row.layer, row.part);
	return row.has_namesake ? fmt::format("{} ({})", text, explain::place_text(row)) : text;
}

} // namespace

std::string row_text(const explain::DifferenceRow &row, bool has_relays)
{
	const std::string text = explain::layer_text(row.layer, row.part);
	const std::string &thread = row.threads[row.of.a_ns > 0 ? 0 : 1];
	return !has_relays                     ? name_without_relays(row)
		   : row.role == path::Role::Relay ? fmt::format("{} at {} ({})", text, explain::place_text(row), thread)
										   : fmt::format("{} at the {} ({})", text, explain::place_text(row), thread);
}

namespace {

constexpr const char *kSumOfRows = "sum", *kNoHalf = "±?";
constexpr double kHardlyDiffers = 0.01; // of the whole that shares divide
constexpr double kWorthWords = 0.1; // of it

// The whole difference; without shares what A takes longer in the kinds in which it does.
double whole_ns(const explain::Difference &difference)
{
	if (difference.has_shares())
		return static_cast<double>(difference.of.ns());
	int64_t longer_ns = 0;
	for (const explain::KindDifference &kind : difference.kinds)
		longer_ns += std::max<int64_t>(kind.of.ns(), 0);
	return static_cast<double>(std::max<int64_t>(longer_ns, 1)); // a divisor, even where A takes longer in no kind
}

struct DifferenceLine {
	std::string name, place = {}, threads = {};
	explain::DifferenceFigures of = {};
	std::optional<analysis::LayerKind> kind = {}; // of a row for a kind
	bool has_intervals = true; // false: several rows together
};

std::string signed_microseconds(int64_t ns)
{
	return (ns < 0 ? "-" : "+") + stats::exact_microseconds(static_cast<uint64_t>(std::abs(ns)));
}

// "±0.213", with as many decimals as the figure beside it.
std::string half_text(const std::optional<stats::Interval> &interval)
{
	return interval ? "±" + stats::exact_microseconds(
								static_cast<uint64_t>(std::llround((interval->high - interval->low) / 2)))
					: kNoHalf;
}

std::string half_share_text(const std::optional<stats::Interval> &interval)
{
	return interval ? fmt::format("±{:.0f}", 50 * (interval->high - interval->low)) : kNoHalf;
}

void add_to_figures(explain::DifferenceFigures &sum, const explain::DifferenceFigures &more)
{
	sum.a_ns += more.a_ns;
	sum.b_ns += more.b_ns;
}

// The table's lines in their order, without the sum.
class DifferenceLines {
public:
	explicit DifferenceLines(const explain::Difference &difference)
		: difference_(difference), whole_ns_(whole_ns(difference))
	{
		DifferenceLine rest{.name = "everything else", .has_intervals = false};
		for (const explain::KindDifference &kind : difference.kinds) {
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
	bool differs(const explain::DifferenceFigures &of) const
	{
		return std::abs(static_cast<double>(of.ns())) >= kHardlyDiffers * std::abs(whole_ns_);
	}

	std::string threads_of(const explain::DifferenceRow &row) const
	{
		const auto &[a, b] = row.threads;
		if (!difference_.has_relays)
			return "";
		return a == b || b.empty() ? a : a.empty() ? b : a + " | " + b;
	}

	void add_kind(const explain::KindDifference &kind)
	{
		lines_.push_back({.name = analysis::style_of(kind.kind).word, .of = kind.of, .kind = kind.kind});
		const auto hardly = std::ranges::count_if(kind.rows, [&](const auto &row) { return !differs(row.of); });
		DifferenceLine others{.name = fmt::format("  {} others", hardly), .has_intervals = false};
		for (const explain::DifferenceRow &row : kind.rows)
			if (hardly > 1 && !differs(row.of))
				add_to_figures(others.of, row.of);
			else
				lines_.push_back({.name = "  " + (difference_.has_relays ? explain::layer_text(row.layer, row.part)
																		 : name_without_relays(row)),
								  .place = difference_.has_relays ? explain::place_text(row) : "",
								  .threads = threads_of(row),
								  .of = row.of});
		if (hardly > 1)
			lines_.push_back(others);
	}

	const explain::Difference &difference_;
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
			stats::exact_microseconds(line.of.a_ns),
			stats::exact_microseconds(line.of.b_ns),
			signed_microseconds(line.of.ns()),
			line.has_intervals ? half_text(line.of.interval) : "",
			share ? fmt::format("{:.0f} %", std::round(100 * *share) + 0.0) : "",
			share && line.has_intervals && !is_sum ? half_share_text(line.of.share_interval) : "",
			rest};
}

void add_difference_rows(Page &page, const std::vector<DifferenceColumns> &rows)
{
	constexpr TableColumn kText, kNumber{Side::Right}, kHalf{Side::Left, 0, 1};
	Table table({kText, kText, kNumber, kNumber, kNumber, kHalf, kNumber, kHalf});
	for (const DifferenceColumns &row : rows)
		table.add({row.begin(), row.begin() + column::Rest}, "  " + row[column::Rest]);
	table.add_to(page);
}

} // namespace

std::string share_text(const explain::Difference &difference, const explain::DifferenceFigures &part)
{
	return fmt::format("{:.0f} % {}", 100 * difference.share(part), half_share_text(part.share_interval));
}

void add_difference(Page &page, const explain::Difference &difference, const DifferenceHeads &heads)
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
	if (std::ranges::any_of(rows, [](const DifferenceColumns &row) {
			return row[column::MoreHalf] == kNoHalf || row[column::ShareHalf] == kNoHalf;
		}))
		page.line(page.spelled(fmt::format("  {}: too few blocks have such time", kNoHalf)));
}

namespace {

// The kinds that make most of a difference, in words. Those that aren't greater than what probes may add aren't sure.
struct MostKinds {
	std::vector<std::string> sure, perhaps_of_probes;
};

MostKinds most_kinds(const explain::Difference &difference, double most_by_probes_ns)
{
	constexpr double kEnough = 0.8;
	constexpr size_t kMost = 3;
	const bool has_shares = difference.has_shares();
	const double whole = whole_ns(difference);
	MostKinds kinds;
	double told = 0;
	for (const explain::KindDifference &kind : difference.kinds) {
		const auto ns = static_cast<double>(kind.of.ns());
		const double share = ns / whole;
		if (share < kWorthWords || told >= kEnough || kinds.sure.size() + kinds.perhaps_of_probes.size() == kMost)
			break;
		if (!kind.of.is_told())
			continue;
		told += share;
		const explain::DifferenceRow &most = kind.rows.front();
		(ns > most_by_probes_ns ? kinds.sure : kinds.perhaps_of_probes)
			.push_back(fmt::format(
				"{} {}{} µs{}, {}{}", analysis::style_of(kind.kind).word, has_shares ? "" : "+",
				stats::microseconds(ns),
				has_shares ? fmt::format(" ({:.0f} % {})", 100 * share, half_share_text(kind.of.share_interval)) : "",
				kind.rows.size() == 1             ? ""
				: most.of.ns() * 2 > kind.of.ns() ? "mostly "
												  : "first ",
				row_text(most, difference.has_relays)));
	}
	return kinds;
}

// ". Some others take less" where no shares say so.
std::string less_words(const explain::Difference &difference)
{
	const bool some_less =
		std::ranges::any_of(difference.kinds, [](const explain::KindDifference &kind) { return kind.of.ns() < 0; });
	return difference.has_shares() || !some_less ? "" : ". Some others take less";
}

std::string sure_words(const explain::Difference &difference, const std::vector<std::string> &kinds)
{
	return (difference.has_shares() ? "Of that, " : "It takes longer in: ") + fmt::format("{}", fmt::join(kinds, "; "));
}

} // namespace

std::string most_of_it(const explain::Difference &difference)
{
	const MostKinds kinds = most_kinds(difference, 0);
	return kinds.sure.empty() ? "" : sure_words(difference, kinds.sure) + less_words(difference);
}

std::string longer_words(const explain::Difference &difference, const std::optional<stats::Effect> &by_probes,
						 std::string_view in)
{
	const auto whole_ns = static_cast<double>(difference.of.ns());
	std::string text = fmt::format("a typical message with probes takes {} µs longer{}{}",
								   stats::microseconds(whole_ns), in.empty() ? "" : " in ", in);
	const explain::PartOfProbes part = explain::part_of_probes(by_probes);
	if (part.is_told && by_probes->interval->low >= whole_ns)
		return text + fmt::format(". The probes make more than that, {} µs, so where this time goes doesn't say why it "
								  "is slower without them",
								  stats::effect_text(by_probes).substr(1));
	const auto &[sure, perhaps] = most_kinds(difference, part.most_ns);
	if (sure.empty() && perhaps.empty())
		return text + ", and no kind of time with a tenth of that or more differs significantly";
	const bool is_worth_words = part.is_told && (!perhaps.empty() || part.most_ns >= kWorthWords * whole_ns);
	if (is_worth_words)
		text += fmt::format(". Of that, {} µs are the probes', in which layers isn't known",
							stats::effect_text(by_probes).substr(1));
	if (!sure.empty())
		text += ". " + (is_worth_words ? fmt::format("More than they add is in: {}", fmt::join(sure, "; "))
									   : sure_words(difference, sure));
	if (!perhaps.empty())
		text += fmt::format(". {} may have made: {}", is_worth_words ? "They" : "Probes", fmt::join(perhaps, "; "));
	return text + less_words(difference);
}

} // namespace icepath::text
