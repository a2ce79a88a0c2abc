// SPDX-License-Identifier: Apache-2.0
#pragma once
// The matrix as text and as JSON.
#include <string>
#include <vector>

#include "profiler/model/conditions.h"
#include "profiler/selftest/matrix.h"

namespace icepath::selftest {

std::string text_of(const std::vector<Row> &matrix);

// Other facts about the run, from its head.
struct Circumstances {
	std::string icepath_version, started_utc;
	model::Host host;
	std::string tier;
	int stretch = 1;
	std::vector<std::string> notices;
};
std::string json_of(const std::vector<Row> &matrix, const Circumstances &circumstances);

} // namespace icepath::selftest
