// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/option_values.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace icepath::cli {
namespace {

constexpr double kShortestRunS = 2, kLongestRunS = 86400;
constexpr uint64_t kLargestSize = 1ull << 30;

struct Unit {
	std::string_view name;
	double factor;
};

// A decimal number with its unit, or nothing. `bare`: factor without a unit; 0: only "0" may have none.
std::optional<double> quantity(const std::string &text, std::initializer_list<Unit> units, double bare)
{
	double number = 0;
	const char *end = text.data() + text.size();
	const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
	if (error != std::errc() || !std::isfinite(number) || number < 0)
		return std::nullopt;
	const std::string_view unit(rest, static_cast<size_t>(end - rest));
	if (unit.empty())
		return bare == 0 && number != 0 ? std::nullopt : std::optional(number * bare);
	for (const auto &[name, factor] : units)
		if (unit == name)
			return number * factor;
	return std::nullopt;
}

std::vector<std::string> names_of_limits()
{
	std::vector<std::string> names;
	for (const isolation::Limit &limit : isolation::kLimits)
		names.emplace_back(limit.name);
	return names;
}

} // namespace

std::vector<std::string> items_of(const std::string &option, const std::vector<std::string> &texts)
{
	std::vector<std::string> items;
	for (const std::string &text : texts)
		for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
			end = text.find(',', begin);
			items.push_back(text.substr(begin, end - begin));
			if (items.back().empty())
				throw Failure(
					ExitCode::Usage,
					fmt::format("{}: \"{}\" has an empty item: give names or values with one comma between two", option,
								text));
		}
	return items;
}

// "4096", "4k", "1MiB": k and M are powers of 1024, as in fio.
uint64_t bytes_of(const std::string &text)
{
	size_t digits = 0;
	uint64_t number = 0;
	for (; digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) && number < kLargestSize;
		 digits++)
		number = number * 10 + static_cast<uint64_t>(text[digits] - '0');
	std::string unit = text.substr(digits);
	if (unit.ends_with("iB"))
		unit.resize(unit.size() - 2);
	else if (unit.ends_with("B"))
		unit.resize(unit.size() - 1);
	const uint64_t factor = unit.empty() ? 1 : unit == "k" || unit == "K" ? 1024 : unit == "M" ? 1024 * 1024 : 0;
	if (digits == 0 || factor == 0 || number == 0 || number * factor > kLargestSize)
		throw Failure(ExitCode::Usage,
					  fmt::format("--sizes: \"{}\" isn't a size: give bytes from 1 to 1024M, as 64, 4k or 1M", text));
	return number * factor;
}

// "20us", "1ms", "0.2s".
uint64_t nanoseconds_of(const std::string &option, const std::string &text, double most_s)
{
	const auto ns = quantity(text, {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}, 0);
	if (!ns || *ns > most_s * 1e9)
		throw Failure(ExitCode::Usage,
					  fmt::format("{}: \"{}\" isn't a time up to {}s: give it with its unit, as 500ns, 20us or 1ms",
								  option, text, most_s));
	return static_cast<uint64_t>(*ns);
}

// "60", "60s", "5m", "1h".
namespace {

double seconds_from(const std::string &text, double shortest_s)
{
	const auto seconds = quantity(text, {{"s", 1}, {"m", 60}, {"h", 3600}}, 1);
	if (!seconds)
		throw Failure(
			ExitCode::Usage,
			fmt::format("--duration: \"{}\" isn't a duration: give seconds, or a unit, as 60, 90s, 5m or 1h", text));
	if (*seconds < shortest_s || *seconds > kLongestRunS)
		throw Failure(ExitCode::Usage,
					  fmt::format("--duration: {} is outside of {:g} to {:g} s", text, shortest_s, kLongestRunS));
	return *seconds;
}

} // namespace

double seconds_of(const std::string &text) { return seconds_from(text, kShortestRunS); }

double watched_seconds_of(const std::string &text)
{
	constexpr double kShortestS = 0.1;
	return seconds_from(text, kShortestS);
}

