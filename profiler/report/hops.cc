// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/hops.h"

#include <algorithm>
#include <map>

namespace icepath::report {
namespace {

constexpr size_t kNames = 3; // of one hop
constexpr double kLeastNamed = 0.05; // of a hop's time
constexpr double kRare = 0.05; // of deliveries

struct Sum {
	double mean_ns = 0;
	std::map<std::string, double> by_name;
};

Hop hop_of(path::Role role, const Sum &sum)
{
	std::vector<std::pair<double, std::string>> names;
	for (const auto &[name, ns] : sum.by_name)
		names.emplace_back(ns, name);
	std::ranges::stable_sort(names, std::ranges::greater(), &std::pair<double, std::string>::first);
	Hop hop{role, "", sum.mean_ns};
	for (size_t i = 0; i < std::min(names.size(), kNames); ++i)
		if (i == 0 || names[i].first >= kLeastNamed * sum.mean_ns)
			hop.threads += (i > 0 ? "/" : "") + names[i].second;
	return hop;
}

} // namespace

std::vector<Hop> hops(const Breakdown &layers)
{
	std::map<std::pair<path::Role, uint16_t>, Sum> sums; // the receiver is one hop, however many came before it
	for (const LayerRow &row : layers.rows()) {
		Sum &sum = sums[{row.role, row.role == path::Role::Relay ? row.hop : uint16_t{0}}];
		sum.mean_ns += row.mean_ns;
		sum.by_name[row.thread] += row.mean_ns;
	}
	std::vector<Hop> way;
	if (std::ranges::any_of(sums, [](const auto &one) { return one.first.first == path::Role::Relay; }))
		for (const auto &[place, sum] : sums) {
			const Hop hop = hop_of(place.first, sum);
			const bool is_rare = hop.role == path::Role::Relay && static_cast<double>(layers.passed(place.second)) <
																	  kRare * static_cast<double>(layers.deliveries());
			if (is_rare && !way.empty() && way.back().threads == kRareHops)
				way.back().mean_ns += hop.mean_ns;
			else
				way.push_back({hop.role, is_rare ? kRareHops : hop.threads, hop.mean_ns});
		}
	return way;
}

} // namespace icepath::report
