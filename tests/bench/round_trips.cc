// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/round_trips.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "profiler/failure.h"

namespace icepath::bench {

privilege::Identity as_oneself()
{
	privilege::Identity self;
	self.uid = geteuid();
	self.was_root = true; // to pin one's own children takes no root; what does take it, fails in its own words
	return self;
}

std::unique_ptr<run::LiveCell> open_ping_pong(const std::vector<targets::Target> &targets, const PingPong &what,
											  CpuPair cpus, uint32_t number, uint32_t max_messages,
											  const privilege::SlotsView &slots, privilege::Helper &helper,
											  run::Middleware *middleware)
{
	plan::Wishes wishes;
	wishes.targets = {what.target};
	wishes.patterns = {model::Pattern::PingPong};
	wishes.sizes = {what.bytes};
	wishes.waits = {what.wait};
	wishes.qos = what.qos;
	const plan::Plan plan = plan::make(wishes, targets, {cpus.initiator, cpus.responder});
	if (plan.cells.empty())
		throw Failure(ExitCode::MachineCannot, what.target + " can't be measured here: see icepath list");
	const model::Cell &cell = plan.cells[0];
	const std::string &plugin = plan.plugin_of_cell[0];
	return std::make_unique<run::LiveCell>(cell, plugin, number, max_messages, slots, helper,
										   middleware ? middleware->surroundings_of(cell, plugin)
													  : run::Surroundings{});
}

std::vector<double> round_trips_ns(const model::Block &block)
{
	std::vector<double> trips;
	const std::vector<model::SendStamp> &sends = block.flows[0].sends;
	for (const model::RecvStamp &back : block.flows[1].recvs)
		if (back.seq < sends.size() && (back.flags & model::kStampWarmUp) == 0)
			trips.push_back(static_cast<double>(back.recv_ns - sends[back.seq].send_ns));
	if (trips.empty())
		throw Failure(ExitCode::Invalid, "a block came back empty: " + block.failure);
	return trips;
}

double median(std::vector<double> values)
{
	std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2), values.end());
	return values[values.size() / 2];
}

double mean(const std::vector<double> &values)
{
	return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace icepath::bench
