// SPDX-License-Identifier: Apache-2.0
#pragma once
// run.json of a small run.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "profiler/report/aggregate.h"
#include "profiler/report/run_json.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {

class SmallRunJson : public testing::Test {
protected:
	rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");

	nlohmann::json whole()
	{
		write_small_run(run, true, kEnoughRounds);
		return nlohmann::json::parse(run_json_text(analyse(run)));
	}
};

} // namespace icepath::report
