// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/matrix_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace icepath::selftest {
namespace {

// A layer gets a column only if an injection put at least this share into it.
constexpr double kWorthAColumn = 0.005;

std::string percent(double share)
{
	const double value = 100 * share;
	return fmt::format("{:.1f}", std::abs(value) < 0.05 ? 0.0 : value);
}

std::vector<size_t> columns_of(const std::vector<Row> &matrix)
{
	std::vector<size_t> columns;
	for (size_t layer = 0; layer < model::kLayerCount; layer++)
		for (const Row &row : matrix)
			if (row.layers[layer] && std::abs(row.layers[layer]->median) >= kWorthAColumn) {
				columns.push_back(layer);
				break;
			}
	return columns;
}

std::string with_interval(const stats::Middle &share)
{
	return share.interval ? fmt::format("{} [{}, {}]", percent(share.median), percent(share.interval->low),
										percent(share.interval->high))
						  : percent(share.median);
}

void add_shares(const std::vector<Row> &matrix, std::string &text)
{
	const std::vector<size_t> columns = columns_of(matrix);
	text += fmt::format("{:<16} {:>9}", "", "added µs");
	for (const size_t layer : columns)
		text += fmt::format(" {:>15}", model::name(static_cast<model::Layer>(layer)));
	text += "\n";
	for (const Row &row : matrix) {
		if (!row.added_ns)
			continue;
		text += fmt::format("{:<16} {:>9.1f}", row.injection->name, row.added_ns->median / 1000);
		for (const size_t layer : columns)
			text += fmt::format(" {:>15}", percent(row.layers[layer]->median));
		text += "\n";
	}
}

// The largest of the other layers: "network 0.4 [0.1, 0.8]".
std::string most_elsewhere(const Row &row)
{
	const auto most = std::ranges::max_element(row.elsewhere, {},
											   [](const auto &share) { return share ? share->median : -HUGE_VAL; });
	return *most ? fmt::format("{} {}", model::name(static_cast<model::Layer>(most - row.elsewhere.begin())),
							   with_interval(**most))
				 : "–";
}

void add_verdicts(const std::vector<Row> &matrix, std::string &text)
{
	text += fmt::format("\n{:<16} {:<12} {:>5} {:>7}  {:<23} {:<34} {}\n", "", "verdict", "pairs", "named",
						"in place, %", "most elsewhere, %", "where it belongs");
	for (const Row &row : matrix) {
		text += fmt::format("{:<16} {:<12} {:>5} {:>7}  {:<23} {:<34} {}\n", row.injection->name, name(row.verdict),
							row.pairs, row.named ? percent(*row.named) : "–",
							row.in_place ? with_interval(*row.in_place) : "–", most_elsewhere(row),
							text_of(row.injection->lands));
		if (!row.why.empty())
			text += fmt::format("{:<16} {}\n", "", row.why);
	}
}

// "of 15: 13 lands, 1 strays, 0 undecided, 1 not injected, 0 not judged".
std::string summary_of(const std::vector<Row> &matrix)
{
	std::string summary;
	for (size_t number = 0; number < kVerdictNames.size(); number++)
		summary +=
			fmt::format("{}{} {}", summary.empty() ? "" : ", ",
						std::ranges::count(matrix, static_cast<Verdict>(number), &Row::verdict), kVerdictNames[number]);
	return fmt::format("of {}: {}", matrix.size(), summary);
}

} // namespace

std::string text_of(const std::vector<Row> &matrix)
{
	std::string text = "share in % of the added time, by the layer in which it was found\n";
	add_shares(matrix, text);
	add_verdicts(matrix, text);
	return text + "\n" + summary_of(matrix) + "\n" +
		   fmt::format(
			   "\nMedians over pairs of blocks, without and with the injection. An injection lands where at least "
			   "{:.0f} % of its time is\nin place and at most {:.0f} % in each other layer. In brackets: the "
			   "median's 95 % interval. named: share of the time in\nplace that is blamed on who took it.\n",
			   100 * kLeastInPlace, 100 * kMostElsewhere);
}

} // namespace icepath::selftest
