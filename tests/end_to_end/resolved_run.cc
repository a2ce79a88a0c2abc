// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/resolved_run.h"

namespace icepath::end_to_end {

ResolvedRun resolve(const std::filesystem::path &run)
{
	rundir::Reader reader(run.string());
	ResolvedRun resolved{reader.head(), {}};
	while (auto block = reader.next()) {
		ResolvedBlock one;
		if (block->probed) {
			one.seen = path::decode(*block, resolved.head.cells.at(block->cell));
			for (const path::Delivery &delivery : one.seen.deliveries)
				one.paths.push_back(path::walk(one.seen, delivery));
		}
		one.block = std::move(*block);
		resolved.blocks.push_back(std::move(one));
	}
	return resolved;
}

double layer_ns(const path::Path &path, path::Layer layer)
{
	double sum = 0;
	for (const path::Segment &segment : path.segments)
		if (segment.layer == layer)
			sum += static_cast<double>(segment.duration_ns());
	return sum;
}

} // namespace icepath::end_to_end
