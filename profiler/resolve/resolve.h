// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's probed blocks with the path of each delivery. The only place where records are decoded and deliveries walked: whoever wants
// paths is a Visitor.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/path/observations.h"
#include "profiler/path/path.h"

namespace icepath::resolve {

struct ResolvedBlock {
	uint64_t number = 0; // in the container, from 0, of all blocks
	model::Block block; // joined with the windows that it goes on from: see joined.h
	path::Observations seen; // its deliveries are those that this window resolves
	std::vector<path::Path> paths; // beside seen.deliveries
};

class Visitor {
public:
	virtual ~Visitor() = default;
	// Whether this block is to be resolved. Asked of every probed block, in the order of the container, before blocks that come
	// earlier are visited, perhaps.
	virtual bool wants(const model::Block &) { return true; }
	// Those that were wanted, in the order of the container, whatever the number of threads. Only this call may have them.
	virtual void visit(const ResolvedBlock &resolved) = 0;
};

struct Extent {
	uint64_t blocks = UINT64_MAX; // at most, from the first: a run may still be going on
	unsigned threads = 0; // that resolve; 0: one for each CPU that this process may use
};

// Calls the visitor from the calling thread. Holds as many resolved blocks as there are threads, and one that is read: memory
// grows with a block, not with the run. Throws Failure(Usage) as rundir::Reader does, and what the visitor throws.
void resolve(const std::string &run, Visitor &visitor, const Extent &extent = {});

} // namespace icepath::resolve
