// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run of a test's own blocks.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiler/analysis/analyse.h"
#include "profiler/rundir/container.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath {

class FewBlocks : public testing::Test {
protected:
	rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");

	analysis::RunResult of(const std::vector<model::Block> &blocks)
	{
		rundir::Writer writer(run, small_head());
		for (const model::Block &block : blocks)
			writer.add(block);
		writer.finish({});
		return analysis::analyse(run);
	}
	static model::Block block(uint32_t round, bool probed, uint64_t messages = 100)
	{
		BlockPlan plan;
		plan.cell = 1;
		plan.round = round;
		plan.probed = probed;
		plan.messages = messages;
		return make_block(socket_cell(model::Pattern::OneWay), plan);
	}
};

} // namespace icepath
