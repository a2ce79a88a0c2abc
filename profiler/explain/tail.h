// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a cell's slowest messages are slow: what grows from typical messages (p40 to p60) to the tail (from a percentile
// on), with probes. Both are means over the same messages for every layer, so the growths of the layers add up to the
// growth of the latency.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/explain/difference.h"
#include "profiler/explain/finding.h"
#include "profiler/explain/growth_causes.h"
#include "profiler/explain/mode_difference.h"
#include "profiler/explain/remedies.h"

namespace icepath::explain {

// ByKind: it is told of what kind the causes are, as tasks of others, and not which of them. NotTold: how large the
// growth is isn't told.
enum class TailVerdict : uint8_t { Explained, ByKind, Partly, Unexplained, NotTold, TooFew };
inline constexpr std::array<const char *, 6> kTailVerdicts = {"explained",   "explained by kind", "partly explained",
															  "unexplained", "not told",          "too few"};

// The mode in which the tail without probes begins.
struct UnprobedTail {
	size_t mode = 0; // its index
	// Nothing: it is the fastest one, or one of both has too few messages with probes or with a known path.
	std::optional<ModeDifference> than_fastest;
	std::optional<Finding> refusal = {}; // too few have a known path
};

struct TailExplanation {
	TailVerdict verdict = TailVerdict::TooFew;
	std::optional<Finding> refusal; // of TooFew and NotTold: what is missing
	uint64_t messages = 0; // of the tail, with a complete path
	size_t blocks = 0, of_blocks = 0; // that have some of them
	double most_of_one_block = 0; // share of the tail's messages that the block with most of them has
	uint64_t from_ns = 0; // the tail's least latency
	Difference growth; // tail less typical; empty if there are too few
	std::vector<Cause> causes; // those with a name, by growth; Culprits bounds the number of names
	// Growth of the time of causes that count (Cause::counts()) and of the message's own code over that of the latency,
	// at most 1: it is more where typical messages waited for the same time without a known cause.
	double named = 0;
	double own_code = 0; // of this the message's own code
	// The part of the growth that causes have which may be there by chance: the others.
	double by_chance = 0;
	// Whether the tail begins at the same latency with and without probes, as far as both intervals say. Nothing: one
	// of them isn't known.
	std::optional<bool> as_without_probes;
	// If probes change the tail, or the share of that mode: what users have is the tail without probes.
	std::optional<UnprobedTail> unprobed;
	std::vector<Remedy> remedies;
	bool is_explained() const { return verdict != TailVerdict::TooFew; }
};

inline constexpr uint64_t kLeastTail = 10; // messages
inline constexpr size_t kLeastTailBlocks = 3;
inline constexpr double kExplained = 0.8, kPartlyExplained = 0.4; // of the growth has a named cause

// Messages whose slowest are to be explained.
struct TailOf {
	const analysis::TypicalAndTail &ranges;
	uint64_t messages = 0; // with probes, also those without a path
	size_t blocks = 0; // with probes
	double run_s = 0; // how long they were measured
	analysis::Code code = analysis::Code::OfSides;
};
// Without remedies. The other one: of a cell.
TailExplanation explain_tail(const TailOf &of, stats::Percentile from);

// TooFew without a tail that stands for all of it. `head`: of the cell's run; `from`: where its tails begin.
TailExplanation explain_tail(const analysis::CellResult &cell, const model::Head &head,
							 stats::Percentile from = stats::kP99);

// How many times as long a run must be until an interval of this half width excludes 0, if its blocks go on like these:
// the width falls with the square root of their number. Nothing if the value is 0.
std::optional<double> times_as_long(double value, const stats::Interval &interval);
// How many times as long until a mean over these messages has an interval at all.
double times_until_interval(const analysis::Breakdown &layers);

// A cell of the run that differs from another one by the target or by the wait, and has one mode.
struct CellOfOneMode {
	std::string target;
	std::optional<model::Wait> wait; // of cells of the same target, which differ by it
};

// What may help against the mode of `unprobed`.
struct AgainstMode {
	std::vector<Remedy> remedies; // for what its messages take longer
	bool has_shares = false; // see Difference::has_shares()
	std::vector<CellOfOneMode> without_modes; // those of the same target first
	// Other waits that the target offers, where no cell of the run shows whether the mode depends on the wait.
	std::vector<model::Wait> waits_to_try;
};
std::optional<AgainstMode> against_mode(const analysis::RunResult &result, size_t index, const TailExplanation &tail);

} // namespace icepath::explain
