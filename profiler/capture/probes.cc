// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/probes.h"

#include "icepath/plugin.h"

namespace icepath::capture {

ProbeSet needed_by(const rundir::Cell &cell)
{
	const auto needs = [&cell](Group group) {
		switch (group) {
		case Group::Scheduling:
		case Group::Interrupts:
			return true;
		case Group::SocketReady:
			return (cell.mechanisms & ICEPATH_USES_SOCKET) != 0;
		case Group::DeviceQueue:
			return (cell.mechanisms & ICEPATH_USES_NETDEV) != 0;
		case Group::SocketTaken:
			return (cell.mechanisms & ICEPATH_USES_SKB_COPY) != 0 && rundir::never_sleeps(cell.wait);
		}
		return false;
	};
	ProbeSet set = 0;
	for (size_t i = 0; i < kProbes.size(); i++)
		if (needs(kProbes[i].group))
			set |= bit(i);
	return set;
}

} // namespace icepath::capture
