// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/growth_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace icepath::explain {
namespace {

struct OfCause {
	std::string name;
	uint64_t ns = 0, messages = 0;
	std::vector<double> ns_by_block, messages_by_block;
};
// By the name without numbers.
using NamedCauses =
	std::map<std::tuple<std::string, path::Culprit::Kind, analysis::Origin, model::Layer, bool>, OfCause>;

// A message counts for the part that most messages have.
NamedCauses causes_by_name(const CulpritsOf &one)
{
	NamedCauses names;
	const size_t blocks = one.layers.blocks().weights.size();
	for (const analysis::CulpritRow &row : one.culprits.top(SIZE_MAX)) {
		OfCause &of = names[{row.kind_of_name, row.kind, row.origin, row.layer, row.ended_sleep()}];
		of.name = of.name.empty() || of.name == row.name ? row.name : row.kind_of_name;
		of.ns += row.total_ns;
		of.messages = std::max(of.messages, row.messages);
		of.ns_by_block.resize(blocks, 0);
		of.messages_by_block.resize(blocks, 0);
		for (const analysis::CulpritRow::OfBlock &block : row.by_block) {
			of.ns_by_block.at(block.block) += static_cast<double>(block.ns);
			double &messages = of.messages_by_block.at(block.block);
			messages = std::max(messages, static_cast<double>(block.messages));
		}
	}
	return names;
}

} // namespace

bool Cause::is_told() const
{
	constexpr double kPracticallyAll = 0.95;
	const bool is_always_there = share >= kPracticallyAll && other_share >= kPracticallyAll;
	return growth_interval && growth_interval->low > 0 && (is_always_there || (more_often && more_often->low > 0));
}

std::vector<Cause> causes_of(const CulpritsOf &a, const CulpritsOf &b)
{
	constexpr double kWorthAnInterval = 0.005; // of the whole growth: any user of the machine can choose many names
	std::vector<Cause> causes;
	const NamedCauses others = causes_by_name(b);
	const stats::RedrawnDifference redrawn(a.layers.blocks(), b.layers.blocks());
	const std::vector<double> none(b.layers.blocks().weights.size(), 0);
	const auto of_a = static_cast<double>(a.layers.deliveries()), of_b = static_cast<double>(b.layers.deliveries());
	for (const auto &[key, of] : causes_by_name(a)) {
		Cause &cause = causes.emplace_back();
		std::tie(std::ignore, cause.kind, cause.origin, cause.layer, cause.ended_sleep) = key;
		cause.name = of.name;
		cause.messages = of.messages;
		cause.share = static_cast<double>(of.messages) / of_a;
		cause.when_there_ns = static_cast<double>(of.ns) / static_cast<double>(std::max<uint64_t>(of.messages, 1));
		cause.growth_ns = static_cast<double>(of.ns) / of_a;
		const auto other = others.find(key);
		const bool both = other != others.end() && of_b > 0;
		if (both) {
			cause.other_share = static_cast<double>(other->second.messages) / of_b;
			cause.growth_ns -= static_cast<double>(other->second.ns) / of_b;
		}
		if (cause.growth_ns < kWorthAnInterval * (a.layers.mean_ns() - b.layers.mean_ns()) || cause.growth_ns <= 0)
			continue;
		cause.growth_interval = redrawn.interval({of.ns_by_block, both ? other->second.ns_by_block : none});
		cause.more_often = redrawn.interval({of.messages_by_block, both ? other->second.messages_by_block : none});
	}
	std::ranges::stable_sort(causes, std::ranges::greater(), &Cause::growth_ns);
	return causes;
}

} // namespace icepath::explain
