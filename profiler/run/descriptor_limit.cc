// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/descriptor_limit.h"

#include <sys/resource.h>

namespace icepath::run {
namespace {

rlimit before{0, 0}; // 0: never raised

} // namespace

void raise_descriptor_limit()
{
	rlimit files{};
	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= files.rlim_max)
		return;
	const rlimit all{files.rlim_max, files.rlim_max};
	if (setrlimit(RLIMIT_NOFILE, &all) == 0)
		before = files;
}

void restore_descriptor_limit()
{
	if (before.rlim_max != 0)
		setrlimit(RLIMIT_NOFILE, &before);
}

} // namespace icepath::run
