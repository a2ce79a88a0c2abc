// SPDX-License-Identifier: Apache-2.0
#pragma once
// The confusion matrix: for each injection, the share of its added time that landed in each layer, and whether it
// belongs there. Pure.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "profiler/failure.h"
#include "profiler/selftest/added_time.h"
#include "profiler/stats/interval.h"

namespace icepath::selftest {

inline constexpr double kLeastInPlace = 0.95, kMostElsewhere = 0.02;
// Of the messages in blocks with the injection: those with an unknown path may be just those that it hit.
inline constexpr double kLeastKnown = 0.9;

enum class Verdict {
	Lands, // at least kLeastInPlace where it belongs, at most kMostElsewhere in each other layer
	Strays, // the intervals contradict Lands
	Undecided, // not Lands, but the intervals don't contradict it
	NotInjected, // this machine can't
	NotJudged, // a probe is missing, without which its messages' paths are unknown
};
inline constexpr std::array<std::string_view, 5> kVerdictNames = {"lands", "strays", "undecided", "not injected",
																  "not judged"};
constexpr std::string_view name(Verdict verdict) { return kVerdictNames[static_cast<size_t>(verdict)]; }

struct Row {
	const Injection *injection = nullptr;
	Verdict verdict = Verdict::Undecided;
	std::string why; // unless Lands
	size_t pairs = 0; // of blocks
	double known = 0; // share of the messages with the injection that have a complete path
	// Medians over the pairs, with their intervals. Nothing without a pair.
	std::optional<stats::Middle> added_ns; // to the mean latency
	std::optional<stats::Middle> in_place; // share of it
	std::array<std::optional<stats::Middle>, model::kLayerCount> elsewhere; // likewise, of the time that isn't in place
	std::array<std::optional<stats::Middle>, model::kLayerCount> layers; // likewise, of all time
	std::optional<uint64_t> contradicted; // paths that the relay's own stamps contradict; nothing without such a relay
	std::optional<double> named; // share of the time in place that is blamed on the culprit
};

Row row_of(const Injection &injection, const std::vector<BlockPair> &pairs);
Row not_injected(const Injection &injection, const std::string &why);
Row not_judged(const Injection &injection, const std::string &why);

// Ok if every possible injection landed, and at least one was possible.
ExitCode exit_code(const std::vector<Row> &matrix);

} // namespace icepath::selftest
