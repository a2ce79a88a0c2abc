// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include "profiler/isolation/keeper.h"
#include "profiler/privilege/filter.h"

namespace icepath::isolation {

void allow_keeping_calls_only()
{
	privilege::Filter filter("the keeper");
	// What it has open: knobs, the journal
	filter.allow(SCMP_SYS(ftruncate));
	filter.allow(SCMP_SYS(ftruncate64));
	filter.allow(SCMP_SYS(fdatasync));
	// Its control group, and the groups of others beside it
	filter.allow_each(SCMP_SYS(unlinkat), 2, {AT_REMOVEDIR});
	filter.allow(SCMP_SYS(getdents64));
	filter.allow_each(SCMP_SYS(fcntl), 1, {F_GETFL, F_SETFD}); // fdopendir()
	filter.allow_each(SCMP_SYS(fcntl64), 1, {F_GETFL, F_SETFD});
	filter.load();
}

} // namespace icepath::isolation
