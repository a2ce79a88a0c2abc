// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/handlers.h"

namespace icepath::model {
namespace {

template <class Stamp> void add_handlers(const std::vector<Stamp> &stamps, std::set<uint32_t> &handlers)
{
	for (const Stamp &stamp : stamps)
		if (const uint32_t tid = thread_of(stamp, 0); tid != 0)
			handlers.insert(tid);
}

} // namespace

std::vector<std::set<uint32_t>> handlers_of(const Block &block, const Graph &graph)
{
	std::vector<std::set<uint32_t>> handlers(block.sides.size());
	for (size_t i = 0; i < block.flows.size() && i < graph.flows.size(); ++i) {
		add_handlers(block.flows[i].sends, handlers.at(graph.flows[i].from));
		add_handlers(block.flows[i].recvs, handlers.at(graph.flows[i].to));
	}
	for (size_t side = 0; side < block.sides.size(); ++side)
		handlers[side].erase(block.sides[side].tid);
	return handlers;
}

} // namespace icepath::model
