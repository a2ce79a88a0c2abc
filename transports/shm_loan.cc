// SPDX-License-Identifier: Apache-2.0
// Loaned slots: see plugin_kit/lent_ring.h.
#include "plugin_kit/lent_ring.h"

using namespace icepath::plugin_kit;

namespace {

const RingVariant *variant(uint32_t n)
{
	static const RingVariant only = [] {
		RingVariant it("shm-loan", "the ring of shm-ring, written and read in place: nothing is copied",
					   BellMake::Futex);
		it.target.capabilities |= ICEPATH_CAN_LOAN;
		return it;
	}();
	return n == 0 ? &only : nullptr;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = lent_ring_table<variant>("shm-loan");
	return &plugin;
}
