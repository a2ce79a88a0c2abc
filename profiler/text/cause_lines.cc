// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/cause_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/stats/quantity.h"
#include "profiler/text/cause_words.h"
#include "profiler/text/table.h"

namespace icepath::text {
namespace {

// How a cause is told apart from another of its name.
std::string rest_of(const explain::Cause &cause, analysis::Code code)
{
	const bool says_more =
		cause.origin == analysis::Origin::OtherTarget ||
		(analysis::is_own(cause.origin) && !(cause.origin == analysis::Origin::OwnTimer && cause.ended_sleep));
	return says_more ? fmt::format("{}, {}", model::name(cause.layer), word(cause.origin, code))
					 : std::string(model::name(cause.layer));
}

} // namespace

void add_causes(Page &page, const std::vector<explain::Cause> &causes, const CauseHeads &heads, analysis::Code code,
				bool all)
{
	constexpr size_t kShown = 6;
	std::vector<explain::Cause> shown = causes; // the greatest growth first
	std::erase_if(shown, [](const explain::Cause &cause) { return cause.growth_ns <= 0; });
	if (shown.empty())
		return;
	size_t left_out = 0;
	double left_out_ns = 0;
	if (!all)
		for (size_t i = shown.size(); i-- > kShown;)
			if (!shown[i].is_told()) { // what is told is shown wherever it stands
				++left_out;
				left_out_ns += shown[i].growth_ns;
				shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(i));
			}
	constexpr TableColumn kNumber{Side::Right, 10, 1};
	Table table({{Side::Left, 15}, kNumber, kNumber, kNumber, kNumber, kNumber, {}});
	table.add({"what took it", heads.a, heads.b, "lift", "µs there", std::string(heads.growth) + " µs"});
	for (const explain::Cause &cause : shown)
		table.add({cause.name, stats::percent(cause.share), stats::percent(cause.other_share),
				   cause.lift() ? fmt::format("{:.3g}×", *cause.lift()) : "only here",
				   stats::microseconds(cause.when_there_ns), stats::microseconds(cause.growth_ns),
				   rest_of(cause, code)});
	page.line();
	table.add_to(page);
	if (left_out > 0)
		page.line(page.spelled(fmt::format("  {} more, {} µs of the {} together{}", left_out,
										   stats::microseconds(left_out_ns), heads.growth, heads.all_by)));
	page.line();
}

void add_next(Page &page, const std::vector<Step> &steps)
{
	for (const Step &step : steps) {
		page.paragraph(&step == &steps.front() ? "next" : "", step.text + (step.command.empty() ? "" : ":"));
		if (!step.command.empty())
			page.line(page.spelled(std::string(10, ' ') + step.command));
	}
}

} // namespace icepath::text
