// SPDX-License-Identifier: Apache-2.0
#pragma once
// The confusion matrix: of each injection, which share of the time that it added landed in each layer, and whether that is where
// it belongs. Pure.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "profiler/failure.h"
#include "profiler/selftest/added_time.h"
#include "profiler/stats/median_interval.h"

namespace icepath::selftest {

inline constexpr double kLeastInPlace = 0.95, kMostElsewhere = 0.02;
// Of the messages in blocks with the injection: those whose path is unknown may be just those that it met.
inline constexpr double kLeastKnown = 0.9;

enum class Verdict {
	Lands, // at least kLeastInPlace where it belongs, at most kMostElsewhere in each other layer
	Strays, // the intervals show that it isn't so
	Undecided, // it isn't so, or not known to be, and the intervals don't show more
	NotInjected, // this machine can't
	NotJudged, // a probe is missing without which no path of its messages can be told
};
inline constexpr std::array<std::string_view, 5> kVerdictNames = {"lands", "strays", "undecided", "not injected",
																  "not judged"};
constexpr std::string_view name(Verdict verdict) { return kVerdictNames[static_cast<size_t>(verdict)]; }

struct Row {
	const Injection *injection = nullptr;
	Verdict verdict = Verdict::Undecided;
	std::string why; // where it isn't Lands
	size_t pairs = 0; // of blocks
	double known = 0; // share of the messages with the injection whose path is complete
	// Medians over the pairs, with their intervals. Nothing without a pair.
	std::optional<stats::Middle> added_ns; // to the mean latency
	std::optional<stats::Middle> in_place; // share of it
	std::array<std::optional<stats::Middle>, model::kLayerCount> elsewhere; // likewise, of what isn't in place
	std::array<std::optional<stats::Middle>, model::kLayerCount> layers; // likewise, of all
	std::optional<uint64_t>
		contradicted; // paths that the relay's own stamps contradict; nothing where there is no such relay
	std::optional<double> named; // share of what landed in place that is blamed on the culprit
};

Row row_of(const Injection &injection, const std::vector<BlockPair> &pairs);
Row not_injected(const Injection &injection, const std::string &why);
Row not_judged(const Injection &injection, const std::string &why);

// Ok where every injection that could be made landed, and one could at all.
ExitCode exit_code(const std::vector<Row> &matrix);

} // namespace icepath::selftest
