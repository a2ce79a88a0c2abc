// SPDX-License-Identifier: Apache-2.0
#pragma once
// run.json of a small run.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "profiler/analysis/analyse.h"
#include "profiler/exports/run_json.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath {

class SmallRunJson : public testing::Test {
protected:
	rundir::TemporaryDirectory temporary;
	const std::string run = temporary.path("run");

	nlohmann::json whole()
	{
		write_small_run(run, true, kEnoughRounds);
		return nlohmann::json::parse(exports::run_json_text(analysis::analyse(run)));
	}
};

} // namespace icepath
