// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the time of a run is divided: how long blocks must and may be, how many rounds there will be, and when to stop.
// Pure: the caller brings the clock. Rounds come in pairs, one with and one without probes.
#include <cstdint>
#include <vector>

#include "icepath/plugin.h"
#include "profiler/model/cell.h"
#include "profiler/run/visits.h"
#include "profiler/rundir/limits.h"

namespace icepath::run {

inline constexpr uint32_t kWarmUp = 32; // uncounted messages at a block's begin, at most
static_assert(kWarmUp <= rundir::kMaxWarmUp);
inline constexpr uint64_t kWarmUpNs = 100'000'000; // what it warms up is warm after this, too
// Of a cell whose messages take so long, one after the other; 0: that isn't known. Without it: as the cell's own pace tells.
uint32_t warm_up_of(const model::Cell &cell, uint64_t message_ns);
uint32_t warm_up_of(const model::Cell &cell);
inline constexpr uint32_t kUsefulMessages = 20; // counted ones that a block's median takes: stats::supported()

// Room for the warm-up and a useful number of counted messages (at most `count`), as far as the cell's own pace tells.
uint64_t least_block_ns(const model::Cell &cell, uint32_t count);

// Of all blocks of a visit, which run at the same time.
uint64_t least_visit_ns(const Visit &visit, const std::vector<model::Cell> &cells, uint32_t count);
std::vector<uint64_t> least_visits_ns(const std::vector<Visit> &visits, const std::vector<model::Cell> &cells,
									  uint32_t count);

// Of a cell that seeks its highest rate: what a block at that rate takes. It always has its whole count.
uint64_t searching_block_ns(const model::Cell &cell, double hz);

// The same once it is known how long a message takes.
uint64_t least_block_ns(uint64_t message_ns, uint32_t warm_up, uint32_t count);

// How many of `count` counted messages a block of that length takes: sparse ones no more than are useful, and a sender mustn't
// get so far ahead of a receiver with a delay put in that this one is cut off at the block's end.
uint32_t most_messages(const model::Cell &cell, uint64_t block_ns, uint32_t count);

// Throws Failure(Usage) where `budget_s` can't hold start, one pair of rounds and the report of these cells; the sentence
// has the cell that needs most of it, and the duration that would do.
void check_budget(double budget_s, const std::vector<model::Cell> &cells, uint32_t count);

// What start, so many pairs of rounds and the report of these cells take at least.
double needed_s(const std::vector<model::Cell> &cells, uint32_t count, uint32_t pairs);

class Budget {
public:
	// All times are of one clock. The report shall stand at `end_ns`. One item of `least_ns` for each visit of a round.
	Budget(uint64_t end_ns, std::vector<uint64_t> least_ns);

	// False: what is left holds no further pair. The first one always fits.
	bool begin_pair(uint64_t now_ns);
	void end_pair(uint64_t now_ns);
	// How long the visit's blocks of this pair may be.
	uint64_t block_ns(size_t visit) const;

	// What was learnt: how long a visit took, and whether only its deadline ended it; what it needs after all; that it
	// is measured no more.
	void block_took(size_t visit, uint64_t took_ns, bool to_deadline);
	void needs(size_t visit, uint64_t least_ns);
	// Cells are measured by fresh processes now and then, so that a process's luck is in the spread of what was measured: how
	// long it took to begin those of a visit anew, and whether that is due in the pair that has begun. Not where fewer openings
	// than an interval needs would fit: those would only cost time.
	void opened(size_t visit, uint64_t took_ns);
	void warmed_up(size_t visit, uint64_t took_ns); // which is a part of it
	bool opening_is_due(size_t visit) const;

	// Whether the visit still fits. Only what turned out to be slower than planned may not.
	bool fits(size_t visit, uint64_t now_ns) const;
	void is_over(size_t visit);
	// Whether the visit has its blocks in the pairs to come; said before begin_pair(). At first each has.
	void takes_part(size_t visit, bool does);

	// How long the report takes is learnt by making one of what is there, now and then: whether it is time for that, and
	// what it took.
	bool rehearsal_is_due() const;
	void rehearsed(uint64_t took_ns);

	// Left for blocks, once what the report will take is subtracted.
	uint64_t left_ns(uint64_t now_ns) const;
	// Rounds of the whole run, those of the present pair included.
	uint32_t rounds_expected() const { return 2 * pairs_expected_; }

private:
	struct Pace {
		uint64_t least_ns = 0, took_ns = 0; // took_ns 0: only deadlines have ended its blocks
		bool over = false, rests = false, slow = false; // slow: it needs more than was planned
		uint64_t open_ns = 0; // what its last opening took
		uint32_t openings = 0;
		uint32_t pairs = 0,
				 pairs_opened = 0; // that it took part in: of all, and since the last opening; with the present one
		uint32_t pairs_each = 1; // of an opening; 0: one opening has to do
	};
	uint64_t block_ns(const Pace &visit, uint64_t limit_ns) const;
	// What the visit's share of a pair is, its openings left out.
	double own_ns(const Pace &visit) const;
	double openings_ns() const;
	uint32_t pairs_each(const Pace &visit) const;
	// What a pair takes whose blocks are limited so, and the longest limit with which a pair takes no more than that.
	double pair_ns(uint64_t limit_ns) const;
	uint64_t limit_for(double pair_ns) const;

	uint64_t end_ns_;
	std::vector<Pace> visits_;
	uint32_t pairs_ = 0, pairs_expected_ = 1; // ended; with those to come
	uint32_t rehearsed_after_ = 0;
	uint64_t nominal_ns_ = 0, limit_ns_ = 0; // of blocks: what was meant at first; in this pair
	uint64_t pair_began_ns_ = 0, captured_ns_ = 0;
	double left_at_begin_ns_ = 0; // of the pair
	double overhead_ns_ = 0; // of a pair: what isn't blocks, and not openings
	bool in_pair_ = false;
	uint64_t opened_ns_ = 0; // in this pair, for openings
	double report_share_; // of captured_ns_
};

} // namespace icepath::run
