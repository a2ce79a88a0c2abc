// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/named_cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "profiler/failure.h"
#include "profiler/model/cell_title.h"

namespace icepath::report {
namespace {

// What tells cells of a target apart. The first ones make them least alike.
struct Aspect {
	const char *name;
	std::string (*of)(const model::Cell &);
};

std::string rate_or_limits(const model::Cell &cell)
{
	return cell.rate_hz  ? fmt::format("{:g}/s", *cell.rate_hz)
		   : cell.limits ? fmt::format("up to {:g}% lost, p99 {:g}ms", cell.limits->max_loss * 100,
									   static_cast<double>(cell.limits->max_p99_ns) / 1e6)
						 : "none";
}

std::string levels_or_none(const model::Cell &cell)
{
	const std::string levels = model::levels_text(cell);
	return levels.empty() ? "none" : levels.substr(1); // without the space before the first
}

constexpr std::array kAspects = {
	Aspect{"pattern", [](const model::Cell &cell) { return std::string(model::name(cell.pattern)); }},
	Aspect{"size", [](const model::Cell &cell) { return model::payload_text(cell.payload_bytes); }},
	Aspect{"between", [](const model::Cell &cell) { return std::string(model::name(model::between(cell))); }},
	Aspect{"idle states of CPUs", [](const model::Cell &cell) { return std::string(model::name(cell.idle_states)); }},
	Aspect{"rate", rate_or_limits},
	Aspect{"levels", levels_or_none},
	Aspect{"wait", [](const model::Cell &cell) { return std::string(model::name(cell.wait)); }},
};

std::array<bool, kAspects.size()> differing(const model::Cell &a, const model::Cell &b)
{
	std::array<bool, kAspects.size()> differ{};
	std::ranges::transform(kAspects, differ.begin(),
						   [&](const Aspect &aspect) { return aspect.of(a) != aspect.of(b); });
	return differ;
}

std::vector<size_t> measured_of(const std::vector<model::Cell> &cells, const std::vector<bool> &measured,
								const std::string &text, const char *option)
{
	constexpr size_t kNamed = 4;
	std::vector<model::Cell> only;
	std::vector<size_t> at;
	for (size_t i = 0; i < cells.size(); ++i)
		if (measured.at(i)) {
			only.push_back(cells[i]);
			at.push_back(i);
		}
	std::vector<size_t> found = cells_named(only, text);
	if (found.empty())
		throw Failure(ExitCode::Usage,
					  fmt::format("{}: no cell that was measured has \"{}\" in its title", option, text));
	std::set<std::string> targets;
	std::vector<std::string> titles;
	for (size_t &cell : found) {
		targets.insert(only[cell].target);
		titles.push_back(model::title(only[cell]));
		cell = at[cell];
	}
	if (targets.size() == 1)
		return found;
	const bool some = titles.size() > kNamed;
	titles.resize(std::min(kNamed, titles.size()));
	throw Failure(ExitCode::Usage,
				  fmt::format("{}: cells of {} targets have \"{}\" in their titles: {}{}. Name one target, as {} {}",
							  option, targets.size(), text, fmt::join(titles, ", "), some ? ", …" : "", option,
							  shell_word(only[cells_named(only, text).front()].target)));
}

size_t most_like(const std::vector<model::Cell> &cells, size_t cell, const std::vector<size_t> &among)
{
	return *std::ranges::min_element(among, {}, [&](size_t other) {
		return std::pair(other == cell && among.size() > 1, differing(cells[cell], cells[other]));
	});
}

} // namespace

std::vector<size_t> cells_named(const std::vector<model::Cell> &cells, const std::string &text)
{
	std::array<std::vector<size_t>, 3> found; // the best first
	for (size_t i = 0; i < cells.size(); ++i)
		if (const std::string title = model::title(cells[i]); title.find(text) != std::string::npos)
			found[title == text ? 0 : title.starts_with(text + " ") ? 1 : 2].push_back(i);
	const auto best = std::ranges::find_if(found, [](const auto &named) { return !named.empty(); });
	return best == found.end() ? std::vector<size_t>() : *best;
}

std::vector<size_t> cells_named(const RunResult &result, const std::string &text)
{
	std::vector<model::Cell> cells;
	std::ranges::transform(result.cells, std::back_inserter(cells), &CellResult::cell);
	return cells_named(cells, text);
}

std::vector<std::string> unlike(const model::Cell &a, const model::Cell &b)
{
	std::vector<std::string> found;
	for (const Aspect &aspect : kAspects)
		if (const std::string of_a = aspect.of(a), of_b = aspect.of(b);
			of_a != of_b &&
			(aspect.of != rate_or_limits || a.pattern == b.pattern)) // which decides whether there is one
			found.push_back(fmt::format("{}: {} and {}", aspect.name, of_a, of_b));
	return found;
}

std::vector<PairOfCells> pairs_named(const std::vector<model::Cell> &cells, const std::vector<bool> &measured,
									 const std::pair<std::string, std::string> &texts)
{
	const std::vector<size_t> ones = measured_of(cells, measured, texts.first, "--cell"),
							  others = measured_of(cells, measured, texts.second, "--against");
	std::vector<PairOfCells> pairs;
	for (const size_t one : ones)
		pairs.push_back({one, most_like(cells, one, others)});
	std::ranges::stable_sort(pairs, {}, [&](const PairOfCells &pair) {
		return std::pair(pair.cell == pair.against, differing(cells[pair.cell], cells[pair.against]));
	});
	return pairs;
}

std::vector<OtherPair> other_pairs(const std::vector<model::Cell> &cells, const std::vector<bool> &measured,
								   const std::pair<std::string, std::string> &texts)
{
	const std::vector<PairOfCells> named = pairs_named(cells, measured, texts);
	std::vector<PairOfCells> pairs(named.begin() + 1, named.end());
	for (const size_t other : measured_of(cells, measured, texts.second, "--against"))
		if (other != named[0].cell && std::ranges::find(named, other, &PairOfCells::against) == named.end())
			pairs.push_back({named[0].cell, other});
	std::vector<OtherPair> found;
	for (const PairOfCells &pair : pairs) {
		if (pair.cell == pair.against)
			continue;
		const std::string cell = model::title(cells[pair.cell]), against = model::title(cells[pair.against]);
		for (const auto &[one, other] :
			 {std::pair(cell, texts.second), std::pair(texts.first, against), std::pair(cell, against)})
			if (pairs_named(cells, measured, {one, other}).front() == pair) {
				found.push_back({pair, fmt::format("--cell {} --against {}", shell_word(one), shell_word(other))});
				break;
			}
	}
	return found;
}

std::string shell_word(const std::string &text)
{
	constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,=@%+-";
	if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos)
		return text;
	std::string quoted = "'";
	for (const char character : text)
		quoted += character == '\'' ? std::string("'\\''") : std::string(1, character);
	return quoted + "'";
}

} // namespace icepath::report
