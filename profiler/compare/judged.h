// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verdict on one figure of two cells, A and B, as data.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/compare/compared_figure.h"
#include "profiler/stats/interval.h"

namespace icepath::compare {

enum class Verdict : uint8_t {
	Slower, // B: it takes longer, more CPU time, loses more, has more messages in slow modes; told from equals
	Faster,
	Same, // within the margin
	LeansSlower, // told from equals if it were the only figure that is compared
	LeansFaster,
	Undecided,
	ControlDiffers, // no verdict: A differs from itself
	NotComparable,
	NotMeasured, // A or B has no such figure
};
inline constexpr std::array<std::string_view, 9> kVerdictNames = {"slower",          "faster",         "same",
																  "leans_slower",    "leans_faster",   "undecided",
																  "control_differs", "not_comparable", "not_measured"};
inline std::string_view name_of(Verdict verdict) { return kVerdictNames.at(static_cast<size_t>(verdict)); }

// Why there is no verdict, or none of slower, faster and same.
enum class Why : uint8_t {
	None,
	OnlyInA, // the other one has no such cell
	OnlyInB,
	NoBlocksInA, // that have the figure
	NoBlocksInB,
	NoBlocksOfControl, // or too few
	OneMode, // of both: there is no share of slow modes
	OtherModes, // another number of them
	OwnRate, // the cell sets its own rate, so its latencies say nothing of its speed
	Conditions, // ComparedCell::conditions, Comparison::conditions
	TooFewRounds, // in common
	TooFewOpenings,
	Wide, // the interval reaches beyond the margin, and doesn't exclude 0
	ManyCompared, // told from equals, but not among so many
	ControlDiffers,
	NoAnchor, // no cell of the kernel's transports that both runs measured under the same load
	NoSharedRounds, // of two runs: such a figure is compared within rounds only
	DriftNotKnown, // how far runs of the same lie apart on this machine
	WithinDrift,
	FailedBlocks, // of the one that seems no slower: what they would have shown is in no figure
	MissingBlocks, // of the one that seems no slower: it has fewer than nine for ten of the other's
	LostMessages, // so many that the figure is of one of them, or says nothing of all that were sent
	NotWhole, // the run ended early, or its file is damaged
};
inline constexpr std::array<std::string_view, 23> kWhyNames = {
	"none",         "only_in_a",     "only_in_b",       "no_blocks_in_a", "no_blocks_in_b",   "no_blocks_of_control",
	"one_mode",     "other_modes",   "own_rate",        "conditions",     "too_few_rounds",   "too_few_openings",
	"wide",         "many_compared", "control_differs", "no_anchor",      "no_shared_rounds", "drift_not_known",
	"within_drift", "failed_blocks", "missing_blocks",  "lost_messages",  "not_whole"};
inline std::string_view name_of(Why why) { return kWhyNames.at(static_cast<size_t>(why)); }

// Shares of the messages that were sent.
struct Losses {
	double a = 0, b = 0;
};

struct Judged {
	Figure figure = Figure::Mean;
	Verdict verdict = Verdict::NotMeasured;
	Why why = Why::None;
	std::optional<double> a = {}, b = {}; // nanoseconds, or a share of messages
	// Of B over A, less 1; of shares the difference.
	std::optional<double> change = {};
	std::optional<stats::Interval> interval = {}; // 95 %, of the change
	size_t rounds = 0, openings = 0; // that it rests on
	// Probabilities of such a change, or one further from 0, between equals: by itself, and corrected by Holm's method
	// for all that is compared.
	std::optional<double> p = {}, p_corrected = {};
	std::optional<double> p_margin = {}; // of one so near to 0, if the true one is the margin; below 5 %: the same
	// Run time with which equals are called the same in 80 % of the runs or more, and a difference of the margin is
	// told in spite of the correction in 80 % or more; of TooFewRounds and TooFewOpenings, with which there are enough.
	std::optional<double> needed_s = {};
	std::optional<double> control = {}; // change of A measured once more, over A
	std::optional<stats::Interval> control_interval = {};
	// Of another figure than the losses themselves, where these differ by their interval or matter: with them.
	std::optional<Losses> losses = {};
	std::optional<stats::RoundDifference> difference = {}; // of B less A, that all this comes from

	bool is_told() const { return verdict == Verdict::Slower || verdict == Verdict::Faster; }
};

// What is measured of A, B and the control, in the rounds of one run.
struct ToJudge {
	const analysis::CellResult *a = nullptr, *b = nullptr;
	const analysis::CellResult *control = nullptr; // A once more; nullptr: there is none
	double run_s = 0; // how long the run took
	bool is_whole = true; // the run, or both
	bool is_of_one_run = true; // so that blocks which only one of them has are missing
};

using JudgedFigures = std::array<Judged, kFigures>;

// Verdicts but for the correction: those told from equals are Slower or Faster.
JudgedFigures judged_alone(const ToJudge &cells, double delta);

// Corrects for all figures of all cells: what isn't told any more leans.
void correct(const std::vector<JudgedFigures *> &all);

// Sets how long a run would decide what is undecided or leans, after correct(): as many figures as aren't told now are
// corrected for then.
void announce(const std::vector<JudgedFigures *> &all, double run_s, double delta);

// Takes back Same, Faster or Slower where what is missing of either cell may contradict it.
void doubt(const ToJudge &cells, Judged &judged);

// What is shown, and not judged.
void withdraw(Why why, Judged &judged);

// Times count what was lost, as long as they are of a message that came. CPU time is of less work where messages were
// lost, and modes are of those alone that came: beyond a third of `delta` neither is compared. `differ`: the losses.
void take_losses(const Losses &lost, bool differ, double delta, JudgedFigures &figures);

} // namespace icepath::compare
