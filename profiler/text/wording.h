// SPDX-License-Identifier: Apache-2.0
#pragma once
// How findings are worded: a row for each FindingId, in a table for each group of topics. Only finding_words.cc and
// these tables use it.
#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string>

#include "profiler/analysis/run_result.h"
#include "profiler/explain/finding.h"
#include "profiler/stats/quantity.h"

namespace icepath::text {

struct Wording {
	explain::FindingId id;
	const char *pattern = ""; // {0}: the value, {1}: what it is a part of, as counts
	std::string (*words)(const analysis::RunResult &, const explain::Finding &) = nullptr; // where a pattern won't do
	const char *kind = ""; // of a notice that several cells share: "lost messages"
	bool is_brief = false; // of a notice: the report on one screen has it, since nothing else there tells it
};

std::span<const Wording> words_to_read_by(); // of the topics run and reading
std::span<const Wording> words_of_trust(); // of precision to fitness
std::span<const Wording> words_of_refusals(); // of explanation

// Throws std::logic_error if a finding has no words.
const Wording &wording_of(explain::FindingId id);

inline const analysis::CellResult &cell_of(const analysis::RunResult &result, const explain::Finding &finding)
{
	return result.cells.at(finding.cell.value());
}

inline std::string count_of(double number) { return stats::count(static_cast<uint64_t>(std::llround(number))); }
inline std::string count_in(const explain::Finding &finding) { return count_of(finding.value.value()); }
inline std::string count_in(const explain::Finding &finding, explain::Fact fact)
{
	return count_of(finding.number(fact));
}
inline std::string time_in(const explain::Finding &finding, explain::Fact fact)
{
	return stats::duration(finding.number(fact));
}
inline std::string cells_text(double cells) { return fmt::format("{} cell{}", count_of(cells), cells == 1 ? "" : "s"); }

// "99.9 %", rounded down: what isn't all isn't said to be.
inline std::string share_of_all(double share) { return fmt::format("{:.1f} %", std::floor(share * 1000) / 10); }

// "4m", as -d takes it: rounded up.
std::string duration_option(double seconds);

} // namespace icepath::text
