// SPDX-License-Identifier: Apache-2.0
#pragma once
// A difference of two breakdowns, as a table and in a sentence.
#include <optional>
#include <string>
#include <string_view>

#include "profiler/explain/difference.h"
#include "profiler/explain/part_of_probes.h"
#include "profiler/text/page.h"

namespace icepath::text {

// "wakeup at relay 1 (dds.udp)"; without relays the place only tells rows of one layer apart, as "interrupt
// (receiver)".
std::string row_text(const explain::DifferenceRow &row, bool has_relays);

// Names of the columns.
struct DifferenceHeads {
	std::string a, b; // of A and B
	std::string difference, share;
	bool b_first = false;
};
// "99 % ±2"; of a difference that has shares.
std::string share_text(const explain::Difference &difference, const explain::DifferenceFigures &part);
// A row for each kind with its layers below. Layers that hardly differ are one row.
void add_difference(Page &page, const explain::Difference &difference, const DifferenceHeads &heads);

// The kinds that make most of the difference: "Of that, waking 4.00 µs (48 % ±3), mostly wakeup at relay 1 (daemon);
// …". Of a difference without shares: "It takes longer in: waking +4.00 µs, mostly …".
// Only kinds whose difference is told from zero. Empty if none is.
std::string most_of_it(const explain::Difference &difference);

// The same after "a typical message with probes takes 1.68 µs longer in ARM", of two cells: how much of it the probes
// are, and which kinds these may have made. `by_probes`: explain::longer_by_probes(). `in`: which one is slower.
std::string longer_words(const explain::Difference &difference, const std::optional<stats::Effect> &by_probes,
						 std::string_view in = "");

} // namespace icepath::text
