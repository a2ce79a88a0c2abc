// SPDX-License-Identifier: Apache-2.0
// A known delay is injected into a known layer, and the breakdown must find it there: over interleaved pairs of blocks,
// without and with the delay, the change of the layer over the change of recv - send. For transports without such an
// injection in `icepath selftest`; that command's test covers UNIX sockets, and more kinds of delay.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <sstream>

#include "tests/end_to_end/command.h"
#include "tests/end_to_end/resolved_run.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;
using model::Layer;

double median(std::vector<double> values)
{
	std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2), values.end());
	return values[values.size() / 2];
}

// Means over the messages of one block from side 0 to side 1, up to the block's p90.
struct BlockMeans {
	double latency_ns = 0;
	std::map<Layer, double> layers;
};

BlockMeans means_of(const resolve::ResolvedBlock &resolved)
{
	std::vector<const path::Path *> paths;
	for (size_t i = 0; i < resolved.paths.size(); i++)
		if (resolved.paths[i].complete() && resolved.seen.deliveries[i].sender == resolved.block.sides[0].tid)
			paths.push_back(&resolved.paths[i]);
	std::sort(paths.begin(), paths.end(), [](const path::Path *a, const path::Path *b) {
		return a->recv_ns - a->send_ns < b->recv_ns - b->send_ns;
	});
	paths.resize(paths.size() * 9 / 10);
	BlockMeans means;
	for (const path::Path *one : paths) {
		means.latency_ns += static_cast<double>(one->recv_ns - one->send_ns) / static_cast<double>(paths.size());
		for (const path::Segment &segment : one->segments)
			means.layers[segment.layer] +=
				static_cast<double>(segment.duration_ns()) / static_cast<double>(paths.size());
	}
	return means;
}

using Shares = std::map<Layer, std::vector<double>>;

// For each round that probed both cells: each layer's share of the change in latency.
void add_shares_of_change(const ResolvedRun &run, Shares &shares)
{
	std::map<uint32_t, std::map<bool, BlockMeans>> rounds;
	for (const resolve::ResolvedBlock &resolved : run.blocks)
		if (resolved.block.window->probed && resolved.paths.size() > 20)
			rounds[resolved.block.window->round][model::injects(run.head.cells[resolved.block.cell].levels)] =
				means_of(resolved);
	for (auto &[round, pair] : rounds) {
		if (pair.size() != 2)
			continue;
		const double change = pair[true].latency_ns - pair[false].latency_ns;
		for (size_t i = 0; i < model::kLayerCount; i++) {
			const auto layer = static_cast<Layer>(i);
			shares[layer].push_back((pair[true].layers[layer] - pair[false].layers[layer]) / change);
		}
	}
}

// Wake-ups vary from block to block by a good part of the delay: with few pairs, the median could lie anywhere. True if
// its 95 % interval, by order statistics, lies on one side of the limit.
bool is_decided(std::vector<double> shares, double limit)
{
	std::sort(shares.begin(), shares.end());
	const double n = static_cast<double>(shares.size());
	const double reach = 0.98 * std::sqrt(n);
	if (n / 2 <= reach)
		return false;
	return shares[static_cast<size_t>(n / 2 - reach)] >= limit || shares[static_cast<size_t>(n / 2 + reach)] < limit;
}

constexpr double kLeastShare = 0.9;
constexpr int kMostRuns = 5;

struct Injected {
	const char *name;
	const char *transport;
	std::vector<std::string> options;
	Layer layer;
};

class InjectedDelay : public testing::TestWithParam<Injected> {};

TEST_P(InjectedDelay, LandsInItsLayer)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	Shares shares;
	for (int runs = 0; runs < kMostRuns && !is_decided(shares[GetParam().layer], kLeastShare); runs++) {
		const Folder folder;
		std::vector<std::string> arguments = {
			icepath_program(), "run", "-t", GetParam().transport, "-s", "64", "-d", "8", "-o", "out"};
		arguments.insert(arguments.end(), GetParam().options.begin(), GetParam().options.end());
		const Outcome outcome = run(arguments, folder.path(), 60s);
		ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
		add_shares_of_change(read_resolved(folder.path() / "out"), shares);
	}
	ASSERT_GE(shares.at(GetParam().layer).size(), 8u) << "block pairs";
	std::ostringstream all;
	for (const auto &[layer, values] : shares)
		all << model::name(layer) << " " << median(values) << ", ";
	SCOPED_TRACE(all.str());
	for (const auto &[layer, values] : shares) {
		const double share = median(values);
		if (layer == GetParam().layer)
			EXPECT_GE(share, kLeastShare) << model::name(layer);
		else
			EXPECT_LE(share, 1 - kLeastShare)
				<< model::name(layer) << " has what belongs to " << model::name(GetParam().layer);
	}
}

// One way: a ping-pong's answer itself wakes the next receiver early (reading from a UNIX stream socket calls the
// peer's write-space wakeup, which wakes a peer sleeping to read), so work before a send overlaps with a wakeup.
const std::vector<std::string> kBusySender = {"--patterns", "oneway",          "-m",  "100", "--rate",
											  "5000",       "--inject-sender", "20us"};
// Faster than a receiver that is busy for 200 µs per message, but with so few messages (warm-up included) that neither
// a queue nor TCP's first congestion window of ten packets fills up: a receiver that doesn't read acknowledges late,
// and what the window holds back is in network/held, rightly.
const std::vector<std::string> kBusyReceiver = {"--patterns",        "oneway", "-m", "24", "--rate", "5500",
												"--inject-receiver", "200us"};

INSTANTIATE_TEST_SUITE_P(Cases, InjectedDelay,
						 testing::Values(Injected{"BusySenderTcp", "tcp", kBusySender, Layer::SenderUser},
										 Injected{"BusySenderShmRing", "shm-ring", kBusySender, Layer::SenderUser},
										 Injected{"BusyReceiverTcp", "tcp", kBusyReceiver, Layer::Queue},
										 Injected{"BusyReceiverShmRing", "shm-ring", kBusyReceiver, Layer::Queue}),
						 [](const auto &which) { return std::string(which.param.name); });

} // namespace
} // namespace icepath::end_to_end
