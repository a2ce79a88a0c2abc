/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_SHIFT_H
#define ICEPATH_EBPF_SHIFT_H
#include "records.h" /* ICEPATH_U64 and the like */

/*
 * What is counted of a stream, and how far the numbers of its two ends are apart.
 *
 * A give looks at how much the other end has handed out and holds. From that and from what this end has accepted
 * follows the shift, if nothing is under way: what another thread takes is gone before it is counted, and what
 * another one gives is there before it is counted. Any of them may lose its CPU in between, for as long as hundreds
 * of gives take.
 * So no number of looks that agree proves anything by itself:
 * - A look counts only if something was taken since the one before, as a take that is stuck is the same in each.
 * - As a give ends, what others' gives looked at or ended with since it began doesn't count, nor does the shift that
 *   they made valid. (Messages of gives that overlap are contended anyway.)
 */

#define ICEPATH_LOOKS_THAT_AGREE 4
#define ICEPATH_LOOKS_THAT_CORRECT 32 /* where a shift is known already */

struct icepath_stream {
	ICEPATH_U64 given, taken; /* bytes */
	ICEPATH_U64 shift; /* from `given` to the other end's numbers */
	ICEPATH_U64 shift_before; /* until shifted_ns */
	ICEPATH_U64 shifted_ns;
	ICEPATH_U64 candidate; /* of the last look that counted, agreed `agreeing` times in a row */
	ICEPATH_U64 taken_then; /* at that look */
	ICEPATH_U64 gave_ns; /* last look or end of a give, by this thread */
	ICEPATH_U32 giver;
	ICEPATH_U32 agreeing;
	ICEPATH_U8 is_shifted, was_shifted; /* whether the shift is valid, and the one before was */
};

static inline void set_shift(struct icepath_stream *stream, ICEPATH_U64 shift, ICEPATH_U64 now)
{
	if (stream->is_shifted && stream->shift == shift)
		return;
	stream->shift_before = stream->shift;
	stream->was_shifted = stream->is_shifted;
	stream->shifted_ns = now;
	stream->shift = shift;
	stream->is_shifted = 1;
}

/* A give's look at `now`, as the other end had handed out `taken`. */
static inline void look(struct icepath_stream *stream, ICEPATH_U64 candidate, ICEPATH_U64 taken, ICEPATH_U64 now)
{
	if (candidate != stream->candidate)
		stream->agreeing = 0;
	else if (stream->agreeing && taken == stream->taken_then)
		return;
	stream->candidate = candidate;
	stream->taken_then = taken;
	if (stream->agreeing < ICEPATH_LOOKS_THAT_CORRECT)
		stream->agreeing++;
	if (stream->agreeing >= (stream->is_shifted ? ICEPATH_LOOKS_THAT_CORRECT : ICEPATH_LOOKS_THAT_AGREE))
		set_shift(stream, candidate, now);
}

/* A give ends that `giver` began at `begin_ns`. Returns whether it was the only one, as far as is known. */
static inline bool was_alone(struct icepath_stream *stream, ICEPATH_U32 giver, ICEPATH_U64 begin_ns)
{
	if (stream->giver == giver || stream->gave_ns <= begin_ns)
		return true;
	stream->agreeing = 0;
	if (stream->shifted_ns > begin_ns) {
		stream->shift = stream->shift_before;
		stream->is_shifted = stream->was_shifted;
		stream->shifted_ns = 0;
	}
	return false;
}

#endif
