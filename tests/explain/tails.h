// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs with a tail whose cause is known, and messages that waited for known tasks.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/analysis/analyse.h"
#include "profiler/explain/tail.h"
#include "profiler/rundir/container.h"
#include "profiler/text/finding_words.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::explain {

inline constexpr uint64_t kTailSlowerBy = 200'000;

struct TailPlan {
	uint32_t blocks = 12; // with slow messages
	uint64_t every = 50; // one of so many is slow
	uint64_t of = 10, others_ns = 2000; // and one of `of` others waits for so long
	uint64_t unprobed_slow_by = kTailSlowerBy;
	analysis::Wanted wanted = {};
};

// Twelve probed blocks of 300 messages each way. The hog has the CPU for 200 µs before slow messages are received, and
// for less before others.
inline analysis::RunResult run_with(const rundir::TemporaryDirectory &temporary, const TailPlan &what)
{
	const std::string path = temporary.path("run");
	std::filesystem::remove_all(path);
	const model::Head head = small_head();
	{
		rundir::Writer writer(path, head);
		for (uint32_t round = 0; round < 24; ++round) {
			BlockPlan plan;
			plan.round = round;
			plan.probed = round % 2 == 1;
			plan.messages = 300;
			plan.delay_ns = [&](uint64_t seq, size_t) {
				if (round < 2 * what.blocks && seq % what.every == what.every / 2)
					return plan.probed ? kTailSlowerBy : what.unprobed_slow_by;
				return seq % what.of == what.of - 1 ? what.others_ns : uint64_t{0};
			};
			writer.add(make_block(head.cells[0], plan));
		}
		writer.finish({});
	}
	return analysis::analyse(path, what.wanted);
}

inline std::string told(const TailExplanation &tail) { return tail.refusal ? text::words({}, *tail.refusal) : ""; }

inline TailExplanation tail_of(const analysis::RunResult &run) { return explain_tail(run.cells[0], run.head); }

class Tail : public testing::Test {
protected:
	rundir::TemporaryDirectory temporary;
};

struct WaitFor {
	path::Culprit who;
	uint64_t ns;
	model::Part part = model::Part::None;
};
inline constexpr path::Culprit kFirstTask{path::Culprit::Kind::Task, 7, 0},
	kSecondTask{path::Culprit::Kind::Task, 8, 0};

// Each message waited for these in runqueue. They are of successive blocks, each of which has as many.
inline analysis::Culprits culprits_of(const std::vector<std::vector<WaitFor>> &messages,
									  const std::string &first = "first", size_t of_each_block = SIZE_MAX)
{
	path::Observations seen;
	seen.task_names = {{7, first}, {8, "second"}};
	seen.threads[7].tid = 7;
	analysis::Culprits culprits;
	for (size_t i = 0; i < messages.size(); ++i) {
		path::Path path;
		for (const WaitFor &wait : messages[i]) {
			path::Segment segment{model::Layer::Runqueue, wait.part, 1, 2, {}, {}, {}};
			segment.begin.at_ns = path.recv_ns;
			segment.end.at_ns = path.recv_ns += wait.ns;
			path.shares.push_back({static_cast<uint32_t>(path.segments.size()), wait.who, wait.ns});
			path.segments.push_back(segment);
		}
		culprits.add(path, seen, i / of_each_block);
	}
	return culprits;
}

} // namespace icepath::explain
