// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/known_paths.h"

#include <cstddef>

namespace icepath::analysis {
namespace {

double share_of(double part, double whole) { return whole > 0 ? std::min(1.0, part / whole) : 1; }

} // namespace

bool is_known(const path::Path &path) { return path.complete() && !path.segments.empty(); }

BlockOfPaths::BlockOfPaths(const resolve::ResolvedBlock &resolved_block, uint32_t cluster_of)
	: resolved(resolved_block), known(static_cast<uint64_t>(std::ranges::count_if(resolved_block.paths, is_known))),
	  cluster(cluster_of)
{}

void KnownPaths::add(const BlockOfPaths &block)
{
	for (const path::Path &path : block.resolved.paths) {
		++deliveries;
		if (!is_known(path)) {
			++incomplete[static_cast<size_t>(path.complete() ? path::Reason::NoEvidence : path.reason)];
			continue;
		}
		layers.add(path, block.resolved.seen);
		culprits.add(path, block.resolved.seen);
	}
	layers.end_block(block.known, block.cluster);
}

double KnownPaths::messages_known() const
{
	return share_of(static_cast<double>(complete()), static_cast<double>(deliveries));
}

double KnownPaths::time_known() const { return share_of(static_cast<double>(layers.total_ns()), deliveries_ns); }

} // namespace icepath::analysis
