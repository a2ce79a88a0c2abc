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

// Builds the JSON, and stops at what is more than a text of a run may have. nlohmann's own parser builds it without
// such limits; its callback isn't enough, because it rescans the whole list at the end of each item, which takes hours
// for a million of them.
class Builder : public Json::json_sax_t {
public:
	std::string reason; // why parsing stopped; empty: it didn't, or the text isn't JSON

	Json take() { return std::move(root_); }

	bool start_object(size_t) override { return enter(Json::object()); }
	bool start_array(size_t) override { return enter(Json::array()); }
	bool end_object() override { return leave(); }
	bool end_array() override { return leave(); }
	bool key(string_t &key) override
	{
		if (++open_.back().keys > kMaxJsonKeys)
			reason = fmt::format("an object of its JSON has more than {} keys", kMaxJsonKeys);
		else if (key.size() > model::kLongestName || model::printable(key) != key)
			reason = "its JSON has a key that is no name";
		else
			named_ = &(*open_.back().json)[key];
		return reason.empty();
	}
	bool null() override { return add(nullptr); }
	bool boolean(bool value) override { return add(value); }
	bool number_integer(number_integer_t value) override { return add(value); }
	bool number_unsigned(number_unsigned_t value) override { return add(value); }
	bool number_float(number_float_t value, const string_t &) override { return add(value); }
	bool string(string_t &text) override { return add(model::printable(text)); }
	bool binary(binary_t &) override { return false; } // JSON has none
	bool parse_error(size_t, const std::string &, const nlohmann::detail::exception &) override { return false; }

private:
	struct Open {
		Json *json = nullptr; // an object or a list: its place stays the same while it is open
		size_t keys = 0;
	};

	// Where the next value belongs.
	Json &place()
	{
		if (open_.empty())
			return root_;
		Json &parent = *open_.back().json;
		return parent.is_array() ? parent.emplace_back() : *named_;
	}
	bool add(Json value)
	{
		place() = std::move(value);
		return true;
	}
	bool enter(Json empty)
	{
		Json &its_place = place();
		its_place = std::move(empty);
		open_.push_back({&its_place});
		if (open_.size() > kMaxJsonDepth)
			reason = fmt::format("its JSON is nested deeper than {} levels", kMaxJsonDepth);
		return reason.empty();
	}
	bool leave()
	{
		open_.pop_back();
		return true;
	}

	Json root_;
	Json *named_ = nullptr; // the value of the last key
	std::vector<Open> open_;
};

} // namespace

Json parse_json(std::string_view text)
{
	check_size(text.size());
	Builder builder;
	if (!Json::sax_parse(text.begin(), text.end(), &builder))
		throw std::runtime_error(builder.reason.empty() ? "it isn't JSON" : builder.reason);
	return builder.take();
}

std::string json_text(const Json &json)
{
	std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
	check_size(text.size());
	return text;
}

} // namespace icepath::rundir
