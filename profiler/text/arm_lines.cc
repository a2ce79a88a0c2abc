// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/arm_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/model/arm_builds.h"
#include "profiler/model/printable.h"

namespace icepath::text {
namespace {

using model::Arm, model::LoadedFile;

// Whether no arm had loaded another build in its place: with the same target, or, if it had no file of this name then,
// with another one, as a library that one end uses later than the other. An arm of which nothing is known of the target
// doesn't differ.
bool is_of_all(const LoadedFile &file, const std::vector<Arm> &arms)
{
	const auto name_of = [](const LoadedFile &one) { return one.path.substr(one.path.rfind('/') + 1); };
	const auto is_in = [&](const Arm &arm) {
		const auto is_there = [&](const LoadedFile &one) { return one.target == file.target; };
		const auto is_same = [&](const LoadedFile &one) { return model::is_same_build(one, file); };
		if (std::ranges::none_of(arm.loaded, is_there))
			return true;
		const auto in_its_place = std::ranges::any_of(
			arm.loaded, [&](const auto &one) { return is_there(one) && name_of(one) == name_of(file); });
		return std::ranges::any_of(arm.loaded,
								   [&](const auto &one) { return is_same(one) && (is_there(one) || !in_its_place); });
	};
	return std::ranges::all_of(arms, is_in);
}

void append(std::string &text, const std::string &fact) { text += (text.empty() ? "" : " · ") + fact; }

std::string given(const Arm &arm)
{
	std::string text;
	for (const auto &[key, value] :
		 {std::pair{"plugins", &arm.plugins}, {"lib", &arm.library_path}, {"config", &arm.config}})
		if (!value->empty())
			append(text, fmt::format("{}={}", key, model::printable(*value)));
	for (const auto &[name, value] : arm.environment)
		append(text, fmt::format("env={}={}", model::printable(name), model::printable(value)));
	return text.empty() ? "as icepath has it without --arm" : text;
}

std::string identity_of(const LoadedFile &file)
{
	constexpr size_t kShown = 12; // digits, which tell builds apart
	std::string text = model::printable(file.path);
	if (!file.version.empty())
		text += fmt::format(" ({})", file.version);
	text +=
		file.build_id.empty() ? " without a build-id" : fmt::format(" build-id {}", file.build_id.substr(0, kShown));
	return text;
}

// Which files it alone, or not every arm, had loaded; each once, whatever targets had it.
std::string loaded(const Arm &arm, const std::vector<Arm> &arms)
{
	std::string text;
	std::vector<std::string> told;
	for (const LoadedFile &file : arm.loaded)
		if (!is_of_all(file, arms) && std::ranges::find(told, file.path) == told.end()) {
			told.push_back(file.path);
			append(text, identity_of(file));
		}
	if (arm.loaded.empty())
		return "what it loaded isn't known";
	return text.empty() ? "loaded the same builds as every other arm" : "loaded " + text;
}

// A folder of libraries that nothing was loaded from changes nothing.
bool has_unused_folder(const Arm &arm)
{
	return !arm.library_path.empty() && !arm.loaded.empty() &&
		   std::ranges::none_of(arm.loaded,
								[&](const LoadedFile &file) { return file.path.starts_with(arm.library_path + "/"); });
}

} // namespace

std::string target_of(const model::Cell &cell) { return cell.target + (cell.arm.empty() ? "" : " " + cell.arm); }

std::vector<std::string> arm_texts(const std::vector<Arm> &arms)
{
	std::vector<std::string> texts;
	for (const Arm &arm : arms) {
		std::string &text = texts.emplace_back(arm.name + ": ");
		if (arm.is_control) {
			text += arms.front().name + " once more, as the control: what differs between the two isn't due to a build";
			continue;
		}
		text += given(arm) + " · " + loaded(arm, arms);
		if (has_unused_folder(arm))
			text += fmt::format(" · no file of {} was loaded", model::printable(arm.library_path));
	}
	return texts;
}

void add_arms(Page &page, const model::Head &head)
{
	std::string label = "arms";
	for (const std::string &text : arm_texts(head.arms)) {
		page.paragraph(label, text);
		label = "";
	}
}

} // namespace icepath::text
