// SPDX-License-Identifier: Apache-2.0
#pragma once
// Divides the time of a run: how long blocks must and may be, how many rounds there will be, and when to stop. Pure:
// the caller passes the time. Rounds come in pairs, one with and one without probes.
#include <cstdint>
#include <vector>

#include "icepath/plugin.h"
#include "profiler/model/cell.h"
#include "profiler/run/rounds.h"
#include "profiler/rundir/limits.h"

namespace icepath::run {

inline constexpr uint32_t kWarmUp = 32; // uncounted messages at a block's begin, at most
static_assert(kWarmUp <= rundir::kMaxWarmUp);
inline constexpr uint64_t kWarmUpNs = 100'000'000; // the warm-up may end after this time, with fewer messages
// Number of warm-up messages. `message_ns`: the time from one message to the next, 0: unknown; by default it follows
// from the cell's rate and delays.
uint32_t warm_up_of(const model::Cell &cell, uint64_t message_ns);
uint32_t warm_up_of(const model::Cell &cell);
inline constexpr uint32_t kUsefulMessages = 20; // counted ones that a block's median needs: stats::supported()

// Least length of a block with warm-up and a useful number of counted messages (at most `count`), by rate and delays.
uint64_t least_block_ns(const model::Cell &cell, uint32_t count);

// The same for a visit, whose blocks run at the same time.
uint64_t least_visit_ns(const Visit &visit, const std::vector<model::Cell> &cells, uint32_t count);
std::vector<uint64_t> least_visits_ns(const std::vector<Visit> &visits, const std::vector<model::Cell> &cells,
									  uint32_t count);

// Length of a block at `hz`, for a cell that seeks its highest rate. Such a block always sends its whole count.
uint64_t searching_block_ns(const model::Cell &cell, double hz);

// Least length of a block once the time per message was measured.
uint64_t least_block_ns(uint64_t message_ns, uint32_t warm_up, uint32_t count);

// Counted messages for a block of that length, at most `count`. A sparse block has no more than are useful. A sender
// mustn't get so far ahead of a receiver with an injected delay that the block's end cuts the receiver off.
uint32_t most_messages(const model::Cell &cell, uint64_t block_ns, uint32_t count);

// Throws Failure(Usage) if `budget_s` can't hold start-up, one pair of rounds and the report. The message names the
// cell that needs most of it, and a sufficient duration.
void check_budget(double budget_s, const std::vector<model::Cell> &cells, uint32_t count);

// Least time for start-up, `pairs` pairs of rounds and the report.
double needed_s(const std::vector<model::Cell> &cells, uint32_t count, uint32_t pairs);

class Budget {
public:
	// All times are of one clock. The report must be complete at `end_ns`. `least_ns`: by visit of a round. `together`:
	// by visit too; those with the same number are opened together. Empty: each alone.
	Budget(uint64_t end_ns, const std::vector<uint64_t> &least_ns, const std::vector<size_t> &together = {});

	// False: no further pair fits into the time left. The first one always fits.
	bool begin_pair(uint64_t now_ns);
	void end_pair(uint64_t now_ns);
	// Longest duration of the visit's blocks in this pair.
	uint64_t block_ns(size_t visit) const;

	// Report what was measured: how long a visit took, and whether only its deadline ended it; the least length that
	// its blocks need.
	void block_took(size_t visit, uint64_t took_ns, bool to_deadline);
	void needs(size_t visit, uint64_t least_ns);
	// Cells get fresh processes (an opening) now and then, so that the spread of results includes the luck of a
	// process. opened() reports how long the opening of a visit's cells took; opening_is_due() says whether the pair
	// that has begun needs one. No visit is opened again if fewer openings than an interval needs would fit.
	void opened(size_t visit, uint64_t took_ns);
	void warmed_up(size_t visit, uint64_t took_ns); // part of the opening
	bool opening_is_due(size_t visit) const;

	// Whether the visit still fits. False only for visits that turned out slower than planned.
	bool fits(size_t visit, uint64_t now_ns) const;
	void is_over(size_t visit);
	// Whether the visit has blocks in the pairs to come; call it before begin_pair(). Initially each has.
	void takes_part(size_t visit, bool does);

	// Now and then the session makes a report of what it has so far, and so learns how long the final one takes.
	bool rehearsal_is_due() const;
	void rehearsed(uint64_t took_ns);
	void rehearsal_failed(); // what is known of the report's time stays

	// Time left for blocks, after the report's share.
	uint64_t left_ns(uint64_t now_ns) const;
	// Rounds of the whole run, including the present pair.
	uint32_t rounds_expected() const { return 2 * pairs_expected_; }

private:
	struct Pace {
		size_t together = 0;
		uint64_t least_ns = 0, took_ns = 0; // took_ns 0: deadlines ended all blocks so far
		bool over = false, rests = false, slow = false; // rests: takes no part now; slow: needs more than was planned
		uint64_t open_ns = 0; // its last opening
		uint32_t openings = 0;
		uint32_t pairs = 0, pairs_opened = 0; // taken part in, with the present one: in all, since the last opening
		uint32_t pairs_each = 1; // pairs per opening; 0: there is only the first opening
	};
	uint64_t block_ns(const Pace &visit, uint64_t limit_ns) const;
	// The visit's share of a pair, without its openings.
	double own_ns(const Pace &visit) const;
	double openings_ns() const;
	uint32_t pairs_each(const Pace &visit) const;
	// Time of a pair whose blocks are at most `limit_ns` long; its inverse: the longest limit for that time.
	double pair_ns(uint64_t limit_ns) const;
	uint64_t limit_for(double pair_ns) const;

	uint64_t end_ns_;
	std::vector<Pace> visits_;
	uint32_t pairs_ = 0, pairs_expected_ = 1; // ended; of the whole run
	uint32_t rehearsed_after_ = 0;
	uint64_t nominal_ns_ = 0, limit_ns_ = 0; // limits of a block's length: planned at first, and of this pair
	uint64_t pair_began_ns_ = 0, captured_ns_ = 0;
	double left_at_begin_ns_ = 0; // of the pair
	double overhead_ns_ = 0; // of a pair: all but blocks and openings
	bool in_pair_ = false;
	uint64_t opened_ns_ = 0; // time that openings took in this pair
	double report_share_; // of captured_ns_
};

} // namespace icepath::run
