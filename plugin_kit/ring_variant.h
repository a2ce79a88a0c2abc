// SPDX-License-Identifier: Apache-2.0
#pragma once
// What distinguishes the targets of one kind of ring.
#include <linux/memfd.h>

#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/ring_wait.h"

namespace icepath::plugin_kit {

struct RingVariant {
	static constexpr uint64_t kLargestPayload = 64 * kMiB;
	static constexpr uint64_t kHugePage = 2 * kMiB;

	icepath_target target{};
	BellMake bell = BellMake::Futex;
	bool huge = false;

	RingVariant(const char *name, const char *summary, BellMake bell_make) : bell(bell_make)
	{
		target.size = sizeof(target);
		target.name = name;
		target.summary = summary;
		// A spinning receiver ignores the bell, so one spinning target per kind of ring suffices.
		target.waits = ICEPATH_WAIT_BLOCK;
		if (bell == BellMake::Futex)
			target.waits |= ICEPATH_WAIT_SPIN;
		if (bell == BellMake::Eventfd)
			target.waits |= ICEPATH_WAIT_EPOLL;
		target.mechanisms = ICEPATH_USES_USER_SLOT;
		target.max_payload_bytes = kLargestPayload;
		target.max_payload_why = "icepath's own limit: a ring has at least two slots of the payload's size";
	}

	// All huge pages, not the free ones: the channel's other side asks later.
	static uint64_t huge_pages() { return kernel_limit("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", 0); }

	static RingVariant on_huge_pages(const char *name, const char *summary)
	{
		RingVariant it(name, summary, BellMake::Futex);
		it.huge = true;
		it.target.max_payload_why = "an eighth of the 2 MiB pages in /proc/sys/vm/nr_hugepages for each slot";
		it.target.max_payload_bytes = std::min(kLargestPayload, huge_pages() * kHugePage / 8);
		if (huge_pages() == 0)
			it.target.why_not = "no 2 MiB pages are set aside: echo 64 > /proc/sys/vm/nr_hugepages";
		return it;
	}

	unsigned memfd_flags() const { return huge ? MFD_HUGETLB | MFD_HUGE_2MB : 0; }
	// Such a mapping begins and ends at a page boundary.
	uint64_t whole_pages(uint64_t bytes) const
	{
		return huge ? (bytes + kHugePage - 1) / kHugePage * kHugePage : bytes;
	}
	// Leaves huge pages to other channels.
	uint64_t most_ring_bytes() const { return huge ? huge_pages() * kHugePage / 16 : 2 * kLargestPayload; }
};

} // namespace icepath::plugin_kit
