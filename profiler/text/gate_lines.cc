// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/gate_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/text/gate_words.h"
#include "profiler/text/page.h"

namespace icepath::text {

std::string gate_lines(const gate::Judgement &judgement, const Style &style)
{
	Page page({style.colour, style.unicode}, static_cast<size_t>(std::clamp(style.width, 40, 1000)));
	page.line();
	page.paragraph("gates", counts_text(judgement));
	for (const gate::Outcome &outcome : judgement.outcomes) {
		if (outcome.status == gate::Status::Met && !style.verbose)
			continue;
		// A gate without a cell says nothing of its expectations.
		const std::string expected = outcome.cell ? judgement.expectation_of(outcome).text + " · " : "";
		page.paragraph(gate::kStatusNames[static_cast<size_t>(outcome.status)],
					   fmt::format("{}{} · {} · {}{}", expected, place_text(judgement, outcome),
								   judgement.gate_of(outcome).name, outcome_text(judgement, outcome),
								   judgement.only_warns(outcome) ? " (the gate only warns)" : ""));
	}
	if (!judgement.is_whole)
		page.paragraph("undecided", "the run isn't whole: it ended early, or its file is damaged");
	return page.take();
}

} // namespace icepath::text
