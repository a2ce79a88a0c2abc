// SPDX-License-Identifier: Apache-2.0
// Not IPC: the minimum between two stamps, one cache line moving from one CPU to another. Nothing is copied and nobody
// sleeps, so its latency is the floor of the stamps under every other target.
#include "plugin_kit/lent_ring.h"

using namespace icepath::plugin_kit;

namespace {

const RingVariant *variant(uint32_t n)
{
	static const RingVariant only = [] {
		RingVariant it("null", "a spinning load and nothing copied: the floor of the stamps, to test icepath itself",
					   BellMake::Futex);
		it.target.waits = ICEPATH_WAIT_SPIN;
		it.target.capabilities |= ICEPATH_CAN_LOAN | ICEPATH_NOT_IPC;
		return it;
	}();
	return n == 0 ? &only : nullptr;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = lent_ring_table<variant>("null");
	return &plugin;
}
