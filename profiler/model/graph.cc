// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/graph.h"

#include <algorithm>

namespace icepath::model {

Graph star(size_t senders, const std::vector<uint32_t> &cpus, Between between, bool is_answered)
{
	Graph graph;
	for (uint32_t side = 0; side < cpus.size(); side++)
		graph.sides.push_back(
			{between == Between::Processes ? side : 0, between == Between::OneThread ? 0 : side, cpus[side]});
	const auto first_receiver = static_cast<uint32_t>(senders);
	for (uint32_t sender = 0; sender < first_receiver; sender++)
		for (uint32_t receiver = first_receiver; receiver < cpus.size(); receiver++)
			graph.channels.push_back({sender, receiver});
	for (uint32_t channel = 0; channel < graph.channels.size(); channel++)
		graph.flows.push_back({graph.channels[channel].begins, graph.channels[channel].receives, channel});
	for (uint32_t channel = 0; is_answered && channel < graph.channels.size(); channel++)
		graph.flows.push_back({graph.channels[channel].receives, graph.channels[channel].begins, channel});
	return graph;
}

Between between(const Graph &graph)
{
	const Side &first = graph.sides.front();
	if (std::ranges::all_of(graph.sides, [&](const Side &side) { return side.thread == first.thread; }))
		return Between::OneThread;
	const bool one_process =
		std::ranges::all_of(graph.sides, [&](const Side &side) { return side.process == first.process; });
	return one_process ? Between::Threads : Between::Processes;
}

bool begins(const Graph &graph, size_t side)
{
	return std::ranges::any_of(graph.channels, [&](const Channel &channel) { return channel.begins == side; });
}

size_t senders_of(const Graph &graph)
{
	size_t senders = 0;
	for (size_t side = 0; side < graph.sides.size(); side++)
		senders += begins(graph, side);
	return senders;
}

size_t receivers_of(const Graph &graph) { return graph.sides.size() - senders_of(graph); }

} // namespace icepath::model
