// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/cell_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <span>

#include "profiler/model/cell_title.h"

namespace icepath::model {

CellKey key_of(const Cell &cell)
{
	return {cell.target, cell.pattern, cell.wait, between(cell), cell.payload_bytes, cell.idle_states, cell.rate_hz,
			cell.limits, cell.levels,  cell.qos,  cell.arm};
}

std::string text(const CellKey &key)
{
	std::string text = fmt::format("{} {} {} {} {}B {}", key.target, name(key.pattern), name(key.wait), name(key.place),
								   key.payload_bytes, name(key.idle_states));
	if (key.rate_hz)
		text += fmt::format(" rate_hz={}", *key.rate_hz);
	if (key.limits)
		text += fmt::format(" max_loss={} max_p99_ns={}", key.limits->max_loss, key.limits->max_p99_ns);
	for (const Factor &factor : kFactors)
		if (const uint64_t level = key.levels.*factor.level; level != neutral(factor))
			text += fmt::format(" {}={}", factor.key, level);
	if (key.qos.any())
		text += fmt::format(" qos=({})", model::text(key.qos));
	if (!key.arm.empty())
		text += fmt::format(" arm={}", key.arm);
	return text;
}

namespace {

std::vector<std::string_view> words_of(std::string_view text)
{
	std::vector<std::string_view> words;
	for (size_t at = 0; at <= text.size();) {
		const size_t end = std::min(text.find(' ', at), text.size());
		words.push_back(text.substr(at, end - at));
		at = end + 1;
	}
	return words;
}

template <typename Enum> bool read_word(std::string_view word, std::span<const char *const> names, Enum &value)
{
	const auto at = std::ranges::find(names, word);
	value = static_cast<Enum>(at - names.begin());
	return at != names.end();
}

template <typename Number> bool read_number(std::string_view word, Number &number)
{
	const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
	return error == std::errc() && end == word.data() + word.size();
}

// "rate_hz=2000"
bool read_named(std::string_view word, CellKey &key)
{
	const size_t equals = word.find('=');
	if (equals == word.npos)
		return false;
	const std::string_view name = word.substr(0, equals), value = word.substr(equals + 1);
	if (name == "rate_hz")
		return read_number(value, key.rate_hz.emplace());
	if (name == "max_loss")
		return read_number(value, key.limits.emplace().max_loss);
	if (name == "max_p99_ns")
		return key.limits && read_number(value, key.limits->max_p99_ns);
	const auto factor = std::ranges::find(kFactors, name, &Factor::key);
	return factor != std::end(kFactors) && read_number(value, key.levels.*factor->level);
}

// The words that follow the target.
bool read_fixed(std::span<const std::string_view> words, CellKey &key)
{
	return read_word(words[0], kPatternNames, key.pattern) && read_word(words[1], kWaitNames, key.wait) &&
		   read_word(words[2], kBetweenNames, key.place) && words[3].ends_with('B') &&
		   read_number(words[3].substr(0, words[3].size() - 1), key.payload_bytes) &&
		   read_word(words[4], kIdleStatesNames, key.idle_states);
}

} // namespace

std::optional<CellKey> parsed_key(std::string_view text)
{
	constexpr size_t kFixed = 5;
	constexpr std::string_view kArm = " arm=", kQos = " qos=(";
	CellKey key;
	if (const size_t arm = text.find(kArm); arm != text.npos) { // whose name may have spaces
		key.arm = text.substr(arm + kArm.size());
		text = text.substr(0, arm);
	}
	if (const size_t qos = text.find(kQos); qos != text.npos) {
		const auto policies =
			text.ends_with(')')
				? parsed_qos(text.substr(qos + kQos.size()).substr(0, text.size() - qos - kQos.size() - 1))
				: std::nullopt;
		if (!policies)
			return std::nullopt;
		key.qos = *policies;
		text = text.substr(0, qos);
	}
	const std::vector<std::string_view> words = words_of(text);
	size_t first = 1; // after the target, whose name may have spaces
	while (first + kFixed <= words.size() && !read_fixed(std::span(words).subspan(first, kFixed), key))
		++first;
	if (first + kFixed > words.size())
		return std::nullopt;
	key.target = text.substr(0, static_cast<size_t>(words[first].data() - text.data()) - 1);
	for (const std::string_view word : std::span(words).subspan(first + kFixed))
		if (!read_named(word, key))
			return std::nullopt;
	return key;
}

std::vector<std::string> key_texts(const std::vector<CellKey> &keys)
{
	std::map<std::string, size_t> seen;
	std::vector<std::string> all;
	for (const CellKey &key : keys) {
		const std::string one = text(key);
		const size_t number = ++seen[one];
		all.push_back(number == 1 ? one : fmt::format("{} #{}", one, number));
	}
	return all;
}

CellKey load_of(CellKey key)
{
	key.target.clear();
	key.qos = {};
	return key;
}

namespace {

std::string rate_or_limits(const CellKey &key)
{
	return key.rate_hz  ? fmt::format("{:g}/s", *key.rate_hz)
		   : key.limits ? fmt::format("up to {:g}% lost, p99 {:g}ms", key.limits->max_loss * 100,
									  static_cast<double>(key.limits->max_p99_ns) / 1e6)
						: "none";
}

std::string levels_or_none(const CellKey &key)
{
	const std::string levels = levels_text(key);
	return levels.empty() ? "none" : levels.substr(1); // without the space before the first
}

std::string or_none(const std::string &arm) { return arm.empty() ? "none" : arm; }

} // namespace

KeyAspects aspects_of(const CellKey &key)
{
	return {std::string(name(key.pattern)),
			payload_text(key.payload_bytes),
			std::string(name(key.place)),
			std::string(name(key.idle_states)),
			rate_or_limits(key),
			levels_or_none(key),
			std::string(name(key.wait))};
}

std::vector<std::string> differing(const CellKey &a, const CellKey &b)
{
	std::vector<std::string> found;
	const auto compare = [&](const char *what, const std::string &of_a, const std::string &of_b) {
		if (of_a != of_b)
			found.push_back(fmt::format("{}: {} and {}", what, of_a, of_b));
	};
	compare("target", a.target, b.target);
	compare("arm", or_none(a.arm), or_none(b.arm));
	const KeyAspects of_a = aspects_of(a), of_b = aspects_of(b);
	for (size_t i = 0; i < kKeyAspects.size(); ++i)
		if (kKeyAspects[i] != std::string_view("rate") || a.pattern == b.pattern)
			compare(kKeyAspects[i], of_a[i], of_b[i]);
	return found;
}

} // namespace icepath::model
