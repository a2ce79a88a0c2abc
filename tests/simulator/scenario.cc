// SPDX-License-Identifier: Apache-2.0
#include "tests/simulator/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace icepath::simulator {

using model::Wait;

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
	const bool alone = scenario.alone();
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
	const bool into_one_queue = scenario.transport == Transport::Local || scenario.transport == Transport::Datagram ||
								scenario.transport == Transport::Queue;
	if (alone && into_one_queue && !scenario.pingpong && !scenario.one_thread && !scenario.batches && chance(0.4)) {
		scenario.senders = 2 + pick(1);
		scenario.senders_share = chance(0.4);
	}
	scenario.enqueued = alone && chance(0.4);
	scenario.tick_ns = chance(0.7) ? 0 : chance(0.5) ? 1 : 8 + pick(30);
	scenario.preemptible_softirqs = chance(0.25);
	scenario.library = !scenario.pingpong && !scenario.one_thread && scenario.senders == 1 && chance(0.4);
	if (scenario.library) {
		scenario.transport = Transport::Local;
		scenario.process_changes = pick(15);
		scenario.chatters = chance(0.5);
		scenario.in_parts = chance(0.3);
		scenario.enqueued = scenario.spurious = false;
		scenario.callback = chance(0.4);
		scenario.free_handlers = scenario.callback && chance(0.5);
		scenario.strangers = chance(0.3);
	}
	return scenario;
}

std::vector<std::string> Scenario::features() const
{
	constexpr const char *kTransports[] = {"local", "stream", "datagram", "queue", "slot", "bell"};
	std::vector<std::string> found{kTransports[static_cast<int>(transport)], std::string(model::name(wait))};
	for (auto [flag, name] :
		 std::initializer_list<std::pair<bool, const char *>>{{pingpong, "pingpong"},
															  {shared_cpu, "shared_cpu"},
															  {preemption, "preemption"},
															  {interrupts, "interrupts"},
															  {spurious, "spurious"},
															  {locks, "locks"},
															  {batches, "batches"},
															  {held, "held"},
															  {!alone(), "relays"},
															  {std::ranges::count(edges, Edge::Wake) > 0, "wake_edges"},
															  {calls_known, "calls_known"},
															  {busy_receiver, "busy_receiver"},
															  {eager_sender, "eager_sender"},
															  {nmis, "nmis"},
															  {one_thread, "one_thread"},
															  {throttled, "throttled"},
															  {exits_idle_first, "exits_idle_first"},
															  {calibrated, "calibrated"},
															  {senders > 1, "fan_in"},
															  {senders_share, "senders_share"},
															  {enqueued, "enqueued"},
															  {tick_ns != 0, "equal_times"},
															  {library, "library"},
															  {chatters, "chatters"},
															  {in_parts, "in_parts"},
															  {callback, "callback"},
															  {free_handlers, "free_handlers"},
															  {strangers, "strangers"},
															  {preemptible_softirqs, "preemptible_softirqs"}})
		if (flag)
			found.emplace_back(name);
	return found;
}

std::string Scenario::text() const
{
	std::string line = fmt::format("seed {}:", seed);
	for (Edge edge : edges)
		line += edge == Edge::Transfer ? " -transfer" : " -wake";
	if (mutant != Mutant::None)
		line += fmt::format(" mutant {}", static_cast<int>(mutant));
	for (const std::string &feature : features())
		line += " " + feature;
	return line;
}

} // namespace icepath::simulator
