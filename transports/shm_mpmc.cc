// SPDX-License-Identifier: Apache-2.0
// Rings in shared memory with any number of writers and readers. Outside a fan-in, a channel has one of each: its
// figures show the price of allowing more.
#include "plugin_kit/ring_channel.h"
#include "plugin_kit/rings.h"

using namespace icepath::plugin_kit;

struct icepath_endpoint : RingEnd<MpmcRing> {
	using RingEnd::RingEnd;
};

namespace {

RingVariant for_many(const char *name, const char *summary, BellMake bell)
{
	RingVariant it(name, summary, bell);
	it.target.capabilities |= ICEPATH_CAN_FANIN;
	it.target.fanin_waits = it.target.waits;
	return it;
}

const RingVariant *variant(uint32_t n)
{
	static const RingVariant all[] = {
		for_many("shm-mpmc", "ring for many producers and consumers (Vyukov); block sleeps on a futex",
				 BellMake::Futex),
		for_many("shm-mpmc/sem", "the same ring; block sleeps on a POSIX semaphore beside it", BellMake::Semaphore),
		for_many("shm-mpmc/eventfd",
				 "the same ring; block and epoll sleep on an eventfd that is written where somebody sleeps",
				 BellMake::Eventfd),
	};
	return n < std::size(all) ? &all[n] : nullptr;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = ring_table<icepath_endpoint, variant>("shm-mpmc");
	return &plugin;
}
