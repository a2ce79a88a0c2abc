// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/named_cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include "profiler/failure.h"
#include "profiler/model/cell_title.h"

namespace icepath::analysis {
namespace {

// The aspects of each cell as numbers, equal where the texts are: made once, since every cell is compared with every
// other.
class AspectsOfCells {
public:
	explicit AspectsOfCells(const std::vector<model::Cell> &cells)
	{
		std::array<std::map<std::string, size_t>, kAspects> seen;
		for (const model::Cell &cell : cells) {
			const model::KeyAspects aspects = model::aspects_of(model::key_of(cell));
			for (size_t i = 0; i < kAspects; ++i)
				numbers_.emplace_back(seen[i].try_emplace(aspects[i], seen[i].size()).first->second);
		}
	}
	// How little two cells are alike: the first aspect counts more than all others together.
	unsigned differing(size_t a, size_t b) const
	{
		unsigned differ = 0;
		for (size_t i = 0; i < kAspects; ++i)
			differ = 2 * differ + (numbers_[a * kAspects + i] != numbers_[b * kAspects + i]);
		return differ;
	}
	size_t most_like(size_t cell, const std::vector<size_t> &among) const
	{
		return *std::ranges::min_element(among, {}, [&](size_t other) {
			return std::pair(other == cell && among.size() > 1, differing(cell, other));
		});
	}

private:
	static constexpr size_t kAspects = model::kKeyAspects.size();
	std::vector<size_t> numbers_; // cell by cell
};

// The measured cells that the text names. Throws unless they are of one target.
std::vector<size_t> compared_cells_named(const std::vector<model::Cell> &cells, const std::vector<bool> &measured,
										 const std::string &text, const char *option)
{
	constexpr size_t kNamed = 4;
	std::vector<size_t> found = measured_cells_named(cells, measured, text, option, "");
	std::set<std::string> targets;
	for (const size_t cell : found)
		targets.insert(cells[cell].target);
	if (targets.size() == 1)
		return found;
	std::vector<std::string> titles;
	for (size_t i = 0; i < std::min(kNamed, found.size()); ++i)
		titles.push_back(model::title(cells[found[i]]));
	throw Failure(ExitCode::Usage,
				  fmt::format("{}: cells of {} targets have \"{}\" in their titles: {}{}. Name one target, as {} {}",
							  option, targets.size(), text, fmt::join(titles, ", "), found.size() > kNamed ? ", …" : "",
							  option, shell_word(cells[found.front()].target)));
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

std::vector<std::string> keys_of(const std::vector<model::Cell> &cells)
{
	std::vector<model::CellKey> keys;
	std::ranges::transform(cells, std::back_inserter(keys), model::key_of);
	return model::key_texts(keys);
}

std::vector<std::string> keys_of(const RunResult &result)
{
	std::vector<model::Cell> cells;
	std::ranges::transform(result.cells, std::back_inserter(cells), &CellResult::cell);
	return keys_of(cells);
}

std::vector<size_t> cells_named(const RunResult &result, const std::string &text)
{
	std::vector<model::Cell> cells;
	std::ranges::transform(result.cells, std::back_inserter(cells), &CellResult::cell);
	return cells_named(cells, text);
}

std::vector<std::string> unlike(const model::Cell &a, const model::Cell &b)
{
	model::CellKey as_of_b = model::key_of(a);
	as_of_b.target = b.target;
	return model::differing(as_of_b, model::key_of(b));
}

std::vector<size_t> measured_cells_named(const std::vector<model::Cell> &cells, const std::vector<bool> &measured,
										 const std::string &text, const std::string &option, const std::string &how)
{
	std::vector<size_t> found = cells_named(cells, text);
	if (found.empty())
		throw Failure(
			ExitCode::Usage,
			fmt::format("{}: no cell has \"{}\" in its title: `icepath report -v RUN` has their titles", option, text));
	const size_t first = found.front();
	std::erase_if(found, [&](size_t cell) { return !measured.at(cell); });
	if (found.empty())
		throw Failure(ExitCode::Invalid, fmt::format("{}: {} was not measured{}: measure longer{}", option,
													 model::title(cells[first]), how,
													 how.empty() ? " (icepath run -d)"
																 : ", as root or after icepath setup (sudo icepath run "
																   "-d)"));
	return found;
}

std::vector<PairOfCells> pairs_named(const std::vector<model::Cell> &cells, const std::vector<bool> &measured,
									 const std::pair<std::string, std::string> &texts)
{
	const std::vector<size_t> ones = compared_cells_named(cells, measured, texts.first, "--cell"),
							  others = compared_cells_named(cells, measured, texts.second, "--against");
	const AspectsOfCells aspects(cells);
	std::vector<PairOfCells> pairs;
	for (const size_t one : ones)
		pairs.push_back({one, aspects.most_like(one, others)});
	std::ranges::stable_sort(pairs, {}, [&](const PairOfCells &pair) {
		return std::pair(pair.cell == pair.against, aspects.differing(pair.cell, pair.against));
	});
	return pairs;
}

OtherPairs other_pairs(const std::vector<model::Cell> &cells, const std::vector<bool> &measured,
					   const std::pair<std::string, std::string> &texts)
{
	std::vector<PairOfCells> pairs = pairs_named(cells, measured, texts);
	const PairOfCells first = pairs.front();
	for (const size_t other : compared_cells_named(cells, measured, texts.second, "--against"))
		pairs.push_back({first.cell, other});
	std::vector<std::string> titles;
	std::map<std::string, size_t> with_title;
	for (const model::Cell &cell : cells)
		++with_title[titles.emplace_back(model::title(cell))];
	const auto is_named = [&](size_t cell) { return with_title[titles[cell]] == 1; };
	OtherPairs others;
	std::set<std::pair<size_t, size_t>> seen = {std::minmax({first.cell, first.against})};
	for (const PairOfCells &pair : pairs) {
		if (pair.cell == pair.against || !seen.insert(std::minmax({pair.cell, pair.against})).second)
			continue;
		if (is_named(pair.cell) && is_named(pair.against))
			others.named.push_back({pair, fmt::format("--cell {} --against {}", shell_word(titles[pair.cell]),
													  shell_word(titles[pair.against]))});
		else
			++others.unnamed;
	}
	return others;
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

} // namespace icepath::analysis
