// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/layer_style.h"
#include "profiler/explain/difference.h"
#include "profiler/explain/growth_causes.h"
#include "profiler/explain/remedies.h"
#include "profiler/text/cause_lines.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/report/synthetic_run.h"

namespace icepath::explain {
namespace {

using Kind = path::Culprit::Kind;
using model::Layer;
using model::Part;

// Where 10 µs of a difference of 20 µs are.
struct RemedyCase {
	std::string cause; // that is expected; empty: none
	Layer layer = Layer::SenderKernel;
	Part part = Part::None;
	std::string culprit = {}; // empty: no cause
	Kind kind = Kind::Task;
	model::IdleStates idle_states = model::IdleStates::Held;
	std::array<uint32_t, 2> cpus = {0, 1};
	model::Wait wait = model::Wait::Block;
};

void PrintTo(const RemedyCase &one, std::ostream *out) { *out << one.cause << one.culprit; }

std::vector<Remedy> remedies_for(const RemedyCase &one, int64_t ns = 10'000)
{
	Difference difference;
	const auto add = [&](Layer layer, Part part, int64_t more) {
		DifferenceRow row{layer, part, path::Role::Receiver, 0, {}, {}};
		(more > 0 ? row.of.a_ns : row.of.b_ns) = static_cast<uint64_t>(std::abs(more));
		difference.kinds.push_back({analysis::kind_of(layer, part, false), {row}, row.of});
		difference.of.a_ns += row.of.a_ns;
		difference.of.b_ns += row.of.b_ns;
	};
	add(one.layer, one.part, ns);
	add(Layer::ReceiverKernel, Part::None, 20'000 - ns);
	std::vector<Cause> causes;
	if (!one.culprit.empty()) {
		Cause &cause = causes.emplace_back();
		cause.name = one.culprit;
		cause.kind = one.kind;
		cause.layer = one.layer;
		cause.growth_ns = static_cast<double>(ns);
		cause.is_own_thread = one.culprit == "recvUC" || one.culprit == "worker";
	}
	model::Cell cell = socket_cell(model::Pattern::PingPong);
	cell.idle_states = one.idle_states;
	cell.wait = one.wait;
	for (size_t side = 0; side < 2; ++side)
		cell.graph.sides[side].cpu = one.cpus[side];
	return remedies_of({difference, causes, cell});
}

class RemedyOf : public testing::TestWithParam<RemedyCase> {};

TEST_P(RemedyOf, IsWhatTheDataShow)
{
	const RemedyCase &one = GetParam();
	const std::vector<Remedy> remedies = remedies_for(one);
	if (one.cause.empty()) {
		EXPECT_TRUE(remedies.empty()) << remedies.front().cause;
		return;
	}
	ASSERT_EQ(remedies.size(), 1u);
	EXPECT_EQ(remedies[0].cause, one.cause);
	EXPECT_DOUBLE_EQ(remedies[0].share, 0.5);
	const bool costs_more = one.cause == "spurious_wakeup"; // than its layers have
	EXPECT_TRUE(remedies_for(one, costs_more ? 390 : 1900).empty()) << "so little isn't worth it";
	EXPECT_FALSE(remedies_for(one, costs_more ? 410 : 2100).empty());
	EXPECT_TRUE(remedies_for(one, -10'000).empty()) << "B has it";
}

INSTANTIATE_TEST_SUITE_P(
	Causes, RemedyOf,
	testing::Values(
		RemedyCase{"", Layer::SenderKernel}, //
		RemedyCase{"tick", Layer::Interrupt, Part::None, "timer interrupt", Kind::Interrupt},
		RemedyCase{"tick", Layer::Runqueue, Part::None, "SCHED softirq", Kind::Interrupt},
		RemedyCase{"deep_idle", Layer::Runqueue, Part::IdleExit, "idle CPU", Kind::IdleCpu, model::IdleStates::Own},
		RemedyCase{"deep_idle", Layer::Runqueue, Part::None, "idle CPU", Kind::IdleCpu, model::IdleStates::Own},
		RemedyCase{"deep_idle", Layer::Wakeup, Part::IdleExit, "", Kind::IdleCpu, model::IdleStates::Own},
		RemedyCase{"", Layer::Runqueue, Part::IdleExit, "idle CPU", Kind::IdleCpu, model::IdleStates::Held},
		RemedyCase{"task", Layer::Preempted, Part::None, "python3"},
		RemedyCase{"task", Layer::Runqueue, Part::None, "timer interrupt"}, // a task may have any name
		RemedyCase{"own_thread", Layer::Runqueue, Part::None, "recvUC"},
		RemedyCase{"shared_cpu", Layer::Runqueue, Part::None, "worker", Kind::Task, model::IdleStates::Held, {1, 1}},
		RemedyCase{"device_interrupt", Layer::Interrupt, Part::None, "interrupt 24", Kind::Interrupt},
		RemedyCase{"softirq", Layer::Interrupt, Part::None, "NET_RX softirq", Kind::Interrupt},
		RemedyCase{"throttled", Layer::Runqueue, Part::None, "throttled", Kind::Throttled},
		RemedyCase{"", Layer::Runqueue, Part::None, "unknown", Kind::Unknown},
		RemedyCase{"nagle", Layer::Network, Part::Held}, RemedyCase{"full_queue", Layer::Blocked, Part::Backpressure},
		RemedyCase{"busy_receiver", Layer::Queue, Part::Busy},
		RemedyCase{"spurious_wakeup", Layer::Wakeup, Part::Spurious},
		RemedyCase{"spurious_wakeup", Layer::ReceiverKernel, Part::Spurious},
		RemedyCase{"page_fault", Layer::Blocked, Part::Fault}, RemedyCase{"lock", Layer::Blocked, Part::Lock},
		RemedyCase{"waking", Layer::Wakeup, Part::None}, RemedyCase{"waking", Layer::Wakeup, Part::Ipi},
		RemedyCase{"", Layer::Wakeup, Part::None, "", Kind::None, model::IdleStates::Held, {0, 1}, model::Wait::Poll}),
	[](const auto &each) { return std::to_string(each.index); });

TEST(Remedies, DontAdviseTheWaitThatTheCellHas)
{
	RemedyCase one{"own_thread", Layer::Runqueue, Part::None, "recvUC"};
	EXPECT_NE(remedies_for(one).at(0).advice.find("-w callback"), std::string::npos);
	one.wait = model::Wait::Callback;
	EXPECT_EQ(remedies_for(one).at(0).advice.find("-w callback"), std::string::npos);
}

TEST(Remedies, HaveTheGreatestFirst)
{
	Difference difference;
	for (const auto &[layer, part, ns] :
		 {std::tuple{Layer::Network, Part::Held, 3000u}, {Layer::Queue, Part::Busy, 7000u}}) {
		DifferenceRow row{layer, part, path::Role::Receiver, 0, {}, {}};
		row.of.a_ns = ns;
		difference.kinds.push_back({analysis::kind_of(layer, part, false), {row}, row.of});
		difference.of.a_ns += ns;
	}
	const std::vector<Remedy> remedies = remedies_of({difference, {}, socket_cell(model::Pattern::OneWay)});
	ASSERT_EQ(remedies.size(), 2u);
	EXPECT_EQ(remedies[0].cause, "busy_receiver");
	text::Page page({false, true}, 100);
	text::add_next(page, steps_of(remedies, "it", true));
	EXPECT_TRUE(page.take().starts_with("next      70.0 % of it: the receiver was busy"));
}

} // namespace
} // namespace icepath::explain
