// SPDX-License-Identifier: Apache-2.0
// Rings in shared memory with one producer and one consumer, which sleeps on a futex, a semaphore or an eventfd.
#include "plugin_kit/ring_channel.h"
#include "plugin_kit/rings.h"

using namespace icepath::plugin_kit;

struct icepath_endpoint : RingEnd<SpscRing> {
	using RingEnd::RingEnd;
};

namespace {

const RingVariant *variant(uint32_t n)
{
	static const RingVariant all[] = {
		{"shm-ring", "lock-free ring in shared memory (Boost.Interprocess); block sleeps on a futex", BellMake::Futex},
		{"shm-ring/sem", "the same ring; block sleeps on a POSIX semaphore beside it", BellMake::Semaphore},
		{"shm-ring/eventfd", "the same ring; block and epoll sleep on an eventfd that is written where somebody sleeps",
		 BellMake::Eventfd},
		RingVariant::on_huge_pages("shm-ring/huge", "the same ring as shm-ring on pages of 2 MiB"),
	};
	return n < std::size(all) ? &all[n] : nullptr;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = ring_table<icepath_endpoint, variant>("shm-ring");
	return &plugin;
}
