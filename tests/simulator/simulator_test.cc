// SPDX-License-Identifier: Apache-2.0
// The property: without damage the walk returns the true path; with records lost, shuffled or delayed it returns the
// true path, a truthful "inferred", or an incomplete delivery. Never a wrong path.
#include "profiler/model/stamps.h"
#include "tests/simulator/seen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

#include "profiler/decode/decode.h"
#include "profiler/path/walk.h"
#include "tests/simulator/truth_check.h"

namespace icepath::simulator {
namespace {

uint64_t first_seed()
{
	const char *given = std::getenv("ICEPATH_SIMULATOR_SEED");
	return given ? std::strtoull(given, nullptr, 10) : 1;
}

unsigned scenario_count()
{
	const char *given = std::getenv("ICEPATH_SIMULATOR_COUNT");
	return given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 10'000;
}

struct Tally {
	uint64_t all = 0, complete = 0;
	double share() const { return all ? static_cast<double>(complete) / static_cast<double>(all) : 1; }
};

// Walks every delivery of many scenarios; returns how many were complete, by feature.
std::map<std::string, Tally> try_all(uint64_t seed, unsigned count, const std::function<Damage(uint64_t)> &damage_of,
									 Mutant mutant = Mutant::None)
{
	std::map<std::string, Tally> tallies;
	std::map<path::Reason, uint64_t> reasons;
	std::map<model::Layer, uint64_t> layers;
	std::map<model::Part, uint64_t> parts;
	std::map<path::Culprit::Kind, uint64_t> shares_ns;
	unsigned failures = 0;
	for (uint64_t i = 0; i < count && failures < 5; ++i) {
		Scenario scenario = Scenario::random(seed + i);
		scenario.mutant = mutant;
		Simulation simulation(scenario);
		simulation.run();
		const path::Observations seen = simulation.observe(damage_of(seed + i));
		std::map<uint64_t, Truth> truths;
		for (Truth &truth : simulation.truths())
			truths[truth.message] = std::move(truth);
		EXPECT_EQ(truths.size(), seen.deliveries.size()) << scenario.text();
		path::Walker walker(seen);
		for (const path::Delivery &delivery : seen.deliveries) {
			const Truth &truth = truths.at(delivery.message);
			const path::Path walked = walker.walk(delivery);
			std::string error = wrong(walked, truth);
			if (!error.empty()) {
				ADD_FAILURE() << scenario.text() << " message " << (delivery.message & 0xffff)
							  << (model::place_of(delivery.message).flow == 1 ? " back" : "") << "\n  " << error;
				if (++failures >= 5)
					break;
			}
			if (std::getenv("ICEPATH_SIMULATOR_VERBOSE") && truth.tellable && !walked.complete())
				std::printf("%s message %lu: %s\n  %s\n", scenario.text().c_str(), delivery.message & 0xffff,
							std::string(path::kReasonNames[static_cast<size_t>(walked.reason)]).c_str(),
							text(truth.segments, truth.send_ns).c_str());
			++reasons[walked.reason];
			for (const path::Share &share : walked.shares) {
				shares_ns[share.who.kind] += share.ns;
				Tally &known = tallies["culprits_known"]; // nanoseconds
				known.all += share.ns;
				known.complete += share.who.kind != path::Culprit::Kind::Unknown ? share.ns : 0;
				if (share.who.kind == path::Culprit::Kind::Throttled) {
					++tallies["throttled_waits"].all;
					++tallies["throttled_waits"].complete;
				}
			}
			for (const path::Segment &one : walked.segments) {
				++layers[one.layer];
				++parts[one.part];
			}
			if (truth.tellable)
				for (const std::string &feature : scenario.features()) {
					Tally &tally = tallies[(scenario.library ? "library/" : "") + feature];
					++tally.all;
					tally.complete += walked.complete();
				}
		}
	}
	for (auto [reason, number] : reasons)
		std::printf("%s %lu  ", std::string(path::kReasonNames[static_cast<size_t>(reason)]).c_str(), number);
	std::printf("\n");
	for (auto [layer, number] : layers)
		std::printf("%s %lu  ", std::string(name(layer)).c_str(), number);
	for (auto [part, number] : parts)
		std::printf("/%s %lu  ", std::string(name(part)).c_str(), number);
	std::printf("\n");
	for (auto [kind, ns] : shares_ns)
		std::printf("culprits of kind %d: %lu ns  ", static_cast<int>(kind), ns);
	std::printf("\n");
	for (auto &[feature, tally] : tallies)
		std::printf("%s %.3f (%lu)  ", feature.c_str(), tally.share(), tally.all);
	std::printf("\n");
	for (const model::Part part : {model::Part::Backpressure, model::Part::Lock, model::Part::Timer, model::Part::Fault,
								   model::Part::Storage, model::Part::Reclaim})
		EXPECT_GT(parts[part], 0u) << name(part);
	return tallies;
}

TEST(Simulator, WithNothingLostTheWalkReturnsTheTruth)
{
	std::printf("seed %lu\n", first_seed());
	auto tallies = try_all(first_seed(), scenario_count(), [](uint64_t) { return Damage{}; });
	// A library's overlapping messages, and bytes given at the same time as others, can't be matched: see relays.h.
	for (auto &[feature, tally] : tallies)
		EXPECT_GT(tally.share(), feature.starts_with("library/") ? 0.6 : 0.9) << feature;
	EXPECT_GE(tallies.size(), 50u);
}

TEST(Simulator, WithRecordsLostTheWalkIsNeverWrong)
{
	std::printf("seed %lu\n", first_seed());
	auto tallies = try_all(first_seed(), scenario_count(), [](uint64_t seed) {
		return Damage{.lose = seed % 3 == 0   ? 0.005
							  : seed % 3 == 1 ? 0.02
											  : 0,
					  .tail = seed % 4 == 0,
					  .shuffle = seed % 2 == 0,
					  .delay = seed % 5 < 2};
	});
	for (auto &[feature, tally] : tallies)
		EXPECT_GT(tally.share(), 0.25) << feature;
}

TEST(Simulator, WithProgramsSkippedTheWalkIsNeverWrong)
{
	std::printf("seed %lu\n", first_seed());
	auto tallies = try_all(first_seed(), scenario_count(), [](uint64_t seed) {
		return Damage{.skip = seed % 2 == 0 ? 0.02 : 0.1, .shuffle = seed % 3 == 0};
	});
	for (auto &[feature, tally] : tallies)
		EXPECT_GT(tally.share(), 0.25) << feature;
}

TEST(Simulator, OfAMutantTheWalkReturnsTheTruthOrNothing)
{
	std::printf("seed %lu\n", first_seed());
	for (unsigned mutant = 1; mutant < kMutants; ++mutant) {
		std::printf("mutant %u: ", mutant);
		try_all(first_seed(), scenario_count() / 4, [](uint64_t) { return Damage{}; }, static_cast<Mutant>(mutant));
	}
}

} // namespace
} // namespace icepath::simulator
