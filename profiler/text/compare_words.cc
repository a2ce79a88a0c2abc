// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/compare_words.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "profiler/analysis/named_cells.h"
#include "profiler/explain/part_of_probes.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/difference_table.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/wording.h"

namespace icepath::text {
namespace {

using compare::Comparison, compare::Figure, compare::Judged, compare::Verdict, compare::Why;

bool is_share(Figure figure) { return compare::row_of(figure).scale == stats::Scale::Plain; }

// Percent, or percentage points, with as many digits as the interval supports.
std::string signed_percent(double share, double beside)
{
	const double percent = share * 100, half = std::abs(beside) * 100;
	return fmt::format("{:+.{}f}", percent, half < 0.1 ? 2 : half < 10 ? 1 : 0);
}

// Of B, where it is told from A.
std::string direction_words(Figure figure, bool is_more)
{
	switch (figure) {
	case Figure::Mean:
	case Figure::P50:
	case Figure::P99:
		return is_more ? "slower" : "faster";
	case Figure::Slow:
		return is_more ? "more in slow modes" : "fewer in slow modes";
	case Figure::Cpu:
		return is_more ? "costs more" : "costs less";
	case Figure::Lost:
		return is_more ? "loses more" : "loses less";
	}
	return "";
}

std::string needed_words(const Judged &judged)
{
	if (!judged.needed_s)
		return "";
	const bool has_too_few = judged.why == Why::TooFewRounds || judged.why == Why::TooFewOpenings;
	return fmt::format("; -d {} would {}", duration_option(*judged.needed_s),
					   has_too_few ? "have enough" : "decide in 8 of 10 runs");
}

std::string lost_words(double share)
{
	constexpr double kLeast = 0.0001; // as it is shown
	return share == 0 ? "none" : share < kLeast ? "< 0.01 %" : fmt::format("{:.2f} %", share * 100);
}

// "base lost 0.40 %, new none"
std::string losses_words(const Comparison &comparison, const Judged &judged)
{
	if (!judged.losses)
		return "messages were lost";
	return fmt::format("{} lost {}, {} {}", comparison.a, lost_words(judged.losses->a), comparison.b,
					   lost_words(judged.losses->b));
}

std::string why_words(const Comparison &comparison, const Judged &judged)
{
	const std::string &a = comparison.a, &b = comparison.b;
	switch (judged.why) {
	case Why::None:
		return "";
	case Why::OnlyInA:
		return fmt::format("{} has no such cell", b);
	case Why::OnlyInB:
		return fmt::format("{} has no such cell", a);
	case Why::NoBlocksInA:
		return fmt::format("no block of {} has it", a);
	case Why::NoBlocksInB:
		return fmt::format("no block of {} has it", b);
	case Why::NoBlocksOfControl:
		return fmt::format("too few blocks of {} have it, so nothing shows that {} doesn't differ from itself",
						   comparison.control, a);
	case Why::OneMode:
		return "the messages have one mode";
	case Why::OtherModes:
		return "another number of modes";
	case Why::OwnRate:
		return "the cell sets its own rate, so its latencies don't say how fast it is";
	case Why::Conditions:
		return "other conditions than what is compared differ";
	case Why::TooFewRounds:
		return fmt::format("fewer than {} rounds measured both", stats::kMinBlocks);
	case Why::TooFewOpenings:
		return fmt::format("fewer than {} openings: a difference may be the luck of these processes",
						   stats::kMinBlocks);
	case Why::Wide:
		return "both equals and a difference may look like this";
	case Why::ManyCompared:
		return "by itself; among so many figures one may be so by chance";
	case Why::ControlDiffers:
		return fmt::format("{} differs from {}, which is the same", comparison.control, a);
	case Why::NoAnchor:
		return "no transport of the kernel's has the same load in both runs (--anchor)";
	case Why::NoSharedRounds:
		return "such a share is compared within rounds only";
	case Why::DriftNotKnown:
		return "how far runs of the same lie apart isn't known (--repeats)";
	case Why::WithinDrift:
		return "runs of the same lie as far apart";
	case Why::FailedBlocks:
		return "blocks of it failed, and what they would have shown is in no figure";
	case Why::MissingBlocks:
		return "it has fewer blocks than the other, and what they would have shown is in no figure";
	case Why::LostMessages:
		return losses_words(comparison, judged);
	case Why::NotWhole:
		return "the run isn't whole: it ended early, or its file is damaged";
	}
	return "";
}

// A time that is no longer may be one of those messages alone that came.
std::string beside_losses(const Comparison &comparison, const Judged &judged)
{
	return judged.losses && judged.why != Why::LostMessages ? "; " + losses_words(comparison, judged) : "";
}

std::string with_why(const std::string &verdict, const std::string &why)
{
	return verdict + (why.empty() ? "" : ": " + why);
}

} // namespace

std::string figure_words(Figure figure)
{
	switch (figure) {
	case Figure::Mean:
		return "mean";
	case Figure::P50:
		return "p50";
	case Figure::P99:
		return "p99";
	case Figure::Slow:
		return "in slow modes";
	case Figure::Cpu:
		return "CPU per message";
	case Figure::Lost:
		return "lost";
	}
	return "";
}

std::string value_words(Figure figure, const std::optional<double> &value)
{
	if (!value)
		return "–";
	return is_share(figure) ? fmt::format("{:.2f} %", *value * 100) : stats::duration(*value);
}

std::string change_words(Figure figure, const std::optional<double> &change,
						 const std::optional<stats::Interval> &interval)
{
	if (!change || !interval)
		return "–";
	const double half = (interval->high - interval->low) / 2;
	return fmt::format("{} {} [{}, {}]", signed_percent(*change, half), is_share(figure) ? "points" : "%",
					   signed_percent(interval->low, half), signed_percent(interval->high, half));
}

std::string verdict_words(const Comparison &comparison, const Judged &judged)
{
	const std::string why = why_words(comparison, judged);
	switch (judged.verdict) {
	case Verdict::Slower:
	case Verdict::Faster:
		return direction_words(judged.figure, judged.verdict == Verdict::Slower) + beside_losses(comparison, judged);
	case Verdict::Same:
		return "same" + beside_losses(comparison, judged);
	case Verdict::LeansSlower:
	case Verdict::LeansFaster:
		return with_why("leans: " + direction_words(judged.figure, judged.verdict == Verdict::LeansSlower), why) +
			   needed_words(judged) + beside_losses(comparison, judged);
	case Verdict::Undecided:
		return with_why("undecided", why) + needed_words(judged) + beside_losses(comparison, judged);
	case Verdict::ControlDiffers:
		return with_why("no verdict", why);
	case Verdict::NotComparable:
		return with_why("not comparable", why);
	case Verdict::NotMeasured:
		return with_why("not measured", why);
	}
	return "";
}

bool has_row(const Judged &judged)
{
	if (judged.why == Why::OneMode)
		return false;
	const bool loses_nothing = judged.figure == Figure::Lost && judged.a == 0.0 && judged.b == 0.0;
	return !loses_nothing || judged.verdict == Verdict::ControlDiffers;
}

std::string comparison_heading(const Comparison &comparison)
{
	return fmt::format("{} against {}", comparison.b, comparison.a);
}

std::vector<std::string> notice_words(const Comparison &comparison)
{
	std::vector<std::string> notices;
	if (!comparison.is_whole)
		notices.emplace_back(
			"a run ended early, or its file is damaged, so nothing is called the same or faster (icepath report)");
	if (comparison.is_one_build)
		notices.push_back(
			fmt::format("{} and {} had loaded the same files, by path or build-id: these aren't two builds, "
						"whatever was asked for. A plug-in with DT_RPATH takes no library of lib=",
						comparison.a, comparison.b));
	return notices;
}

std::string method_words(const Comparison &comparison)
{
	const std::string margin = fmt::format("a difference of {:.3g} % or less counts as none, of losses {:.3g} points",
										   comparison.delta * 100, compare::kLostMargin * 100);
	if (!comparison.is_of_one_run)
		return fmt::format(
			"{}. The runs share no round, so times are compared by their ratios to a cell of a transport of "
			"the kernel's in the same run, and a verdict takes more than that and than what {} runs of "
			"the same show ({})",
			margin, comparison.repeats == 0 ? "other" : std::to_string(comparison.repeats + 1),
			comparison.repeats == 0 ? "none is given: --repeats" : "--repeats");
	return fmt::format(
		"{}, by messages without probes in rounds that measured both; 95 % intervals in brackets. {}", margin,
		comparison.control.empty()
			? fmt::format("{} wasn't measured twice, so nothing shows that equals aren't told apart here", comparison.a)
			: fmt::format("{} was measured twice, as {} too: where it differs from itself there is no verdict",
						  comparison.a, comparison.control));
}

std::string condition_words(const compare::Condition &condition)
{
	const auto or_unknown = [](const std::string &text) { return text.empty() ? "not recorded" : text; };
	std::string name(compare::name_of(condition.id));
	for (char &character : name)
		character = character == '_' ? ' ' : character;
	if (condition.a == condition.b)
		return name + ": not recorded";
	return fmt::format("{}: {} and {}", name, or_unknown(condition.a), or_unknown(condition.b));
}

std::string keeps_words(const compare::Condition &condition)
{
	switch (condition.keeps) {
	case compare::Keeps::Verdicts:
		return condition.a == condition.b ? "not known to be the same, so there is no verdict"
										  : "differs, so there is no verdict";
	case compare::Keeps::Layers:
		return "differs, so layers don't compare";
	case compare::Keeps::Nothing:
		return "differs";
	}
	return "";
}

std::string carried_words(const analysis::RunResult &run, const compare::ComparedCell &cell)
{
	if (!cell.against)
		return "";
	const explain::Against &against = *cell.against;
	if (!against.difference)
		return "where the time goes isn't known: " + words(run, against.refusal.value());
	const analysis::CellResult &slower = run.cells[against.slower], &faster = run.cells[against.faster];
	return longer_words(*against.difference, explain::longer_by_probes(slower, faster), slower.cell.arm);
}

std::string one_session_words(const Comparison &comparison)
{
	return comparison.is_of_one_run
			   ? ""
			   : "what two runs don't tell, one session does, in which both are measured in the same rounds";
}

std::string one_session_command(const Comparison &comparison)
{
	if (comparison.is_of_one_run)
		return "";
	std::string targets;
	std::set<std::string> told;
	for (const compare::ComparedCell &cell : comparison.cells)
		if (cell.a && cell.b && told.insert(cell.key.target).second)
			targets += (targets.empty() ? "" : ",") + analysis::shell_word(cell.key.target);
	return fmt::format("sudo icepath run --arm base:plugins=FOLDER --arm new:plugins=FOLDER -t {}", targets);
}

} // namespace icepath::text
