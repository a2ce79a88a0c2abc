// SPDX-License-Identifier: Apache-2.0
#pragma once
// What would help against the time that a difference is made of: one table from causes to commands and settings.
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/breakdown.h"
#include "profiler/explain/difference.h"
#include "profiler/explain/growth_causes.h"
#include "profiler/model/cell.h"
#include "profiler/model/run.h"

namespace icepath::explain {

struct Symptoms {
	const Difference &difference;
	const std::vector<Cause> &causes; // of the same messages
	const model::Cell &cell; // that has the time
	const model::Head &head; // of the run: what its kernel and machine have
};

struct Remedy {
	std::string_view cause; // its id, one of remedy_ids(): "tick"
	double share = 0, ns = 0; // of the difference
	std::string advice;
};

// Remedies only for what takes a tenth of the difference or more, or is known to cost more than its share, told from
// zero. The greatest first. A remedy that the target or the machine can't have, as far as the run says, is left out.
std::vector<Remedy> remedies_of(const Symptoms &symptoms);

// Of all remedies. Files have them: none is ever renamed.
std::vector<std::string_view> remedy_ids();

struct Step {
	std::string text;
	std::string command = {}; // that shows it; empty: none
	std::string_view cause = {}; // of the remedy that it is; empty: of none
};

// A step for each remedy. `of`: what is to be shortened ("the growth"). `with_shares`: whether shares of it say
// something; otherwise the steps give µs.
std::vector<Step> steps_of(const std::vector<Remedy> &remedies, std::string_view of, bool with_shares);

} // namespace icepath::explain