// "0.1%", "0.001".
double loss_of(const std::string &text)
{
	const auto share = quantity(text, {{"%", 0.01}}, 1);
	if (!share || *share > 0.5)
		throw Failure(ExitCode::Usage,
					  fmt::format("--max-loss: \"{}\" isn't a share up to 50%: give it as 0.1% or 0.001", text));
	return *share;
}

double delta_of(const std::string &text)
{
	constexpr double kLeast = 0.001, kMost = 0.5;
	const auto share = quantity(text, {{"%", 0.01}}, 1);
	if (!share || *share < kLeast || *share > kMost)
		throw Failure(ExitCode::Usage,
					  fmt::format("--delta: \"{}\" isn't a share from 0.1% to 50%: give it as 3% or 0.03", text));
	return *share;
}

std::vector<isolation::Tuning> tunings_of(const std::vector<std::string> &texts)
{
	std::vector<isolation::Tuning> tunings;
	for (const std::string &text : items_of("--tune", texts)) {
		const size_t equals = std::min(text.find('='), text.size());
		const auto *const limit = std::ranges::find(isolation::kLimits, std::string_view(text).substr(0, equals),
													[](const auto &one) { return std::string_view(one.name); });
		if (equals == text.size() || limit == std::end(isolation::kLimits))
			throw Failure(ExitCode::Usage, fmt::format("--tune: \"{}\" isn't LIMIT=VALUE with one of {}", text,
													   fmt::join(names_of_limits(), ", ")));
		const auto value = quantity(text.substr(equals + 1), {{"k", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}}, 1);
		const auto index = static_cast<uint32_t>(limit - std::begin(isolation::kLimits));
		const isolation::Tuning tuning{index, 0, value && *value < 0x1p53 ? static_cast<uint64_t>(*value) : 0};
		if (!isolation::is_allowed(tuning))
			throw Failure(
				ExitCode::Usage,
				fmt::format("--tune: \"{}\": give a whole number{}, as 4096, 64k or 8M", text,
							limit->most == isolation::kHalfOfMemory ? "" : fmt::format(" from 1 to {}", limit->most)));
		if (std::ranges::count(tunings, index, &isolation::Tuning::limit) > 0)
			throw Failure(ExitCode::Usage, fmt::format("--tune: {} is there twice", limit->name));
		tunings.push_back(tuning);
	}
	return tunings;
}

stats::Percentile percentile_of(const std::string &text)
{
	const auto percent = quantity(text, {}, 1);
	const double steps = std::round(percent.value_or(0) * 1000);
	if (steps < 50'000 || steps > 99'999)
		throw Failure(ExitCode::Usage, fmt::format("--tail: \"{}\" isn't a percentile from 50 to 99.999", text));
	return {static_cast<uint32_t>(steps)};
}

analysis::MessageName message_of(const std::string &text)
{
	analysis::MessageName name;
	const char *const end = text.data() + text.size();
	const auto [colon, bad_round] = std::from_chars(text.data(), end, name.round);
	const char *rest = colon;
	if (bad_round == std::errc() && colon != end && *colon == ':') {
		const auto [after, bad_seq] = std::from_chars(colon + 1, end, name.seq);
		name.back = std::string_view(after, static_cast<size_t>(end - after)) == ":back";
		if (bad_seq == std::errc() && (after == end || name.back))
			return name;
		rest = after;
	}
	throw Failure(ExitCode::Usage, fmt::format("--message: \"{}\" isn't ROUND:SEQ or ROUND:SEQ:back, from \"{}\" on",
											   text, std::string_view(rest, static_cast<size_t>(end - rest))));
}

std::vector<pid_t> processes_of(const std::vector<std::string> &texts)
{
	std::vector<pid_t> processes;
	for (const std::string &text : items_of("--pid", texts)) {
		pid_t process = 0;
		const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), process);
		if (error != std::errc() || end != text.data() + text.size() || process <= 0)
			throw Failure(ExitCode::Usage, fmt::format("--pid: \"{}\" isn't the number of a process", text));
		processes.push_back(process);
	}
	return processes;
}

} // namespace icepath::cli
