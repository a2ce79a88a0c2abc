// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/growth_causes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace icepath::explain {
namespace {

struct OfCause {
	std::string name;
	uint8_t interrupt = 0;
	uint32_t vector = 0;
	analysis::Owner owner = analysis::Owner::None;
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
		of.interrupt = row.interrupt;
		of.vector = row.vector;
		of.owner = row.owner;
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

// What kind of thing it is, whatever its name and wherever it took the time.
using Kind = std::tuple<path::Culprit::Kind, analysis::Origin, bool>;
Kind kind_of(const Cause &cause) { return {cause.kind, cause.origin, cause.ended_sleep}; }

// Whether it took time from practically all of A's messages and of B's, so that it can't be in more of A's.
bool is_always_there(double share, double other_share)
{
	constexpr double kPracticallyAll = 0.95;
	return share >= kPracticallyAll && other_share >= kPracticallyAll;
}

struct OfKind {
	// By block. Of the messages, how many causes of the kind each had, summed over them.
	std::vector<double> ns, messages;
	double share = 0; // how many causes of the kind a message had
	void add(const OfCause &one, double of_messages)
	{
		share += static_cast<double>(one.messages) / of_messages;
		ns.resize(one.ns_by_block.size(), 0);
		messages.resize(one.messages_by_block.size(), 0);
		std::ranges::transform(ns, one.ns_by_block, ns.begin(), std::plus());
		std::ranges::transform(messages, one.messages_by_block, messages.begin(), std::plus());
	}
};

std::map<Kind, OfKind> by_kind(const NamedCauses &causes, double of_messages)
{
	std::map<Kind, OfKind> kinds;
	for (const auto &[key, of] : causes) {
		const auto &[name, kind, origin, layer, ended_sleep] = key;
		kinds[{kind, origin, ended_sleep}].add(of, of_messages);
	}
	return kinds;
}

// Kinds that take longer from A's messages, and whether they are told, as causes are.
std::map<Kind, bool> longer_kinds(const std::map<Kind, OfKind> &kinds, const std::map<Kind, OfKind> &others,
								  const stats::RedrawnDifference &redrawn, const std::vector<double> &none)
{
	std::map<Kind, bool> longer;
	for (const auto &[kind, of] : kinds) {
		const auto other = others.find(kind);
		const bool both = other != others.end();
		const auto growth = redrawn.interval({of.ns, both ? other->second.ns : none});
		const auto more_often = redrawn.interval({of.messages, both ? other->second.messages : none});
		const bool is_always = both && is_always_there(of.share, other->second.share);
		if (growth && growth->low > 0)
			longer[kind] = is_always || (more_often && more_often->low > 0);
	}
	return longer;
}

} // namespace

bool Cause::is_told() const
{
	return growth_interval && growth_interval->low > 0 &&
		   (is_always_there(share, other_share) || (more_often && more_often->low > 0));
}

std::vector<Cause> causes_of(const CulpritsOf &a, const CulpritsOf &b)
{
	constexpr double kWorthAnInterval = 0.005; // of the whole growth: any user of the machine can choose many names
	std::vector<Cause> causes;
	const NamedCauses ours = causes_by_name(a), others = causes_by_name(b);
	const stats::RedrawnDifference redrawn(a.layers.blocks(), b.layers.blocks());
	const std::vector<double> none(b.layers.blocks().weights.size(), 0);
	const auto of_a = static_cast<double>(a.layers.deliveries()), of_b = static_cast<double>(b.layers.deliveries());
	const std::map<Kind, bool> longer = longer_kinds(by_kind(ours, of_a), by_kind(others, of_b), redrawn, none);
	std::map<Kind, double> growths;
	for (const auto &[key, of] : ours) {
		Cause &cause = causes.emplace_back();
		std::tie(std::ignore, cause.kind, cause.origin, cause.layer, cause.ended_sleep) = key;
		cause.name = of.name;
		cause.interrupt = of.interrupt;
		cause.vector = of.vector;
		cause.owner = of.owner;
		const auto of_kind = longer.find(kind_of(cause));
		cause.is_of_told_kind = of_kind != longer.end() && of_kind->second;
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
		growths[kind_of(cause)] += cause.growth_ns;
		if (cause.growth_ns < kWorthAnInterval * (a.layers.mean_ns() - b.layers.mean_ns()) || cause.growth_ns <= 0)
			continue;
		cause.growth_interval = redrawn.interval({of.ns_by_block, both ? other->second.ns_by_block : none});
		cause.more_often = redrawn.interval({of.messages_by_block, both ? other->second.messages_by_block : none});
	}
	for (const auto &[key, of] : others)
		if (!ours.contains(key) && of_b > 0) {
			const auto &[name, kind, origin, layer, ended_sleep] = key;
			growths[{kind, origin, ended_sleep}] -= static_cast<double>(of.ns) / of_b;
		}
	for (Cause &cause : causes)
		if (longer.contains(kind_of(cause)))
			cause.kind_growth_ns = growths[kind_of(cause)];
	std::ranges::stable_sort(causes, std::ranges::greater(), &Cause::growth_ns);
	return causes;
}

} // namespace icepath::explain
