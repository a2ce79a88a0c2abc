// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a message is written before it is sent, and read after it arrived: in the cell's own buffers, or in the
// target's slots if it lends them.
#include "profiler/worker/block_loop.h"

namespace icepath::worker {

// A place for the next message. A wait for a slot isn't part of its latency: it isn't written yet.
inline int borrow(Cell &cell, ChannelEnd &end, void *&place)
{
	place = cell.send_buffer;
	return cell.lends ? end.endpoint->loan(cell.payloads.bytes(), place) : ICEPATH_OK;
}

inline int send_from(Cell &cell, ChannelEnd &end, void *place, icepath_send &message)
{
	return cell.lends ? end.endpoint->send_loaned(place, message) : end.endpoint->send(message);
}

// The message stays at `place` until give_back().
inline int recv_at(Cell &cell, const void *&place, icepath_recv &message)
{
	place = cell.receive_buffer;
	return cell.lends ? cell.only().endpoint->take(place, message) : cell.only().endpoint->recv(message);
}

inline int give_back(Cell &cell, const void *place)
{
	return cell.lends ? cell.only().endpoint->give_back(place) : ICEPATH_OK;
}

} // namespace icepath::worker
