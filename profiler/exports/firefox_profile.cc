// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/firefox_profile.h"

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/analysis/layer_style.h"
#include "profiler/stats/quantity.h"

namespace icepath::exports {
namespace {

using ProfileJson = nlohmann::ordered_json;

constexpr int kFormatVersion = 48;
constexpr double kNsPerMs = 1e6;
constexpr size_t kOtherCategory = analysis::kLayerKinds; // of frames whose stacks are of several kinds

// Firefox Profiler has colours of its own; these are the nearest. Grey marks the category of all else.
constexpr std::array<const char *, analysis::kLayerKinds> kColours = {"lightblue", "green",  "darkgrey", "blue",
																	  "purple",    "yellow", "brown",    "red"};

ProfileJson categories()
{
	ProfileJson all = ProfileJson::array();
	const auto add = [&](const char *name, const char *colour) {
		all.push_back({{"name", name}, {"color", colour}, {"subcategories", {"Other"}}});
	};
	for (size_t i = 0; i < analysis::kLayerKinds; ++i)
		add(analysis::kKindStyles[i].word, kColours[i]);
	add("Other", "grey");
	return all;
}

// A table of the format: arrays of the same length.
ProfileJson table(size_t length, const std::vector<std::pair<const char *, ProfileJson>> &columns)
{
	ProfileJson made = {{"length", length}};
	for (const auto &[name, values] : columns)
		made[name] = values;
	return made;
}

ProfileJson repeated(size_t times, const ProfileJson &value) { return ProfileJson::array_t(times, value); }

// One cell. Frames of the same name are one function; each place in the tree is a frame and a stack.
class CellThread {
public:
	explicit CellThread(const analysis::FlameCell &cell) : name_(cell.layers.name)
	{
		for (const analysis::FlameFrame &layer : cell.layers.children)
			add(layer, nullptr);
	}

	ProfileJson json(size_t number) const
	{
		const size_t stacks = prefixes_.size(), functions = names_.size();
		return {{"processType", "default"},
				{"processName", "icepath"},
				{"processStartupTime", 0},
				{"processShutdownTime", nullptr},
				{"registerTime", 0},
				{"unregisterTime", nullptr},
				{"pausedRanges", ProfileJson::array()},
				{"name", name_},
				{"isMainThread", true},
				{"pid", std::to_string(number + 1)},
				{"tid", number + 1},
				{"samples",
				 table(stack_of_.size(),
					   {{"stack", stack_of_}, {"time", times_}, {"weight", weights_}, {"weightType", "tracing-ms"}})},
				{"markers", table(0, {{"data", ProfileJson::array()},
									  {"name", ProfileJson::array()},
									  {"startTime", ProfileJson::array()},
									  {"endTime", ProfileJson::array()},
									  {"phase", ProfileJson::array()},
									  {"category", ProfileJson::array()}})},
				{"stackTable", table(stacks, {{"prefix", prefixes_},
											  {"frame", frames_},
											  {"category", categories_},
											  {"subcategory", repeated(stacks, 0)}})},
				{"frameTable", table(stacks, {{"address", repeated(stacks, -1)},
											  {"inlineDepth", repeated(stacks, 0)},
											  {"category", categories_},
											  {"subcategory", repeated(stacks, 0)},
											  {"func", functions_},
											  {"nativeSymbol", repeated(stacks, nullptr)},
											  {"innerWindowID", repeated(stacks, nullptr)},
											  {"implementation", repeated(stacks, nullptr)},
											  {"line", repeated(stacks, nullptr)},
											  {"column", repeated(stacks, nullptr)}})},
				{"funcTable", table(functions, {{"name", numbers(functions)},
												{"isJS", repeated(functions, false)},
												{"relevantForJS", repeated(functions, false)},
												{"resource", repeated(functions, -1)},
												{"fileName", repeated(functions, nullptr)},
												{"lineNumber", repeated(functions, nullptr)},
												{"columnNumber", repeated(functions, nullptr)}})},
				{"resourceTable", table(0, {{"lib", ProfileJson::array()},
											{"name", ProfileJson::array()},
											{"host", ProfileJson::array()},
											{"type", ProfileJson::array()}})},
				{"nativeSymbols", table(0, {{"libIndex", ProfileJson::array()},
											{"address", ProfileJson::array()},
											{"name", ProfileJson::array()},
											{"functionSize", ProfileJson::array()}})},
				{"stringArray", names_}};
	}

private:
	static ProfileJson numbers(size_t count)
	{
		ProfileJson all = ProfileJson::array();
		for (size_t i = 0; i < count; ++i)
			all.push_back(i);
		return all;
	}

	// Returns the category: that of all stacks in the frame, if they have the same.
	size_t add(const analysis::FlameFrame &frame, const ProfileJson &prefix)
	{
		const auto [function, is_new] = places_.emplace(frame.name, names_.size());
		if (is_new)
			names_.push_back(frame.name);
		const size_t stack = prefixes_.size();
		prefixes_.push_back(prefix);
		frames_.push_back(stack);
		functions_.push_back(function->second);
		categories_.push_back(nullptr); // known after its children's
		const size_t category = frame.children.empty() ? add_sample(frame, stack) : add_children(frame, stack);
		categories_[stack] = category;
		return category;
	}

	size_t add_children(const analysis::FlameFrame &frame, size_t stack)
	{
		std::optional<size_t> common;
		for (const analysis::FlameFrame &child : frame.children) {
			const size_t category = add(child, stack);
			common = common.value_or(category) == category ? category : kOtherCategory;
		}
		return *common;
	}

	size_t add_sample(const analysis::FlameFrame &frame, size_t stack)
	{
		stack_of_.push_back(stack);
		times_.push_back(now_ns_ / kNsPerMs);
		weights_.push_back(stats::rounded(frame.mean_ns) / kNsPerMs);
		now_ns_ += frame.mean_ns;
		return frame.kind ? static_cast<size_t>(*frame.kind) : kOtherCategory;
	}

	const std::string name_;
	double now_ns_ = 0;
	std::map<std::string, size_t> places_; // in names_
	ProfileJson names_ = ProfileJson::array(), prefixes_ = ProfileJson::array(), frames_ = ProfileJson::array(),
				functions_ = ProfileJson::array(), categories_ = ProfileJson::array();
	ProfileJson stack_of_ = ProfileJson::array(), times_ = ProfileJson::array(), weights_ = ProfileJson::array();
};

} // namespace

std::string firefox_profile(const analysis::FlameGraph &graph, const std::string &title)
{
	ProfileJson threads = ProfileJson::array();
	for (size_t i = 0; i < graph.cells.size(); ++i)
		threads.push_back(CellThread(graph.cells[i]).json(i));
	const ProfileJson profile = {{"meta",
								  {{"interval", 1e-3}, // ms
								   {"startTime", 0},
								   {"processType", 0},
								   {"product", "icepath: " + title},
								   {"importedFrom", "icepath"},
								   {"stackwalk", 0},
								   {"debug", false},
								   {"version", 30}, // of the format that Firefox itself writes
								   {"preprocessedProfileVersion", kFormatVersion},
								   {"symbolicated", true},
								   {"categories", categories()},
								   {"markerSchema", ProfileJson::array()}}},
								 {"libs", ProfileJson::array()},
								 {"threads", threads}};
	return profile.dump(-1, ' ', false, ProfileJson::error_handler_t::replace) + "\n";
}

} // namespace icepath::exports
