// SPDX-License-Identifier: Apache-2.0
#include "profiler/gate/expectation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "profiler/failure.h"
#include "profiler/model/printable.h"

namespace icepath::gate {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text)
{
	while (!text.empty() && is_space(text.front()))
		text.remove_prefix(1);
	while (!text.empty() && is_space(text.back()))
		text.remove_suffix(1);
	return text;
}

struct UnitName {
	std::string_view name;
	double factor;
};
constexpr std::array<UnitName, 6> kTimes = {
	{{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
constexpr std::array<UnitName, 3> kRates = {{{"/s", 1}, {"k/s", 1e3}, {"M/s", 1e6}}};

// Reads an expectation from its begin to its end.
class Parser {
public:
	Parser(std::string_view text, const std::string &place) : whole_(trimmed(text)), place_(place) {}

	Expectation parse()
	{
		if (whole_.size() > kLongestExpectation)
			fail(fmt::format("it has more than {} bytes", kLongestExpectation));
		left_ = whole_;
		Expectation found;
		found.text = model::printable(whole_);
		const FigureKind &kind = figure();
		found.figure = kind.figure;
		read_argument(kind, found);
		found.change = change();
		found.comparison = comparison();
		read_limit(kind, found);
		check(kind, found);
		return found;
	}

private:
	[[noreturn]] void fail(const std::string &what) const
	{
		throw Failure(ExitCode::Usage,
					  fmt::format("{}: \"{}\": {}", place_, model::printable(whole_, model::kLongestName), what));
	}

	std::string_view word(auto belongs)
	{
		left_ = trimmed(left_);
		const auto end = std::ranges::find_if_not(left_, belongs);
		const std::string_view found = left_.substr(0, static_cast<size_t>(end - left_.begin()));
		left_.remove_prefix(found.size());
		return found;
	}

	std::string_view name()
	{
		return word([](char c) {
			return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
		});
	}

	const FigureKind &figure()
	{
		const std::string_view named = name();
		const auto kind = std::ranges::find(kFigures, named, &FigureKind::name);
		if (kind != kFigures.end())
			return *kind;
		std::vector<std::string> names;
		for (const FigureKind &one : kFigures)
			names.push_back(fmt::format("{}{}", one.name,
										one.argument == Argument::Layer ? "(LAYER)"
										: one.argument == Argument::Key ? "(KEY)"
																		: ""));
		fail(fmt::format("it must begin with a figure, which is one of {}", fmt::join(names, ", ")));
	}

	void read_argument(const FigureKind &kind, Expectation &found)
	{
		if (kind.argument == Argument::None)
			return;
		left_ = trimmed(left_);
		const size_t end = left_.rfind(')'); // a key may have some
		if (!left_.starts_with('(') || end == left_.npos)
			fail(kind.argument == Argument::Layer
					 ? fmt::format("{} needs a layer, as {}(runqueue)", kind.name, kind.name)
					 : fmt::format("{} needs the key of a cell, as {}(KEY): run.json has those of a run", kind.name,
								   kind.name));
		const std::string_view argument = trimmed(left_.substr(1, end - 1));
		left_.remove_prefix(end + 1);
		if (kind.argument == Argument::Key) {
			found.key = argument;
			if (argument.empty())
				fail("the key is empty");
			return;
		}
		const auto layer = std::ranges::find(model::kLayerNames, argument);
		if (layer == model::kLayerNames.end())
			fail(fmt::format("{} isn't one of the layers {}", model::printable(argument, model::kLongestName),
							 fmt::join(model::kLayerNames, ", ")));
		found.layer = static_cast<model::Layer>(layer - model::kLayerNames.begin());
	}

	Change change()
	{
		const std::string_view named = name();
		if (named.empty())
			return Change::None;
		if (named == "slower")
			return Change::Slower;
		if (named == "faster")
			return Change::Faster;
		fail(fmt::format("\"{}\" stands where <, <=, >, >=, ==, slower or faster is expected",
						 model::printable(named, model::kLongestName)));
	}

	Comparison comparison()
	{
		const std::string_view sign = word([](char c) { return c == '<' || c == '>' || c == '=' || c == '!'; });
		const auto found = std::ranges::find(kComparisons, sign);
		if (found == kComparisons.end())
			fail(fmt::format("it needs one of {} before its limit", fmt::join(kComparisons, ", ")));
		return static_cast<Comparison>(found - kComparisons.begin());
	}

	void read_limit(const FigureKind &kind, Expectation &found)
	{
		left_ = trimmed(left_);
		const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), found.limit);
		if (error != std::errc() || !std::isfinite(found.limit) || std::signbit(found.limit))
			fail("its limit isn't a number from 0 on");
		const std::string_view unit = trimmed(left_.substr(static_cast<size_t>(end - left_.data())));
		if (found.compares() || (kind.unit == Unit::Messages && unit == "%")) {
			if (unit != "%")
				fail("its limit is a share, as 3%");
			found.is_share = true;
			found.limit /= 100;
			return;
		}
		if (kind.unit == Unit::Time)
			found.limit *= factor_of(unit, kTimes, "a time, as 40us: ns, us, ms or s");
		else if (kind.unit == Unit::Rate)
			found.limit *= factor_of(unit, kRates, "messages per second, as 90k/s: /s, k/s or M/s");
		else if (!unit.empty())
			fail(fmt::format("its limit is {}, and \"{}\" follows it",
							 kind.unit == Unit::Messages ? "a number of messages, or a share of them, as 0.1%"
														 : "a number, as 0.9",
							 model::printable(unit, model::kLongestName)));
	}

	template <size_t N>
	double factor_of(std::string_view unit, const std::array<UnitName, N> &units, const char *expected) const
	{
		const auto found = std::ranges::find(units, unit, &UnitName::name);
		if (found == units.end())
			fail(fmt::format("its limit must be {}", expected));
		return found->factor;
	}

	// A measured figure is never a number to the last digit. How many messages were lost is counted.
	void check(const FigureKind &kind, const Expectation &found) const
	{
		if (!std::isfinite(found.limit))
			fail("its limit is too large");
		if (found.comparison == Comparison::Equal && (found.figure != Figure::Lost || found.compares()))
			fail("only lost can be compared by ==: other figures are measured, and have an interval");
		if (found.compares() && found.figure == Figure::Ratio)
			fail(fmt::format("{} already compares two cells: it has no slower or faster", kind.name));
	}

	std::string_view whole_, left_;
	const std::string &place_;
};

} // namespace

Expectation parse_expectation(std::string_view text, const std::string &place) { return Parser(text, place).parse(); }

} // namespace icepath::gate
