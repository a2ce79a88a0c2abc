// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/resource_use.h"

#include <algorithm>
#include <cstddef>

#include "profiler/model/graph.h"
#include "profiler/stats/block_ratio.h"

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
	auto cost_ns = static_cast<double>(block.daemon_cpu_ns.value_or(0));
	if (block.daemon_cpu_ns)
		daemon_ns_ = daemon_ns_.value_or(0) + cost_ns;
	for (const auto &side : block.sides)
		cost_ns += static_cast<double>(side.usage.user_ns + side.usage.system_ns);
	messages_.push_back(static_cast<double>(unprobed.sent));
	cost_ns_.push_back(cost_ns);
	openings_.push_back(block.opening);
	for (size_t side = 0; side < block.sides.size(); ++side)
		for (const model::UsageField &field : model::kUsageFields) {
			uint64_t &sum = totals_.ends[model::begins(unprobed.cell, side) ? 0 : 1].*field.value;
			const uint64_t more = block.sides[side].usage.*field.value;
			sum = field.value == &model::Usage::max_rss_kib ? std::max(sum, more) : sum + more;
		}
}

std::optional<double> ResourceUse::cost_ns() const
{
	if (!cpu_per_message)
		return std::nullopt;
	return (*cpu_per_message)[0].total_ns() + (*cpu_per_message)[1].total_ns() + daemon_cpu_ns_per_message.value_or(0);
}

ResourceUse ResourcesOf::take(stats::ClusteredBy clustered) const
{
	ResourceUse use;
	if (totals_.messages == 0)
		return use;
	use.totals = totals_;
	const bool by_opening = clustered == stats::ClusteredBy::Opening;
	use.cost_interval =
		stats::RedrawnMeans(messages_, by_opening ? openings_ : std::vector<uint32_t>()).interval(cost_ns_);
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
