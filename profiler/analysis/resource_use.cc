// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/resource_use.h"

#include <algorithm>
#include <cstddef>

#include "profiler/model/graph.h"

namespace icepath::analysis {

bool cpu_split_is_exact(const model::Head &head)
{
	// cpuset::look_at_isolation: quiet if all chosen CPUs are in nohz_full.
	const auto &items = head.isolation.items;
	return items && std::ranges::any_of(
						*items, [](const model::Disturbance &item) { return item.name == "timer_tick" && item.quiet; });
}

void ResourcesOf::add(const SeenBlock &unprobed)
{
	const model::Block &block = unprobed.block;
	if (unprobed.sent == 0)
		return;
	totals_.messages += unprobed.sent;
	if (block.daemon_cpu_ns)
		daemon_ns_ = daemon_ns_.value_or(0) + static_cast<double>(*block.daemon_cpu_ns);
	for (size_t side = 0; side < block.sides.size(); ++side)
		for (const model::UsageField &field : model::kUsageFields) {
			uint64_t &sum = totals_.ends[model::begins(unprobed.cell, side) ? 0 : 1].*field.value;
			const uint64_t more = block.sides[side].usage.*field.value;
			sum = field.value == &model::Usage::max_rss_kib ? std::max(sum, more) : sum + more;
		}
}

ResourceUse ResourcesOf::take() const
{
	ResourceUse use;
	if (totals_.messages == 0)
		return use;
	use.totals = totals_;
	use.cpu_per_message.emplace();
	const double messages = static_cast<double>(totals_.messages);
	if (daemon_ns_)
		use.daemon_cpu_ns_per_message = *daemon_ns_ / messages;
	for (size_t end = 0; end < totals_.ends.size(); ++end) {
		const model::Usage &used = totals_.ends[end];
		(*use.cpu_per_message)[end] = {static_cast<double>(used.user_ns) / messages,
									   static_cast<double>(used.system_ns) / messages};
	}
	return use;
}

} // namespace icepath::analysis
