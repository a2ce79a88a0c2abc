// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/descriptor_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "profiler/failure.h"

namespace icepath::run {
namespace {

rlimit before{0, 0}; // 0: never raised

constexpr rlim_t kUsual = 1024; // as login programs and systemd set it

// The helper needs most: a program and a link for each of 43 probes, and some 20 maps and types.
constexpr rlim_t kOfEachRun = 128;

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

void check_descriptor_limit(const std::vector<model::Cell> &cells)
{
	rlim_t needed = kOfEachRun;
	for (const model::Cell &cell : cells)
		needed += 1 + 2 * cell.graph.sides.size(); // memory; a socket and a pidfd of each side
	rlimit files{};
	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= needed)
		return;
	throw Failure(ExitCode::MachineCannot,
				  fmt::format("{} open files are needed{}, and {} are allowed: raise the limit (ulimit -Hn){}", needed,
							  cells.empty() ? "" : fmt::format(" for {} cells", cells.size()), files.rlim_cur,
							  cells.empty() ? "" : " or measure fewer cells at once"));
}

void restore_descriptor_limit()
{
	if (before.rlim_max == 0)
		return;
	const rlimit usual{std::max(before.rlim_cur, std::min(kUsual, before.rlim_max)), before.rlim_max};
	setrlimit(RLIMIT_NOFILE, &usual);
}

} // namespace icepath::run
