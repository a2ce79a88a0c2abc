// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's probed blocks with the path of each delivery. Only here are records decoded and deliveries walked; consumers
// of paths implement Visitor.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/path/observations.h"
#include "profiler/path/path.h"

namespace icepath::resolve {

struct ResolvedBlock {
	uint64_t number = 0; // index among all blocks of the container, from 0
	model::Block block; // joined with the windows that it continues: see joined.h
	path::Observations seen; // its deliveries are those that this window resolves
	std::vector<path::Path> paths; // in the order of seen.deliveries
};

class Visitor {
public:
	virtual ~Visitor() = default;
	// Whether to resolve this block. Called for every probed block in the order of the container, possibly before
	// earlier blocks are visited.
	virtual bool wants(const model::Block &) { return true; }
	// Whether sampled blocks are resolved, too: their messages take longer than others.
	virtual bool wants_sampled() const { return false; }
	// Called with the wanted blocks in the order of the container, whatever the number of threads. `resolved` is valid
	// during the call only.
	virtual void visit(const ResolvedBlock &resolved) = 0;
};

struct Extent {
	uint64_t blocks = UINT64_MAX; // at most, from the first: the run may still be active
	unsigned threads = 0; // resolving threads; 0: one for each CPU that this process may use
};

// Calls the visitor from the calling thread. Holds as many resolved blocks as threads and one block read ahead, so
// memory grows with a block, not with the run. Throws Failure(Usage) as rundir::Reader does, and what the visitor
// throws.
void resolve(const std::string &run, Visitor &visitor, const Extent &extent = {});

} // namespace icepath::resolve
