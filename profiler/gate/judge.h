// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a run's figures are as gates expect. A figure whose interval contains the limit is undecided, and what is
// missing never passes. As data: text/gate_lines.h has the words.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/run_result.h"
#include "profiler/failure.h"
#include "profiler/gate/gate_file.h"

namespace icepath::gate {

enum class Status : uint8_t { Met, Missed, Undecided, Missing };
inline constexpr std::array<const char *, 4> kStatusNames = {"met", "missed", "undecided", "missing"};

enum class Reason : uint8_t {
	None,
	// Of Undecided.
	Interval, // contains the limit
	NoInterval, // too few blocks have such a value
	FewOpenings, // the interval is of these processes alone
	LostMessages, // they took longer than any limit, and the figure is of those alone that came
	FailedBlocks, // what they would have shown is in no figure
	UnknownPaths, // too few messages have a known path
	NotWhole, // the run ended early, or its file is damaged
	// Of Missing.
	NoCell, // none has a key that one of the gate's patterns matches
	NotMeasured,
	TooFew, // messages or blocks for a percentile
	NoProbes,
	NoProbeOfLayer, // what the layer rests on doesn't work here
	NoTail,
	NoOther, // no cell has the ratio's key, or several have it
	ItsOwnKey, // a ratio of a cell to itself
	NotTogether, // the ratio's cells share too few rounds
	OwnRate, // of a ratio: a cell that sets its own rate says nothing of its speed by its latencies
};

// What a run tells of a figure.
struct Measured {
	double value = 0;
	std::optional<stats::Interval> interval; // nothing: it was counted, and is exact; or `reason` says why
	Reason reason = Reason::None;
};

struct Outcome {
	size_t gate = 0;
	size_t expectation = 0; // of the gate
	std::optional<size_t> cell; // nothing: NoCell, which stands for all of the gate's expectations
	Status status = Status::Missing;
	Reason reason = Reason::None;
	std::optional<Measured> measured; // nothing: Missing
	std::string pattern = {}; // of NoCell: the one that no key matches
};

struct Judgement {
	std::vector<Gate> gates;
	std::vector<std::string> keys; // of the run's cells
	std::vector<Outcome> outcomes; // in the order of gates, their expectations, the run's cells
	bool is_whole = true; // the run
	const Gate &gate_of(const Outcome &outcome) const { return gates.at(outcome.gate); }
	const Expectation &expectation_of(const Outcome &outcome) const
	{
		return gate_of(outcome).expectations.at(outcome.expectation);
	}
	bool only_warns(const Outcome &outcome) const;
	size_t count(Status status) const;
};

// Nothing: the run doesn't have it, and `why` says so.
std::optional<Measured> figure_of(const analysis::RunResult &result, size_t cell, const Expectation &expected,
								  Reason &why);

std::vector<GatedCell> gated_cells(const analysis::RunResult &result);

// Throws Failure(Usage) if an expectation is about two builds or runs.
Judgement judge(const analysis::RunResult &result, std::vector<Gate> gates);

// Ok: all are met, or undecided where a gate only warns. Usage if something is missing, else TargetMissed, else
// Invalid, also where the run isn't whole.
ExitCode exit_code(const Judgement &judgement);

// Throws Failure(Usage) if a gate means none of these cells, or compares. To be asked before anything is measured.
void check_gates(const std::vector<Gate> &gates, const std::vector<GatedCell> &cells);

} // namespace icepath::gate
