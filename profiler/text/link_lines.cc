// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/link_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/explain/one_message.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/message_lines.h"

namespace icepath::text {

std::string title_of(const analysis::LinkRanges &link)
{
	return fmt::format("{} {} {} {}", link.client, analysis::arrow_of(link.kind), link.server,
					   analysis::word_of(link.kind));
}

const char *things_of(const analysis::LinkRanges &link) { return link.is_of_requests ? "requests" : "messages"; }

void add_exchange(Page &page, const analysis::AttachedResult &run, const analysis::LinkRanges &link,
				  const analysis::Exchange &what, const analysis::WorstMessage &message)
{
	const std::string &from = what.to_server ? link.client : link.server,
					  &to = what.to_server ? link.server : link.client;
	page.heading(fmt::format(
		"{}: {} of {} to {}, {} after {:.3f} s (--message {})", title_of(link), what.is_request ? "request" : "message",
		from, to, stats::duration(static_cast<double>(message.latency_ns())),
		static_cast<double>(what.send_ns - std::min(what.send_ns, run.begin_ns)) / 1e9, explain::name_of(message)));
	const bool has_typical = link.holds(what) && link.ranges.tells_typical();
	add_path(page, message, has_typical ? &*link.ranges.typical : nullptr, analysis::Code::OfPrograms, things_of(link));
	page.line();
}

} // namespace icepath::text
