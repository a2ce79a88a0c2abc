// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run shows of itself, as data: which statement, of which cell, resting on which figures. No sentence: text/
// words it (finding_words.h), and run.json has it as it is.
//
// A new statement takes an id and a row here, its words in text/finding_words.cc, and its id in docs/run-schema.json.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "profiler/stats/interval.h"

namespace icepath::explain {

// Append only within a group: files hold the names, not the numbers, but findings are listed in this order.
enum class FindingId : uint8_t {
	// How the run ended.
	RunDiedWriting,
	RunUnfinished,
	RunInterrupted,
	// What to know before reading the figures: of the run, then of a cell.
	Recorded,
	StartedByRoot,
	MachineChanged,
	UntracedInterrupts,
	NothingMeasured,
	FailedBlocks,
	LostMessages,
	ChangedBytes,
	CopiedMessages,
	InvertedTimes,
	DroppedRecords,
	RecursionMisses,
	LayersMissLatency,
	NoBreakdown,
	QosNotGranted,
	QosUnknown,
	SlowBesideDrops,
	SlowBesideResends,
	CameWithNext,
	HeldByTcp,
	OtherTarget,
	FifoSpinners,
	BlocksOfFewMessages,
	ValuesRounded,
	ModesSampled,
	RateNotHeldAgain,
	RateWithoutUpperEnd,
	NoRateFound,
	SeveralModes,
	ModesChangedByProbes,
	ModesOfOpenings,
	OpeningsDiffer,
	Drift,
	TooFewBlocks,
	OtherOrderByP50,
	// How precise the figures are.
	P50Widths,
	P99Widths,
	PairsToldApart,
	FewProcesses,
	// Whether the machine stayed the same, and how quiet it was.
	RoundTripChanged,
	CellsDrifted,
	NotQuiet,
	ProcessesDiffer,
	NoiseNotLookedFor,
	NoKnownNoise,
	RoundTripSame,
	// How well the layers are known, and what knowing them cost.
	NothingFollowed,
	PathOfCell,
	PathOfAll,
	PathOfTails,
	ProbesMissing,
	ProbesCost,
	// What was lost or went wrong.
	PartialRun,
	EmptyCells,
	BlocksThatFailed,
	LostWhereNoneMayBe,
	MessagesWithChangedBytes,
	MessagesWithInvertedTimes,
	LostRecords,
	SkippedProbes,
	CellsThatMissLatency,
	MessagesLost,
	NothingLost,
	// What the run was quiet enough for.
	FitForMedians,
	FitForRanks,
	FitForTails,
	// Why a question of `icepath explain` has no answer.
	TailTooFewMessages,
	TailMissing,
	TailPathsUnknown,
	TypicalPathsUnknown,
	ModePathsUnknown,
	TailNotSlower,
	GrowthOfTooFewBlocks,
	GrowthMayBeNone,
	GrowthSizeUnknown,
	SameCell,
	OwnRate,
	TooFewRounds,
	RatioWithoutBounds,
	TooFewOpenings,
	NotToldApart,
	NoProbes,
	TooFewProbed,
	TypicalOfTooFewBlocks,
	ProbesDisagree,
	Count
};
inline constexpr size_t kFindingIds = static_cast<size_t>(FindingId::Count);

// What a finding is about.
enum class Topic : uint8_t { Run, Reading, Precision, Steadiness, Knowledge, Completeness, Fitness, Explanation };
inline constexpr std::array<std::string_view, 8> kTopicNames = {
	"run", "reading", "precision", "steadiness", "knowledge", "completeness", "fitness", "explanation"};

// Ok: as it should be. Note: to be known before reading. Doubt: figures are worth less by it. Flaw: --strict rejects
// it.
enum class Severity : uint8_t { Ok, Note, Doubt, Flaw };
inline constexpr std::array<std::string_view, 4> kSeverityNames = {"ok", "note", "doubt", "flaw"};

// What mends it. Nothing where it can't be mended, or no mend is known.
enum class Mend : uint8_t { None, MeasureLonger, Doctor, FullReport };
inline constexpr std::array<std::string_view, 4> kMendNames = {"none", "measure_longer", "doctor", "full_report"};

// What a finding rests on, beside its value. A name ends in its unit, as keys of run.json do.
enum class Fact : uint8_t {
	Asked, // texts of quality of service
	Granted,
	Blocks,
	Cells,
	CellsBetweenModes,
	Changes,
	Cpu,
	FromCpu,
	ToCpu,
	LowNs,
	HighNs,
	LargestShare,
	LeastShare,
	LeastRateHz,
	LongestNs,
	MayLose, // 1: the transport may
	MeanNs,
	MeanByBlockNs,
	MeanProbedNs,
	MeanByBlockProbedNs,
	Mode, // from 1, the fastest one
	Names,
	Of, // what the value is a part of, in its unit
	OfNs, // time that was looked at
	OfTime, // 1: the value is a share of time, not of messages
	Openings,
	OtherCell, // its title
	Percent, // a percentile
	RateHz,
	Reason,
	Rounds,
	Sentence, // as the run recorded it
	Stolen, // share that a hypervisor took
	AtFullBuffers, // datagrams that the kernel dropped at full receive buffers of the cells' own sockets
	OtherBlocks, // those without what the value counts
	OtherBlocksToo, // and of these, those that have what it goes with
	Packets,
	AfterNext, // messages that came after the next one was sent
	Count
};
struct FactRow {
	Fact fact;
	std::string_view name; // in files; never changed
};
inline constexpr std::array<FactRow, static_cast<size_t>(Fact::Count)> kFacts = {
	{{Fact::Asked, "asked"},
	 {Fact::Granted, "granted"},
	 {Fact::Blocks, "blocks"},
	 {Fact::Cells, "cells"},
	 {Fact::CellsBetweenModes, "cells_between_modes"},
	 {Fact::Changes, "changes"},
	 {Fact::Cpu, "cpu"},
	 {Fact::FromCpu, "from_cpu"},
	 {Fact::ToCpu, "to_cpu"},
	 {Fact::LowNs, "low_ns"},
	 {Fact::HighNs, "high_ns"},
	 {Fact::LargestShare, "largest_share"},
	 {Fact::LeastShare, "least_share"},
	 {Fact::LeastRateHz, "least_rate_hz"},
	 {Fact::LongestNs, "longest_ns"},
	 {Fact::MayLose, "may_lose"},
	 {Fact::MeanNs, "mean_ns"},
	 {Fact::MeanByBlockNs, "mean_by_block_ns"},
	 {Fact::MeanProbedNs, "mean_probed_ns"},
	 {Fact::MeanByBlockProbedNs, "mean_by_block_probed_ns"},
	 {Fact::Mode, "mode"},
	 {Fact::Names, "names"},
	 {Fact::Of, "of"},
	 {Fact::OfNs, "of_ns"},
	 {Fact::OfTime, "of_time"},
	 {Fact::Openings, "openings"},
	 {Fact::OtherCell, "other_cell"},
	 {Fact::Percent, "percent"},
	 {Fact::RateHz, "rate_hz"},
	 {Fact::Reason, "reason"},
	 {Fact::Rounds, "rounds"},
	 {Fact::Sentence, "sentence"},
	 {Fact::Stolen, "stolen"},
	 {Fact::AtFullBuffers, "at_full_buffers"},
	 {Fact::OtherBlocks, "other_blocks"},
	 {Fact::OtherBlocksToo, "other_blocks_too"},
	 {Fact::Packets, "packets"},
	 {Fact::AfterNext, "after_next"}}};
constexpr std::string_view name_of(Fact fact) { return kFacts.at(static_cast<size_t>(fact)).name; }

struct Evidence {
	Fact fact = Fact::Of;
	std::variant<double, std::string> is;
};

inline double number(uint64_t count) { return static_cast<double>(count); }

struct FindingRow {
	FindingId id;
	std::string_view name; // in files; never changed
	Topic topic;
	Severity severity; // unless the finding says another
	Mend mend; // likewise
};
const FindingRow &row_of(FindingId id);

struct Finding {
	FindingId id = FindingId::Recorded;
	std::optional<size_t> cell = {}; // its index; nothing: it is of the run
	std::optional<double> value = {}; // what is said: a count, a share, a ratio or ns
	std::optional<stats::Interval> interval = {}; // of the value, 95 %
	std::optional<double> limit = {}; // which the value passes, or keeps: in its unit
	std::vector<Evidence> evidence = {};
	Severity severity = row_of(id).severity;
	Mend mend = row_of(id).mend;
	std::optional<double> needed_s = {}; // how long a run tells, where that is the mend and can be told

	// Throw std::out_of_range without it, and std::bad_variant_access if it is of the other kind.
	double number(Fact fact) const;
	const std::string &text(Fact fact) const;
	bool has(Fact fact) const;
};

// How long a run must be to have so many times the blocks of one of `run_s`. Nothing: that isn't known, or no run is so
// long.
std::optional<double> longer_run_s(double run_s, double times);

} // namespace icepath::explain
