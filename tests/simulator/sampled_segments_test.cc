// SPDX-License-Identifier: Apache-2.0
// Samples at random instants of the simulated threads: each is in the segments that the truth has at that instant on
// that thread, in no others, and its function counts exactly where the thread was still in that segment when it was
// stopped.
#include "profiler/path/sampled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "profiler/path/walk.h"
#include "tests/simulator/seen.h"

namespace icepath::simulator {
namespace {

// What the truth says of one sample: the message, the layer, whether the function counts.
using Place = std::tuple<uint64_t, model::Layer, model::Part, bool>;

struct TrueSample {
	path::Sample sample;
	std::set<Place> places;
};

const Span &span_at(const Task &thread, uint64_t at_ns)
{
	return *std::prev(std::ranges::upper_bound(thread.log, at_ns, {}, &Span::begin_ns));
}

bool has_cpu(const Task &thread, uint64_t at_ns)
{
	if (thread.log.empty() || at_ns < thread.log.front().begin_ns)
		return false;
	const State state = span_at(thread, at_ns).state;
	return state == State::Running || state == State::Interrupted;
}

// Others than the segment's thread do this work, which the truth doesn't name: tests/path/sampled_test.cc has them.
bool is_of_announcer(model::Layer layer, model::Part part)
{
	return layer == model::Layer::Network || part == model::Part::Notify;
}

// Within these, the instants at which one segment follows another are known.
bool is_certain(const path::Path &path)
{
	return path.complete() && std::ranges::none_of(path.segments, [](const path::Segment &segment) {
			   return path::is_inferred(segment.provenance());
		   });
}

class Sampling {
public:
	Sampling(const Simulation &simulation, const path::Observations &seen, const std::vector<path::Path> &paths,
			 uint64_t seed)
		: random_(seed)
	{
		for (Truth &truth : simulation.truths())
			for (size_t i = 0; i < seen.deliveries.size(); ++i)
				if (seen.deliveries[i].message == truth.message && truth.tellable && is_certain(paths[i]))
					truths_.push_back(std::move(truth));
	}

	bool has_truths() const { return !truths_.empty(); }

	// Of an instant on a message's path; stopped there, or up to 5 µs later by the same thread. Nothing: its thread
	// hadn't the CPU at one of both.
	std::optional<TrueSample> one(const std::set<uint16_t> &timers_on)
	{
		const Truth &around = truths_[below(truths_.size())];
		const TrueSegment &segment = around.segments[below(around.segments.size())];
		const Task &thread = *around.cpus.at(segment.thread).thread;
		if (segment.begin_ns >= segment.end_ns || timers_on.contains(thread.cpu))
			return std::nullopt;
		const uint64_t at_ns = segment.begin_ns + below(segment.end_ns - segment.begin_ns);
		const uint64_t stopped_ns = at_ns + (below(2) == 0 ? 0 : below(5000));
		if (!has_cpu(thread, at_ns) || !has_cpu(thread, stopped_ns))
			return std::nullopt;
		TrueSample sample{{thread.tid, thread.cpu, at_ns, stopped_ns, 1}, {}};
		for (const Truth &truth : truths_)
			for (const TrueSegment &its : truth.segments)
				if (its.thread == thread.tid && its.begin_ns <= at_ns && at_ns < its.end_ns &&
					!is_of_announcer(its.layer, its.part))
					sample.places.insert({truth.message, its.layer, its.part, stopped_ns <= its.end_ns});
		return sample;
	}

	bool knows(uint64_t message) const
	{
		return std::ranges::any_of(truths_, [&](const Truth &truth) { return truth.message == message; });
	}

private:
	uint64_t below(uint64_t count) { return random_() % count; }

	std::mt19937_64 random_;
	std::vector<Truth> truths_;
};

// CPUs with timer interrupts, which would move the instants at which samples were stopped.
std::set<uint16_t> cpus_with_timers(const path::Observations &seen)
{
	std::set<uint16_t> cpus;
	for (const auto &[number, cpu] : seen.cpus)
		if (std::ranges::any_of(cpu.interrupts, [](const auto &one) { return one.kind == ICEPATH_INTERRUPT_TIMER; }))
			cpus.insert(number);
	return cpus;
}

TEST(SampledSegments, AreTheTrueOnes)
{
	constexpr uint64_t kScenarios = 3000, kSamplesOfEach = 40;
	uint64_t samples = 0, not_of_instant = 0, in_several = 0;
	std::map<model::Layer, uint64_t> by_layer;
	for (uint64_t seed = 1; seed <= kScenarios && !testing::Test::HasFailure(); ++seed) {
		const Scenario scenario = Scenario::random(seed);
		if (scenario.library) // its threads may move to other CPUs
			continue;
		Simulation simulation(scenario);
		simulation.run();
		path::Observations seen = simulation.observe({});
		std::vector<path::Path> paths;
		for (const path::Delivery &delivery : seen.deliveries)
			paths.push_back(walk(seen, delivery));
		Sampling sampling(simulation, seen, paths, seed);
		const std::set<uint16_t> timers_on = cpus_with_timers(seen);
		std::vector<TrueSample> truth;
		for (uint64_t i = 0; i < kSamplesOfEach && sampling.has_truths(); ++i)
			if (auto one = sampling.one(timers_on)) {
				seen.samples.push_back(one->sample);
				truth.push_back(std::move(*one));
			}
		std::vector<std::set<Place>> found(truth.size());
		for (const path::SampledSegment &one : path::sampled_segments(seen, paths, 1000)) {
			const path::Segment &segment = paths[one.delivery].segments[one.segment];
			EXPECT_TRUE(one.of_thread) << scenario.text();
			if (sampling.knows(seen.deliveries[one.delivery].message) && !is_of_announcer(segment.layer, segment.part))
				found[one.sample].insert(
					{seen.deliveries[one.delivery].message, segment.layer, segment.part, one.of_instant});
		}
		for (size_t i = 0; i < truth.size(); ++i) {
			EXPECT_EQ(found[i], truth[i].places) << scenario.text() << " at " << truth[i].sample.planned_ns;
			++samples;
			in_several += truth[i].places.size() > 1;
			for (const auto &[message, layer, part, of_instant] : truth[i].places) {
				++by_layer[layer];
				not_of_instant += !of_instant;
			}
		}
	}
	EXPECT_GT(samples, 5000u);
	EXPECT_GT(not_of_instant, 200u);
	EXPECT_GT(in_several, 50u);
	for (const model::Layer layer : {model::Layer::SenderUser, model::Layer::SenderKernel, model::Layer::ReceiverKernel,
									 model::Layer::ReceiverUser, model::Layer::Interrupt, model::Layer::RelayUser})
		EXPECT_GT(by_layer[layer], 20u) << model::name(layer);
}

} // namespace
} // namespace icepath::simulator
