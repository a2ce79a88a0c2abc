// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/arms_json.h"

#include "profiler/rundir/json_field.h"
#include "profiler/rundir/limits.h"

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

model::Arm arm_from_json(const Json &json)
{
	model::Arm arm;
	arm.name = text_field(json, "name");
	if (!model::is_arm_name(arm.name))
		wrong("name", "is no name of an arm");
	arm.is_control = bool_field(json, "control");
	arm.plugins = text_field(json, "plugins");
	arm.library_path = text_field(json, "library_path");
	arm.config = text_field(json, "config");
	for (const Json &one : array_field(json, "environment", kMaxArmVariables))
		arm.environment.emplace_back(text_field(one, "name"), text_field(one, "value"));
	for (const Json &file : array_field(json, "loaded", kMaxLoadedFiles))
		arm.loaded.push_back({name_field(file, "target"), text_field(file, "path"), name_field(file, "version"),
							  name_field(file, "build_id")});
	return arm;
}

} // namespace

Json to_json(const std::vector<model::Arm> &arms)
{
	Json json = Json::array();
	for (const model::Arm &arm : arms) {
		Json environment = Json::array(), loaded = Json::array();
		for (const auto &[name, value] : arm.environment)
			environment.push_back({{"name", name}, {"value", value}});
		for (const model::LoadedFile &file : arm.loaded)
			loaded.push_back(
				{{"target", file.target}, {"path", file.path}, {"version", file.version}, {"build_id", file.build_id}});
		json.push_back({{"name", arm.name},
						{"control", arm.is_control},
						{"plugins", arm.plugins},
						{"library_path", arm.library_path},
						{"config", arm.config},
						{"environment", environment},
						{"loaded", loaded}});
	}
	return json;
}

std::vector<model::Arm> arms_from_json(const Json &head)
{
	std::vector<model::Arm> arms;
	for (const Json &json : array_field(head, "arms", kMaxArms)) {
		model::Arm arm = arm_from_json(json);
		if (model::find_arm(arms, arm.name) != nullptr)
			wrong("arms", "has two of one name");
		arms.push_back(std::move(arm));
	}
	return arms;
}

} // namespace icepath::rundir
