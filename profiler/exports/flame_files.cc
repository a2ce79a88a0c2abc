// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/flame_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "profiler/stats/quantity.h"

namespace icepath::exports {
namespace {

using Json = nlohmann::ordered_json;

// Calls take(names, frame) for each stack of `frame`; `names` are those above its children, then and afterwards.
template <typename Take>
void each_stack(const analysis::FlameFrame &frame, std::vector<std::string> &names, const Take &take)
{
	for (const analysis::FlameFrame &child : frame.children) {
		names.push_back(child.name);
		if (child.children.empty())
			take(names, child);
		else
			each_stack(child, names, take);
		names.pop_back();
	}
}

} // namespace

std::string folded(const analysis::FlameGraph &graph)
{
	std::map<std::vector<std::string>, uint64_t> stacks;
	for (const analysis::FlameCell &cell : graph.cells) {
		std::vector<std::string> names = {cell.target, cell.variant};
		each_stack(cell.layers, names, [&](const std::vector<std::string> &stack, const analysis::FlameFrame &last) {
			stacks[stack] += last.total_ns;
		});
	}
	std::string text;
	for (const auto &[stack, ns] : stacks)
		text += fmt::format("{} {}\n", fmt::join(stack, ";"), ns);
	return text;
}

std::string speedscope(const analysis::FlameGraph &graph, const std::string &title)
{
	std::map<std::string, size_t> numbers;
	Json frames = Json::array(), profiles = Json::array();
	const auto number_of = [&](const std::string &name) {
		const auto [at, is_new] = numbers.emplace(name, numbers.size());
		if (is_new)
			frames.push_back({{"name", name}});
		return at->second;
	};
	for (const analysis::FlameCell &cell : graph.cells) {
		Json samples = Json::array(), weights = Json::array();
		std::vector<std::string> names;
		each_stack(cell.layers, names, [&](const std::vector<std::string> &stack, const analysis::FlameFrame &last) {
			Json sample = Json::array();
			for (const std::string &name : stack)
				sample.push_back(number_of(name));
			samples.push_back(std::move(sample));
			weights.push_back(stats::rounded(last.mean_ns));
		});
		profiles.push_back({{"type", "sampled"},
							{"name", cell.layers.name},
							{"unit", "nanoseconds"},
							{"startValue", 0},
							{"endValue", stats::rounded(cell.layers.mean())},
							{"samples", samples},
							{"weights", weights}});
	}
	const Json file = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
					   {"shared", {{"frames", frames}}},
					   {"profiles", profiles},
					   {"name", title},
					   {"activeProfileIndex", 0},
					   {"exporter", "icepath"}};
	return file.dump(1, '\t', false, Json::error_handler_t::replace) + "\n";
}

} // namespace icepath::exports
