// SPDX-License-Identifier: Apache-2.0
#pragma once
// Typed access to a container's JSON, of any origin. nlohmann's conversions silently turn -1 and 1e30 into some
// integer; these throw std::runtime_error with the key.
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "profiler/model/printable.h"

namespace icepath::rundir {

inline const nlohmann::ordered_json &field(const nlohmann::ordered_json &object, const char *key)
{
	if (!object.is_object())
		throw std::runtime_error(std::string("an object with \"") + key + "\" was expected");
	const auto at = object.find(key);
	if (at == object.end())
		throw std::runtime_error(std::string("\"") + key + "\" is missing");
	return *at;
}

[[noreturn]] inline void wrong(const char *key, const char *what)
{
	throw std::runtime_error(std::string("\"") + key + "\" " + what);
}

inline uint64_t unsigned_field(const nlohmann::ordered_json &object, const char *key, uint64_t at_most = UINT64_MAX)
{
	const auto &value = field(object, key);
	if (!value.is_number_unsigned())
		wrong(key, "isn't a whole number that is zero or more");
	if (value.get<uint64_t>() > at_most)
		wrong(key, "is larger than it can be");
	return value.get<uint64_t>();
}

inline uint32_t u32_field(const nlohmann::ordered_json &object, const char *key)
{
	return static_cast<uint32_t>(unsigned_field(object, key, UINT32_MAX));
}

inline std::optional<uint64_t> unsigned_or_null(const nlohmann::ordered_json &object, const char *key)
{
	return field(object, key).is_null() ? std::nullopt : std::optional(unsigned_field(object, key));
}

// One of several numbers whose sum is bounded by `limit`.
inline uint64_t counted_field(const nlohmann::ordered_json &object, const char *key, uint64_t &sum, uint64_t limit)
{
	const uint64_t n = unsigned_field(object, key, limit);
	sum += n;
	if (sum > limit)
		wrong(key, "makes the whole larger than it can be");
	return n;
}

inline double number_field(const nlohmann::ordered_json &object, const char *key)
{
	const auto &value = field(object, key);
	if (!value.is_number())
		wrong(key, "isn't a number");
	return value.get<double>();
}

inline double share_field(const nlohmann::ordered_json &object, const char *key)
{
	const double share = number_field(object, key);
	if (!(share >= 0 && share <= 1)) // also catches NaN
		wrong(key, "is outside of 0 to 1");
	return share;
}

inline bool bool_field(const nlohmann::ordered_json &object, const char *key)
{
	const auto &value = field(object, key);
	if (!value.is_boolean())
		wrong(key, "isn't true or false");
	return value.get<bool>();
}

inline const std::string &text_field(const nlohmann::ordered_json &object, const char *key)
{
	const auto &value = field(object, key);
	if (!value.is_string())
		wrong(key, "isn't a text");
	return value.get_ref<const std::string &>();
}

// A name, cut to a length that fits tables.
inline std::string name_field(const nlohmann::ordered_json &object, const char *key)
{
	return model::printable(text_field(object, key), model::kLongestName);
}

inline const nlohmann::ordered_json &object_field(const nlohmann::ordered_json &object, const char *key)
{
	const auto &value = field(object, key);
	if (!value.is_object())
		wrong(key, "isn't an object");
	return value;
}

inline const nlohmann::ordered_json &array_field(const nlohmann::ordered_json &object, const char *key, size_t at_most)
{
	const auto &value = field(object, key);
	if (!value.is_array())
		wrong(key, "isn't a list");
	if (value.size() > at_most)
		wrong(key, "has more items than it can have");
	return value;
}

// Reads an enum from its name in `names`.
template <typename Enum, size_t N>
Enum enum_item(const nlohmann::ordered_json &value, const char *key, const char *const (&names)[N])
{
	if (!value.is_string())
		wrong(key, "isn't a text");
	for (size_t i = 0; i < N; ++i)
		if (value.get_ref<const std::string &>() == names[i])
			return static_cast<Enum>(i);
	wrong(key, "has a value that this icepath doesn't know");
}

template <typename Enum, size_t N>
Enum enum_field(const nlohmann::ordered_json &object, const char *key, const char *const (&names)[N])
{
	return enum_item<Enum>(field(object, key), key, names);
}

} // namespace icepath::rundir
