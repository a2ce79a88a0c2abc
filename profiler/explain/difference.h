// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two breakdowns compared: by how much the mean latency of A's messages exceeds that of B's, and in which kinds of
// time, layers and threads. Both means are over the same messages for every row, so the rows' differences add up to
// that of the means, to the nanosecond.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/breakdown.h"
#include "profiler/analysis/layer_style.h"
#include "profiler/stats/interval.h"

namespace icepath::explain {

struct Compared {
	const analysis::Breakdown &layers;
	analysis::Code code = analysis::Code::OfSides; // see kind_of()
};

// Means in whole nanoseconds, rounded so that the rows of a difference add up to its sum.
struct DifferenceFigures {
	uint64_t a_ns = 0, b_ns = 0;
	std::optional<stats::Interval> interval; // of the difference, in nanoseconds
	std::optional<stats::Interval> share_interval; // of its share in the whole difference
	int64_t ns() const { return static_cast<int64_t>(a_ns) - static_cast<int64_t>(b_ns); }
	bool is_told() const { return interval && (interval->low > 0 || interval->high < 0); }
};

// A layer at a place of the path: the sender, the receiver, or the relay that is the hop with this number.
struct DifferenceRow {
	model::Layer layer = model::Layer::SenderUser;
	model::Part part = model::Part::None;
	path::Role role = path::Role::Sender;
	uint16_t relay = 0;
	std::array<std::string, 2> threads; // of A and of B, those with most time first; empty: it has no such time
	DifferenceFigures of;
	bool has_namesake = false; // a row of the same layer and part at another place
};

// Whether it is the time of code in user mode, between the stamps: the sides' own, a library's or a daemon's.
bool is_own_code(const DifferenceRow &row);

struct KindDifference {
	analysis::LayerKind kind = analysis::LayerKind::YourCode;
	std::vector<DifferenceRow> rows; // the greatest difference first
	DifferenceFigures of;
};

struct Difference {
	std::vector<KindDifference> kinds; // those with time, the greatest difference first
	DifferenceFigures of; // without a share
	bool has_relays = false; // messages of A or of B pass other threads
	// Whether shares of the whole difference say something: none exceeds the whole. One does where the whole is small
	// because its parts cancel each other out.
	bool has_shares() const;
	double share(const DifferenceFigures &part) const // `of` isn't 0
	{
		return static_cast<double>(part.ns()) / static_cast<double>(of.ns());
	}
};

// The kind that has most of the difference, even at the lower end of its share's interval; nullptr: none has.
const KindDifference *carrier_of(const Difference &difference);

// Both must have deliveries.
Difference compare(const Compared &a, const Compared &b);

std::string layer_text(model::Layer layer, model::Part part); // "wakeup/idle_exit"
std::string place_text(const DifferenceRow &row); // "relay 1"

} // namespace icepath::explain
