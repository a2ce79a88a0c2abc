// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/arm_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "profiler/failure.h"
#include "profiler/rundir/limits.h"

namespace icepath::cli {
namespace {

constexpr const char *kDefaultArm = "default";

[[noreturn]] void refuse(const std::string &text, const std::string &why)
{
	throw Failure(ExitCode::Usage, fmt::format("--arm {}: {}", text, why));
}

bool is_of_word(char one) { return std::isalnum(static_cast<unsigned char>(one)) || one == '_'; }

constexpr std::array<std::string_view, 4> kKeys = {"plugins=", "lib=", "config=", "env="};

// Whether an item begins there, behind a comma. Another comma belongs to the value before it. In the value of a
// variable anything may follow a comma but a key; behind a path another word and its '=' are a mistake.
bool begins_item(const std::string &text, size_t at, bool in_variable)
{
	if (in_variable)
		return std::ranges::any_of(kKeys, [&](std::string_view key) { return text.substr(at).starts_with(key); });
	const size_t begin = at;
	while (at < text.size() && is_of_word(text[at]))
		++at;
	return at > begin && at < text.size() && text[at] == '=';
}

std::vector<std::string> items_in(const std::string &text)
{
	std::vector<std::string> items;
	for (size_t begin = 0; begin < text.size();) {
		const bool in_variable = text.substr(begin).starts_with("env=");
		size_t end = text.find(',', begin);
		while (end != std::string::npos && !begins_item(text, end + 1, in_variable))
			end = text.find(',', end + 1);
		items.push_back(text.substr(begin, end - begin));
		begin = end == std::string::npos ? text.size() : end + 1;
	}
	return items;
}

void add_variable(const std::string &text, const std::string &variable, model::Arm &arm)
{
	const size_t equals = variable.find('=');
	const std::string name = variable.substr(0, equals);
	if (equals == std::string::npos || name.empty())
		refuse(text, fmt::format("env={}: say env=NAME=VALUE", variable));
	if (!std::ranges::all_of(name, is_of_word))
		refuse(text, fmt::format("env={}: a variable's name has letters, digits and '_'", name));
	if (name == "LD_LIBRARY_PATH")
		refuse(text, "env=LD_LIBRARY_PATH: say lib=FOLDER, which is looked at before root loads from it");
	if (name.starts_with("ICEPATH_"))
		refuse(text, fmt::format("env={}: variables of icepath itself aren't an arm's; say plugins=FOLDER for its "
								 "plug-ins",
								 name));
	if (std::ranges::any_of(arm.environment, [&](const auto &other) { return other.first == name; }))
		refuse(text, fmt::format("env={} is there twice", name));
	if (arm.environment.size() == rundir::kMaxArmVariables)
		refuse(text, fmt::format("more than {} variables", rundir::kMaxArmVariables));
	arm.environment.emplace_back(name, variable.substr(equals + 1));
}

void add_item(const std::string &text, const std::string &item, model::Arm &arm)
{
	const size_t equals = item.find('=');
	const std::string key = item.substr(0, equals), value = equals == std::string::npos ? "" : item.substr(equals + 1);
	std::string *path = key == "plugins"  ? &arm.plugins
						: key == "lib"    ? &arm.library_path
						: key == "config" ? &arm.config
										  : nullptr;
	if (!path && key != "env")
		refuse(text, fmt::format("\"{}\" isn't one of plugins=FOLDER, lib=FOLDER, config=FILE, env=NAME=VALUE", item));
	if (value.empty())
		refuse(text, fmt::format("{}= has no value", key));
	if (!path)
		return add_variable(text, value, arm);
	if (!path->empty())
		refuse(text, fmt::format("{}= is there twice", key));
	*path = value;
}

model::Arm arm_of(const std::string &text)
{
	const size_t colon = text.find(':');
	model::Arm arm{.name = text.substr(0, colon)};
	if (!model::is_arm_name(arm.name) || !model::is_arm_name(model::control_name(arm.name)))
		refuse(text, fmt::format("an arm's name has letters, digits, '_' and '-', at most {}: say NAME:plugins=FOLDER",
								 model::kLongestArmName - model::control_name("").size()));
	if (colon == std::string::npos || colon + 1 == text.size())
		refuse(text, "say what it is made of: plugins=FOLDER, lib=FOLDER, config=FILE or env=NAME=VALUE");
	for (const std::string &item : items_in(text.substr(colon + 1)))
		add_item(text, item, arm);
	return arm;
}

} // namespace

std::vector<model::Arm> arms_of(const std::vector<std::string> &texts, bool control)
{
	std::vector<model::Arm> arms;
	if (texts.size() == 1)
		arms.push_back({.name = kDefaultArm});
	for (const std::string &text : texts)
		arms.push_back(arm_of(text));
	if (control && !arms.empty()) {
		model::Arm again = arms.front();
		again.name = model::control_name(again.name);
		again.is_control = true;
		arms.push_back(again);
	}
	if (arms.size() > rundir::kMaxArms)
		throw Failure(ExitCode::Usage, fmt::format("--arm: {} arms are more than {}", arms.size(), rundir::kMaxArms));
	for (auto arm = arms.begin(); arm != arms.end(); ++arm)
		if (std::any_of(arms.begin(), arm, [&](const model::Arm &other) { return other.name == arm->name; }))
			throw Failure(ExitCode::Usage,
						  fmt::format("--arm {}: two arms of a run have that name: give each its own", arm->name));
	return arms;
}

} // namespace icepath::cli
