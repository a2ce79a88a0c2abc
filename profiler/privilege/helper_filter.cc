// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/helper_filter.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>

#include "profiler/privilege/filter.h"

namespace icepath::privilege {

void allow_capturing_calls_only(const Attaching &attaching)
{
	Filter filter("the root helper");
	filter.allow(SCMP_SYS(dup));
	filter.allow(SCMP_SYS(getsockopt));
	// No BPF_PROG_LOAD, and no access to other processes' programs and maps by id.
	filter.allow_each(SCMP_SYS(bpf), 0,
					  {BPF_MAP_LOOKUP_ELEM, BPF_MAP_UPDATE_ELEM, BPF_MAP_DELETE_ELEM, BPF_RAW_TRACEPOINT_OPEN,
					   BPF_LINK_CREATE, BPF_OBJ_GET_INFO_BY_FD});
	if (attaching.lists) // runs iterators that are loaded
		filter.allow_each(SCMP_SYS(bpf), 0, {BPF_ITER_CREATE});
	if (attaching.perf_events) {
		filter.allow(SCMP_SYS(perf_event_open));
		filter.allow_each(SCMP_SYS(ioctl), 1, {PERF_EVENT_IOC_SET_BPF});
	}
	if (attaching.perf_events || attaching.samples)
		filter.allow_each(SCMP_SYS(ioctl), 1, {PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE});
	if (attaching.samples)
		filter.allow_each(SCMP_SYS(ioctl), 1, {PERF_EVENT_IOC_PERIOD});
	filter.allow_each(SCMP_SYS(fcntl), 1, {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC});
	filter.load();
}

} // namespace icepath::privilege
