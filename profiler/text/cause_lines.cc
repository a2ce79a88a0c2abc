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

void add_causes(Page &page, const std::vector<explain::Cause> &causes, const char *of_a, const char *of_b,
				analysis::Code code)
{
	constexpr size_t kShown = 6;
	std::vector<explain::Cause> shown = causes;
	// What is more often in the other messages explains nothing, unless it and its like together take longer from
	// these.
	std::erase_if(shown, [](const explain::Cause &cause) {
		return cause.growth_ns <= 0 || (cause.share < cause.other_share && !cause.is_of_told_kind);
	});
	if (shown.size() > kShown)
		shown.resize(kShown);
	if (shown.empty())
		return;
	constexpr TableColumn kNumber{Side::Right, 10, 1};
	Table table({{Side::Left, 15}, kNumber, kNumber, kNumber, kNumber, {}});
	table.add({"what took it", of_a, of_b, "lift", "µs there"});
	for (const explain::Cause &cause : shown)
		table.add({cause.name, stats::percent(cause.share), stats::percent(cause.other_share),
				   cause.lift() ? fmt::format("{:.3g}×", *cause.lift()) : "only here",
				   stats::microseconds(cause.when_there_ns), rest_of(cause, code)});
	page.line();
	table.add_to(page);
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
