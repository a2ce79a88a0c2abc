// SPDX-License-Identifier: Apache-2.0
#pragma once
// The walk over one delivery, backwards from `recv` to `send`. Pure: no clock, no file, no BPF.
#include "profiler/path/observations.h"
#include "profiler/path/path.h"
#include "profiler/path/shares.h"
#include "profiler/path/tiling.h"

namespace icepath::path {

// Walks over one delivery after another in the same memory.
class Walker {
public:
	// Only reads `seen`, so several may share it.
	explicit Walker(const Observations &seen) : seen_(seen), sharing_out_(seen) {}
	// Returns a complete path whose segments tile [send, recv], or an incomplete one with its reason.
	Path walk(const Delivery &delivery);

private:
	const Observations &seen_;
	SharingOut sharing_out_;
	Tiles tiles_;
};

inline Path walk(const Observations &seen, const Delivery &delivery) { return Walker(seen).walk(delivery); }

} // namespace icepath::path
