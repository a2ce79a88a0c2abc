// SPDX-License-Identifier: Apache-2.0
#pragma once
// An injection into a cell from outside, during a block.
#include "profiler/run/live_cell.h"
#include "profiler/run/session.h"

namespace icepath::run {

// In effect for its lifetime.
class Injected {
public:
	Injected(const SessionOptions &options, size_t number, const LiveCell &cell) : options_(options)
	{
		if (options_.begin_injection)
			options_.begin_injection(number, cell.tids());
	}
	~Injected()
	{
		if (options_.end_injection)
			options_.end_injection();
	}
	Injected(const Injected &) = delete;
	Injected &operator=(const Injected &) = delete;

private:
	const SessionOptions &options_;
};

} // namespace icepath::run
