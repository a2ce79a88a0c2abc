// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/growth_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

namespace icepath::explain {
namespace {

struct OfCause {
	uint64_t ns = 0, messages = 0;
};
using NamedCauses = std::map<std::tuple<std::string, path::Culprit::Kind, model::Layer>, OfCause>;

// A message counts for the part that most messages have.
NamedCauses causes_by_name(const analysis::Culprits &culprits)
{
	NamedCauses names;
	for (const analysis::CulpritRow &row : culprits.top(SIZE_MAX)) {
		OfCause &of = names[{row.name, row.kind, row.layer}];
		of.ns += row.total_ns;
		of.messages = std::max(of.messages, row.messages);
	}
	return names;
}

} // namespace

std::vector<std::string> own_threads(const analysis::Breakdown &layers)
{
	std::set<std::string> names;
	for (const analysis::LayerRow &row : layers.rows())
		names.insert(row.thread);
	return {names.begin(), names.end()};
}

std::vector<Cause> causes_of(const analysis::Culprits &a, uint64_t a_messages, const analysis::Culprits &b,
							 uint64_t b_messages, const std::vector<std::string> &own)
{
	std::vector<Cause> causes;
	const NamedCauses others = causes_by_name(b);
	const auto of_a = static_cast<double>(a_messages), of_b = static_cast<double>(b_messages);
	for (const auto &[key, of] : causes_by_name(a)) {
		Cause &cause = causes.emplace_back();
		std::tie(cause.name, cause.kind, cause.layer) = key;
		cause.is_own_thread =
			cause.kind == path::Culprit::Kind::Task && std::ranges::find(own, cause.name) != own.end();
		cause.messages = of.messages;
		cause.share = static_cast<double>(of.messages) / of_a;
		cause.when_there_ns = static_cast<double>(of.ns) / static_cast<double>(std::max<uint64_t>(of.messages, 1));
		cause.growth_ns = static_cast<double>(of.ns) / of_a;
		if (const auto other = others.find(key); other != others.end() && b_messages > 0) {
			cause.other_share = static_cast<double>(other->second.messages) / of_b;
			cause.growth_ns -= static_cast<double>(other->second.ns) / of_b;
		}
	}
	std::ranges::stable_sort(causes, std::ranges::greater(), &Cause::growth_ns);
	return causes;
}

} // namespace icepath::explain
