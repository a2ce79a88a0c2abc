// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a cell's slowest messages are slow: what grows from typical messages (p40 to p60) to the tail (from p99 on), with
// probes. Both are means over the same messages for every layer, so the growths of the layers add up to the growth of
// the latency.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/report/aggregate.h"
#include "profiler/report/page.h"
#include "profiler/stats/interval.h"

namespace icepath::report {

struct LayerGrowth {
	model::Layer layer = model::Layer::SenderUser;
	double typical_ns = 0, tail_ns = 0;
	std::optional<stats::Interval> tail_interval;
	double growth_ns() const { return tail_ns - typical_ns; }
};

// A task, an interrupt or a control group's limit that took time from the tail's messages.
struct TailCause {
	std::string name;
	model::Layer layer = model::Layer::Runqueue;
	uint64_t messages = 0; // of the tail, from which it took time
	double share = 0, typical_share = 0; // of the tail's messages, and of typical ones
	double when_there_ns = 0; // mean over `messages`
	double growth_ns = 0; // mean over all of the tail's messages, less that over typical ones
	// How many times as often it is in the tail as in typical messages; nothing: never in those.
	std::optional<double> lift() const
	{
		return typical_share > 0 ? std::optional(share / typical_share) : std::nullopt;
	}
};

enum class TailVerdict : uint8_t { Explained, Partly, Unexplained, TooFew };
inline constexpr std::array<const char *, 4> kTailVerdicts = {"explained", "partly explained", "unexplained",
															  "too few"};

struct TailExplanation {
	TailVerdict verdict = TailVerdict::TooFew;
	uint64_t messages = 0; // of the tail, with a complete path
	size_t blocks = 0, of_blocks = 0; // that have some of them
	uint64_t from_ns = 0; // the tail's least latency
	double typical_ns = 0, tail_ns = 0; // mean latencies
	std::vector<LayerGrowth> layers; // those with time, the greatest growth first
	std::vector<TailCause> causes; // by growth; of too few names no more are kept than Culprits keeps
	// Growth of the causes' time over that of the latency, at most 1: it is more where typical messages waited for the
	// same time without a known cause.
	double named = 0;
	double growth_ns() const { return tail_ns - typical_ns; }
};

inline constexpr uint64_t kLeastTail = 10; // messages
inline constexpr size_t kLeastTailBlocks = 3;
inline constexpr double kExplained = 0.8, kPartlyExplained = 0.4; // of the growth has a named cause

// TooFew without a tail that stands for all of it.
TailExplanation explain_tail(const CellResult &cell);

// One section for each measured cell, or for those whose title contains `only`.
void add_tails(Page &page, const RunResult &result, const std::string &only);

} // namespace icepath::report
