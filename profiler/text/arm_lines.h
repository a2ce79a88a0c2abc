// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the arms of a run are, for a report's head: what the user gave for each, and which files it had loaded that
// another hadn't; and their names.
#include <string>
#include <vector>

#include "profiler/model/cell.h"
#include "profiler/model/run.h"
#include "profiler/text/page.h"

namespace icepath::text {

// Nothing for a run without arms.
void add_arms(Page &page, const model::Head &head);

// The target, and whose build or configuration of it is meant: "pipe old".
std::string target_of(const model::Cell &cell);

// One sentence or list of facts for each arm, in their order.
std::vector<std::string> arm_texts(const std::vector<model::Arm> &arms);

} // namespace icepath::text
