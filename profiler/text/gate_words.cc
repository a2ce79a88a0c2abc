// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/gate_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "profiler/explain/tail.h"
#include "profiler/model/printable.h"
#include "profiler/stats/quantity.h"

namespace icepath::text {
namespace {

using gate::Reason;

std::string amount_text(double value, const std::optional<stats::Interval> &interval, std::string (*number)(double),
						const char *unit)
{
	return interval ? fmt::format("{} ({}..{}){}", number(value), number(interval->low), number(interval->high), unit)
					: number(value) + unit;
}

std::string times_text(double value) { return fmt::format("{:.3g}", value); }

// How much longer a run must be for an interval that excludes the limit; empty if nobody knows.
std::string longer_text(const gate::Expectation &expected, const gate::Measured &measured)
{
	const double limit = expected.limit;
	const auto times = explain::times_as_long(measured.value - limit,
											  {measured.interval->low - limit, measured.interval->high - limit});
	constexpr double kMost = 1000;
	if (!times || *times > kMost)
		return "only a far longer run may tell";
	return fmt::format("a run {:.0f} times as long may tell (-d)", std::max(2.0, std::ceil(*times)));
}

std::string reason_text(const gate::Judgement &judgement, const gate::Outcome &outcome)
{
	const gate::Expectation &expected = judgement.expectation_of(outcome);
	switch (outcome.reason) {
	case Reason::None:
		return "";
	case Reason::Interval:
		return "the interval contains the limit: " + longer_text(expected, *outcome.measured);
	case Reason::NoInterval:
		return "no interval is known, as too few blocks have such a value: measure longer (-d)";
	case Reason::FewOpenings:
		return fmt::format("fewer than {} fresh processes measured it, so others may differ: measure longer (-d)",
						   stats::kMinBlocks);
	case Reason::LostMessages:
		return "messages were lost, and the figure is of those alone that came";
	case Reason::FailedBlocks:
		return "blocks of this cell failed, and what they would have shown is missing: the report says why";
	case Reason::UnknownPaths:
		return "the path of too few messages is known: icepath report -v RUN says why";
	case Reason::NotWhole:
		return "the run isn't whole: it ended early, or its file is damaged";
	case Reason::NoCell:
		return "no cell of the run has such a key: run.json has those that it has";
	case Reason::NotMeasured:
		return "it wasn't measured: the report says why";
	case Reason::TooFew:
		return "there are too few messages or blocks for it: measure longer (-d)";
	case Reason::NoProbes:
		return "no message with a known path was measured with probes";
	case Reason::NoProbeOfLayer:
		return "what this layer rests on couldn't be probed here, so its time isn't known: icepath report -v RUN says "
			   "why";
	case Reason::NoTail:
		return "there are too few messages with probes for a tail: measure longer (-d)";
	case Reason::NoOther:
		return fmt::format("no cell of the run, or more than one, has a key like \"{}\"",
						   model::printable(expected.key));
	case Reason::ItsOwnKey:
		return "it would compare the cell with itself";
	case Reason::OwnRate:
		return "one of the cells sets its own rate, so its latencies don't say how fast it is";
	case Reason::NotTogether:
		return "both cells were measured together in too few rounds: measure longer (-d)";
	}
	return "";
}

} // namespace

std::string figure_text(const gate::Expectation &expected, const gate::Measured &measured)
{
	switch (gate::kind_of(expected.figure).unit) {
	case gate::Unit::Time:
		return amount_text(measured.value, measured.interval, stats::microseconds, " µs");
	case gate::Unit::Messages:
		return expected.is_share ? fmt::format("{:.3g} %", measured.value * 100)
								 : fmt::format("{} message{}", stats::count(static_cast<uint64_t>(measured.value)),
											   measured.value == 1 ? "" : "s");
	case gate::Unit::Rate:
		return amount_text(measured.value, measured.interval, stats::per_second, " per second");
	case gate::Unit::Times:
		return amount_text(measured.value, measured.interval, times_text, "");
	}
	return "";
}

std::string outcome_text(const gate::Judgement &judgement, const gate::Outcome &outcome)
{
	std::string reason = reason_text(judgement, outcome);
	if (!outcome.measured)
		return reason;
	return figure_text(judgement.expectation_of(outcome), *outcome.measured) + (reason.empty() ? "" : ": " + reason);
}

std::string place_text(const gate::Judgement &judgement, const gate::Outcome &outcome)
{
	return outcome.cell ? judgement.keys.at(*outcome.cell) : model::printable(outcome.pattern);
}

std::string counts_text(const gate::Judgement &judgement)
{
	std::vector<std::string> counts;
	for (size_t i = 0; i < gate::kStatusNames.size(); ++i)
		if (const size_t count = judgement.count(static_cast<gate::Status>(i)); count > 0)
			counts.push_back(fmt::format("{} {}", count, gate::kStatusNames[i]));
	return fmt::format("{}", fmt::join(counts, ", "));
}

} // namespace icepath::text
