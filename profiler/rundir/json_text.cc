// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/json_text.h"

#include <fmt/format.h>
#include <stdexcept>
#include <vector>

#include "profiler/model/printable.h"
#include "profiler/rundir/limits.h"

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

void check_size(size_t bytes)
{
	if (bytes > kMaxJsonBytes)
		throw std::runtime_error(fmt::format("it has {} bytes of JSON, more than {}", bytes, kMaxJsonBytes));
}

// Checks the text before anything is built from it. A parser callback isn't enough: nlohmann's rescans the whole list
// at the end of each item, which takes hours for a million of them.
class Bounds : public Json::json_sax_t {
public:
	std::string reason; // why parsing stopped; empty: it didn't, or the text isn't JSON

	bool start_object(size_t) override
	{
		keys_.push_back(0);
		return levels_are_few();
	}
	bool start_array(size_t) override
	{
		keys_.push_back(0);
		return levels_are_few();
	}
	bool end_object() override { return leave(); }
	bool end_array() override { return leave(); }
	bool key(string_t &key) override
	{
		if (++keys_.back() > kMaxJsonKeys)
			reason = fmt::format("an object of its JSON has more than {} keys", kMaxJsonKeys);
		else if (key.size() > model::kLongestName || model::printable(key) != key)
			reason = "its JSON has a key that is no name";
		return reason.empty();
	}
	bool null() override { return true; }
	bool boolean(bool) override { return true; }
	bool number_integer(number_integer_t) override { return true; }
	bool number_unsigned(number_unsigned_t) override { return true; }
	bool number_float(number_float_t, const string_t &) override { return true; }
	bool string(string_t &) override { return true; }
	bool binary(binary_t &) override { return true; }
	bool parse_error(size_t, const std::string &, const nlohmann::detail::exception &) override { return false; }

private:
	bool levels_are_few()
	{
		if (keys_.size() > kMaxJsonDepth)
			reason = fmt::format("its JSON is nested deeper than {} levels", kMaxJsonDepth);
		return reason.empty();
	}
	bool leave()
	{
		keys_.pop_back();
		return true;
	}

	std::vector<size_t> keys_; // of each open object
};

// Recurses as deep as Bounds allows.
void make_printable(Json &json)
{
	if (json.is_string()) {
		auto &text = json.get_ref<std::string &>();
		text = model::printable(text);
	} else if (json.is_structured()) {
		for (Json &part : json)
			make_printable(part);
	}
}

} // namespace

Json parse_json(std::string_view text)
{
	check_size(text.size());
	Bounds bounds;
	if (!Json::sax_parse(text.begin(), text.end(), &bounds))
		throw std::runtime_error(bounds.reason.empty() ? "it isn't JSON" : bounds.reason);
	Json json = Json::parse(text.begin(), text.end());
	make_printable(json);
	return json;
}

std::string json_text(const Json &json)
{
	std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
	check_size(text.size());
	return text;
}

} // namespace icepath::rundir
