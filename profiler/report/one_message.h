// SPDX-License-Identifier: Apache-2.0
#pragma once
// One message's path beside the typical ones of its cell.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/report/aggregate.h"
#include "profiler/report/page.h"

namespace icepath::report {

// A segment of the message.
struct MessageStep {
	model::Layer layer = model::Layer::SenderUser;
	model::Part part = model::Part::None;
	uint64_t offset_ns = 0, ns = 0; // offset: since `send`
	std::string thread;
	std::optional<uint32_t> cpu; // where its thread was pinned
	std::string_view known; // of path::kProvenanceNames
	uint64_t bound_ns = 0; // an end is inferred within that time; 0: known better
	std::string blame; // "CPU 1 ran hog (4711)"
	// Its time over the mean of the same layer, part and place in typical messages; nothing: these have no such time,
	// or typical messages aren't known.
	std::optional<double> of_typical;
};

std::vector<MessageStep> steps_of(const WorstMessage &message, const CellResult &cell);

std::string name_of(const WorstMessage &message); // "27:490:back", as --message takes it

void add_message(Page &page, const WorstMessage &message, const CellResult &cell);

} // namespace icepath::report
