// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/qos_factors.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/failure.h"
#include "profiler/plan/target_choice.h"

namespace icepath::plan {

void check_qos(const Wishes &wishes, const std::vector<const Target *> &chosen)
{
	for (size_t policy = 0; policy < wishes.qos.size(); policy++)
		if (!wishes.qos[policy].empty() &&
			std::ranges::none_of(chosen, [&](const Target *one) { return one->qos & (1u << policy); }))
			throw Failure(ExitCode::Usage, fmt::format("--qos: none of the targets has {}: icepath list shows which do",
													   model::kQosPolicies[policy].name));
}

std::vector<model::Qos> qos_for(const Wishes &wishes, const Target &target, std::vector<std::string> &notices)
{
	std::vector<model::Qos> all = {{}};
	for (size_t policy = 0; policy < wishes.qos.size(); policy++) {
		if (wishes.qos[policy].empty())
			continue;
		if ((target.qos & (1u << policy)) == 0) {
			add_once(notices,
					 fmt::format("{} has no {}: measured without it", target.name, model::kQosPolicies[policy].name));
			continue;
		}
		std::vector<model::Qos> more;
		for (const model::Qos &before : all)
			for (const uint64_t value : each_once(wishes.qos[policy])) {
				model::Qos qos = before;
				// A history that keeps all has no depth; a depth implies keep-last.
				if (policy == ICEPATH_QOS_DEPTH && (target.qos & (1u << ICEPATH_QOS_HISTORY)) &&
					!qos[ICEPATH_QOS_HISTORY])
					qos[ICEPATH_QOS_HISTORY] = ICEPATH_KEEP_LAST;
				if (policy != ICEPATH_QOS_DEPTH || qos[ICEPATH_QOS_HISTORY] != ICEPATH_KEEP_ALL)
					qos[policy] = value;
				add_once(more, qos);
			}
		all = std::move(more);
	}
	return all;
}

bool bears_loss(const model::Cell &cell, std::vector<std::string> &notices)
{
	if (!model::may_lose(cell.qos))
		return true;
	constexpr uint64_t kWholeNumber = 8; // bytes of worker::PayloadHead::seq
	if (cell.payload_bytes < kWholeNumber) {
		add_once(notices, fmt::format("{} with {} may lose messages, and those of {} bytes have no room for the number "
									  "that shows which: left out",
									  cell.target, model::text(cell.qos), cell.payload_bytes));
		return false;
	}
	if (model::is_answered(cell.pattern) && cell.levels.responses > 1) {
		add_once(notices,
				 fmt::format("{} with {} may lose messages, of which several responses don't wait for each other: left "
							 "out of {} 1:{}",
							 cell.target, model::text(cell.qos), name(cell.pattern), cell.levels.responses));
		return false;
	}
	return true;
}

} // namespace icepath::plan
