// SPDX-License-Identifier: Apache-2.0
#include "tests/path/scenario.h"

#include <fmt/format.h>

#include <random>

namespace icepath::simulator {

using rundir::Wait;

Scenario Scenario::random(uint64_t seed)
{
	std::mt19937_64 random(seed);
	auto chance = [&](double probability) { return std::bernoulli_distribution(probability)(random); };
	auto pick = [&](unsigned most) { return std::uniform_int_distribution<unsigned>(0, most)(random); };
	Scenario scenario;
	scenario.seed = seed;
	scenario.transport = static_cast<Transport>(pick(5));
	scenario.wait = static_cast<Wait>(pick(2));
	scenario.edges.clear();
	for (unsigned relays = chance(0.6) ? 0 : 1 + pick(2); scenario.edges.size() <= relays;)
		scenario.edges.push_back(chance(!scenario.edges.empty() && scenario.edges.back() == Edge::Wake ? 0.1 : 0.4)
									 ? Edge::Wake
									 : Edge::Transfer);
	if (scenario.edges.size() == 1)
		scenario.edges[0] = Edge::Transfer;
	bool alone = scenario.edges.size() == 1;
	scenario.pingpong = alone && chance(0.4);
	scenario.messages = 4 + pick(6);
	scenario.capacity = 1 + pick(3);
	scenario.shared_cpu = chance(0.2);
	scenario.preemption = chance(0.4);
	scenario.interrupts = chance(0.4);
	scenario.spurious = chance(0.35);
	scenario.locks = chance(0.35);
	scenario.batches = alone && !scenario.pingpong && chance(0.4);
	scenario.held = alone && chance(0.4);
	scenario.calls_known = chance(0.5);
	scenario.busy_receiver = chance(0.4);
	scenario.eager_sender = chance(0.4);
	scenario.nmis = chance(0.3);
	scenario.one_thread = alone && chance(0.15);
	if (scenario.one_thread)
		scenario.shared_cpu = scenario.busy_receiver = scenario.batches = false;
	scenario.calibrated = chance(0.3);
	scenario.throttled = chance(0.2);
	scenario.exits_idle_first = chance(0.2);
	return scenario;
}

std::string Scenario::text() const
{
	constexpr const char *kTransports[] = {"local", "stream", "datagram", "queue", "slot", "bell"};
	std::string line =
		fmt::format("seed {}: {} {}", seed, kTransports[static_cast<int>(transport)], rundir::name(wait));
	for (Edge edge : edges)
		line += edge == Edge::Transfer ? " -transfer" : " -wake";
	for (auto [flag, name] :
		 std::initializer_list<std::pair<bool, const char *>>{{pingpong, "pingpong"},
															  {shared_cpu, "shared_cpu"},
															  {preemption, "preemption"},
															  {interrupts, "interrupts"},
															  {spurious, "spurious"},
															  {locks, "locks"},
															  {batches, "batches"},
															  {held, "held"},
															  {calls_known, "calls_known"},
															  {busy_receiver, "busy_receiver"},
															  {eager_sender, "eager_sender"},
															  {nmis, "nmis"},
															  {one_thread, "one_thread"},
															  {throttled, "throttled"},
															  {exits_idle_first, "exits_idle_first"},
															  {calibrated, "calibrated"}})
		if (flag)
			line += fmt::format(" {}", name);
	return line;
}

} // namespace icepath::simulator
