// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which interrupts did the cell's own work, by what the records show:
//
//  - A softirq handled packets, and all of them are of the cell's sockets.
//  - A softirq of packets ran within a call by which a thread of the cell sends or receives, and no hardware interrupt
//    came to its CPU since that call began. So nothing but the call raised it: over loopback the kernel delivers in the
//    sender's own call (loopback_xmit(), then __local_bh_enable_ip()). This covers packets that name no socket, as
//    fragments and datagrams that are dropped; where some name one, it is the cell's and of datagrams.
//  - A softirq queued a packet of the cell's sockets to a device: what a retransmission or TCP's pacing had delayed.
//  - A timer's interrupt woke a thread of the cell, or began such a softirq.
//
// A timer that runs in a softirq of its own (HRTIMER_MODE_SOFT) isn't the scheduler's tick, nor is the interrupt that
// raised that softirq (hrtimer_interrupt()). Where a record tells the timer that took longest, by its function, it is
// the tick only if that is the tick's.
#include "profiler/decode/log.h"

namespace icepath::decode {

// Sets Interrupt::work and Observations::helpers. `seen` has the transfers. Its threads have their calls and say which
// are of another cell.
void tell_own_work(const model::Block &block, const SocketEvents &events, Observations &seen);

} // namespace icepath::decode
