// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a round measures: which cells at the same time, and what for. Pure.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/model/cell.h"

namespace icepath::run {

// One step of a round: indices of the cells that are measured at the same time. Sparse messages leave the machine idle
// most of the time, so cells that send them take turns: several blocks in the time of one.
using Visit = std::vector<size_t>;

// Each cell once, in order, except that cells may join an earlier visit. A cell is alone unless it is sparse and its
// receivers sleep: a polling receiver takes the CPU from the others. The arms of such a cell are in one visit, unless
// one has no room for all of them: then each of them is alone.
std::vector<Visit> visits_of(const std::vector<model::Cell> &cells);

// Of each visit that visits_of() made, in any order, the first one that differs from it by arms alone: its own number
// where there is none. Arms get fresh processes in the same pair of rounds.
std::vector<size_t> with_other_arms(const std::vector<Visit> &visits, const std::vector<model::Cell> &cells);

// When the n-th of a visit's cells sends its first message, after the visit's begin. First messages are spread evenly
// over a period. 0 if the cell is alone.
uint64_t first_after_ns(const model::Cell &cell, size_t n, size_t cells);

// What each round is for, by its number, which counts from 0.
//
// Rounds go probed, unprobed, unprobed, probed: linear drift cancels in every four. The next four are inverted: cold
// state of fresh processes affects rounds without probes as often as those with them.
constexpr bool is_probed(uint32_t round)
{
	const bool outer = round % 4 == 0 || round % 4 == 3;
	return outer == (round % 8 < 4);
}

// Hardware counters disturb latencies and layers (profiler/worker/usage.h), so they have rounds of their own: few,
// and none before each cell has the three blocks that an interval needs.
constexpr bool counts_hardware(uint32_t round) { return round % 8 == 7; }

// Samples disturb them, too. Such a round is probed, and beside the one of hardware counters. A cell has several blocks
// in it if there is time: a block has few samples, and opening a cell takes longer than a block.
constexpr bool is_sampled(uint32_t round) { return round % 8 == 6; }
inline constexpr uint32_t kSampledBlocks = 4;

// The direction alternates among probed rounds, and among those that have neither probes nor hardware counters: no cell
// follows another more often than the reverse. Of eight rounds the latter are three, so the next eight are inverted.
constexpr bool goes_back(uint32_t round) { return (round % 4 >= 2) != (round % 16 >= 8); }

// Indices of the visits in the order in which the round measures them, and in which they get fresh processes before it.
// Those that follow one another and are of one cell's arms begin with another one in each pair of rounds that has
// neither probes nor hardware counters: no arm is always the first, or always between two others, and none is always
// the first in fresh processes. `firsts`: of with_other_arms().
std::vector<size_t> order_of(uint32_t round, const std::vector<size_t> &firsts);
// The cells of a visit in that order. `cells`: of the plan.
Visit in_order(uint32_t round, const Visit &visit, const std::vector<model::Cell> &cells);

} // namespace icepath::run
