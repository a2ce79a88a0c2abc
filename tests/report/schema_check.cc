// SPDX-License-Identifier: Apache-2.0
#include "tests/report/schema_check.h"

#include <algorithm>
#include <regex.h>
#include <set>

namespace icepath {
namespace {

using nlohmann::json;

bool is_of(const json &value, const std::string &type)
{
	return type == "object"    ? value.is_object()
		   : type == "array"   ? value.is_array()
		   : type == "string"  ? value.is_string()
		   : type == "integer" ? value.is_number_integer()
		   : type == "number"  ? value.is_number()
		   : type == "boolean" ? value.is_boolean()
							   : type == "null" && value.is_null();
}

// With a sanitizer, GCC 12 gives many false warnings for std::regex.
bool matches(const std::string &text, const std::string &pattern)
{
	regex_t compiled;
	if (regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
	regfree(&compiled);
	return found;
}

class Check {
public:
	explicit Check(const json &root) : root_(root) {}

	void check(const json &schema, const json &value, const std::string &where)
	{
		static const std::set<std::string> kKnown = {
			"$schema",  "$defs",    "$ref",    "allOf",    "title",      "description",
			"type",     "const",    "enum",    "required", "properties", "items",
			"minItems", "maxItems", "minimum", "maximum",  "pattern",    "additionalProperties"};
		for (const auto &[keyword, unused] : schema.items())
			if (!kKnown.contains(keyword))
				complain(where, "the schema uses " + keyword);
		if (schema.contains("$ref")) {
			check(root_.at(json::json_pointer(schema["$ref"].get<std::string>().substr(1))), value, where);
			return;
		}
		if (schema.contains("allOf"))
			for (const json &one : schema["allOf"])
				check(one, value, where);
		if (schema.contains("const") && value != schema["const"])
			complain(where, "isn't " + schema["const"].dump());
		if (schema.contains("enum") &&
			std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
			complain(where, value.dump() + " isn't one of " + schema["enum"].dump());
		if (schema.contains("type") && !has_type(schema["type"], value))
			complain(where, value.dump() + " isn't " + schema["type"].dump());
		if (schema.contains("minimum") && value.is_number() && value < schema["minimum"])
			complain(where, "is too small");
		if (schema.contains("maximum") && value.is_number() && value > schema["maximum"])
			complain(where, "is too large");
		if (schema.contains("pattern") && value.is_string() &&
			!matches(value.get<std::string>(), schema["pattern"].get<std::string>()))
			complain(where, value.dump() + " doesn't match");
		if (value.is_object())
			check_object(schema, value, where);
		if (value.is_array())
			check_array(schema, value, where);
	}

	std::vector<std::string> complaints;

private:
	void complain(const std::string &where, const std::string &what) { complaints.push_back(where + ": " + what); }

	static bool has_type(const json &types, const json &value)
	{
		if (types.is_string())
			return is_of(value, types);
		return std::any_of(types.begin(), types.end(), [&](const json &type) { return is_of(value, type); });
	}

	void check_object(const json &schema, const json &value, const std::string &where)
	{
		if (schema.contains("required"))
			for (const json &key : schema["required"])
				if (!value.contains(key.get<std::string>()))
					complain(where, "has no " + key.dump());
		if (!schema.contains("properties") && !schema.contains("additionalProperties"))
			return;
		for (const auto &[key, member] : value.items()) {
			if (schema.contains("properties") && schema["properties"].contains(key))
				check(schema["properties"][key], member, where + "/" + key);
			else if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object())
				check(schema["additionalProperties"], member, where + "/" + key);
			else
				complain(where, "the schema doesn't describe " + key);
		}
	}

	void check_array(const json &schema, const json &value, const std::string &where)
	{
		if (value.size() < schema.value("minItems", size_t{0}) || value.size() > schema.value("maxItems", SIZE_MAX))
			complain(where, "has a wrong number of items");
		if (schema.contains("items"))
			for (size_t i = 0; i < value.size(); ++i)
				check(schema["items"], value[i], where + "/" + std::to_string(i));
	}

	const json &root_;
};

} // namespace

std::vector<std::string> schema_complaints(const json &schema, const json &value)
{
	Check check(schema);
	check.check(schema, value, "");
	return check.complaints;
}

} // namespace icepath
