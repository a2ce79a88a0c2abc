// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/unknown_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace icepath::plan {
namespace {

// At most three: names that have the wanted one within them or lie within it, then those with one change for each three
// characters or fewer.
std::vector<std::string> names_like(const std::string &wanted, const std::vector<targets::Target> &targets)
{
	constexpr size_t kMost = 3;
	std::vector<std::pair<size_t, std::string>> like;
	for (const targets::Target &target : targets) {
		const std::string &name = target.name;
		const bool is_within = !wanted.empty() && (name.find(wanted) != std::string::npos ||
												   (name.size() >= kMost && wanted.find(name) != std::string::npos));
		const size_t changes = is_within ? 0 : changes_between(wanted, name);
		if (3 * changes <= std::max(wanted.size(), name.size()))
			like.emplace_back(changes, name);
	}
	std::ranges::stable_sort(like, {}, &std::pair<size_t, std::string>::first);
	std::vector<std::string> names;
	for (size_t i = 0; i < std::min(kMost, like.size()); ++i)
		names.push_back(like[i].second);
	return names;
}

} // namespace

size_t changes_between(std::string_view one, std::string_view other)
{
	std::vector<size_t> row(other.size() + 1); // changes from the part of `one` so far to each beginning of `other`
	std::iota(row.begin(), row.end(), size_t{0});
	for (size_t i = 0; i < one.size(); ++i) {
		size_t diagonal = std::exchange(row[0], i + 1);
		for (size_t j = 0; j < other.size(); ++j)
			diagonal = std::exchange(row[j + 1],
									 std::min({row[j] + 1, row[j + 1] + 1, diagonal + (one[i] == other[j] ? 0 : 1)}));
	}
	return row.back();
}

std::string unknown_target(const std::string &wanted, const std::vector<targets::Target> &targets,
						   const std::vector<std::string> &not_loaded)
{
	std::string text = fmt::format("unknown target \"{}\"", wanted);
	if (!not_loaded.empty())
		text += fmt::format(": {}", fmt::join(not_loaded, "; "));
	const std::string plugin = "icepath-" + wanted.substr(0, wanted.find('/')) + ".so";
	if (std::ranges::any_of(not_loaded, [&](const std::string &why) { return why.starts_with(plugin); }))
		return text;
	constexpr size_t kFew = 4;
	std::vector<std::string> names;
	if (targets.size() <= kFew) {
		for (const targets::Target &target : targets)
			names.push_back(target.name);
		return text + fmt::format("{} there are {}", not_loaded.empty() ? ":" : ";", fmt::join(names, ", "));
	}
	names = names_like(wanted, targets);
	if (!names.empty())
		text += fmt::format("{} is it {}?", not_loaded.empty() ? ":" : ";", fmt::join(names, ", "));
	return text + (text.ends_with('?') ? " icepath list has all names" : "; icepath list has all names");
}

} // namespace icepath::plan
