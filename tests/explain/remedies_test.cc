// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/layer_style.h"
#include "profiler/explain/difference.h"
#include "profiler/explain/growth_causes.h"
#include "profiler/explain/remedies.h"
#include "profiler/text/cause_lines.h"
#include "profiler/text/remedy_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ebpf/contexts.h"
#include "icepath/plugin.h"
#include "tests/report/synthetic_run.h"

namespace icepath::explain {
namespace {

using model::Layer;
using model::Mechanism;
using model::Part;
using model::Wait;

// Where 10 µs of a difference of 20 µs are.
struct RemedyCase {
	std::string cause; // that is expected; empty: none
	Layer layer = Layer::SenderKernel;
	Part part = Part::None;
	std::string culprit = {}; // empty: no cause
	analysis::Origin origin = analysis::Origin::OthersTask;
	bool ended_sleep = false;
	model::IdleStates idle_states = model::IdleStates::Held;
	std::array<uint32_t, 2> cpus = {0, 1};
	Wait wait = Wait::Block;
	model::Mechanisms mechanisms = {Mechanism::Socket, Mechanism::ByteStream}; // a UNIX stream
	std::optional<model::Offers> offers =
		model::Offers{{Wait::Block, Wait::Poll, Wait::Epoll}, 1u << ICEPATH_QOS_DEPTH, false};
	std::optional<bool> nohz_full = true;
	bool told = true; // from zero
	analysis::Owner owner = analysis::Owner::Library;
	std::optional<uint64_t> cpus_online = 4;
	bool no_delay = false;
	double of_probes_ns = 0;
	std::optional<bool> fifo = {}, fifo_of_middleware = {};
	uint64_t fifo_priority = 0;
	std::optional<uint32_t> vector = {}; // of a softirq
	const char *kind = model::kTransport;
	std::string other_target = "other"; // of the run's other cell
};

void PrintTo(const RemedyCase &one, std::ostream *out) { *out << one.cause << one.culprit; }

std::vector<Remedy> remedies_for(const RemedyCase &one, int64_t ns = 10'000)
{
	Difference difference;
	const auto interval = [&](int64_t of) -> stats::Interval {
		const double half = std::abs(static_cast<double>(of)) * (one.told ? 0.1 : 1.1);
		return {static_cast<double>(of) - half, static_cast<double>(of) + half};
	};
	const auto add = [&](Layer layer, Part part, int64_t more) {
		DifferenceRow row{layer, part, path::Role::Receiver, 0, {}, {}};
		(more > 0 ? row.of.a_ns : row.of.b_ns) = static_cast<uint64_t>(std::abs(more));
		row.of.interval = interval(more);
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
		cause.interrupt = one.culprit.ends_with("softirq")        ? ICEPATH_INTERRUPT_SOFTIRQ
						  : one.culprit.starts_with("interrupt ") ? ICEPATH_INTERRUPT_DEVICE
																  : ICEPATH_INTERRUPT_TIMER;
		cause.owner = one.owner;
		cause.vector = one.vector.value_or(one.culprit.starts_with("HRTIMER") ? 8 : 3);
		cause.origin = one.origin;
		cause.ended_sleep = one.ended_sleep;
		cause.layer = one.layer;
		cause.growth_ns = static_cast<double>(ns);
		cause.growth_interval = interval(ns);
		cause.more_often = stats::Interval{0.1, 0.2};
	}
	model::Cell cell = socket_cell(model::Pattern::PingPong);
	cell.idle_states = one.idle_states;
	cell.wait = one.wait;
	cell.mechanisms = one.mechanisms;
	cell.offers = one.offers;
	cell.kind = one.kind;
	cell.levels.fifo_priority = one.fifo_priority;
	for (size_t side = 0; side < 2; ++side)
		cell.graph.sides[side].cpu = one.cpus[side];
	model::Head head = small_head();
	head.host.nohz_full = one.nohz_full;
	head.host.cpus_online = one.cpus_online;
	head.host.fifo = one.fifo;
	head.host.fifo_of_middleware = one.fifo_of_middleware;
	head.cells = {cell, cell};
	head.cells[1].target = one.other_target;
	head.cells[1].arm = "other";
	return remedies_of({.difference = difference,
						.causes = causes,
						.cell = cell,
						.head = head,
						.no_delay = one.no_delay,
						.of_probes_ns = one.of_probes_ns});
}

std::string advice_for(const RemedyCase &one)
{
	const std::vector<Remedy> remedies = remedies_for(one);
	model::Cell cell = socket_cell(model::Pattern::PingPong);
	cell.mechanisms = one.mechanisms;
	return remedies.empty() ? "" : text::advice(remedies[0], cell);
}

bool says(const RemedyCase &one, std::string_view what) { return advice_for(one).find(what) != std::string::npos; }

class RemedyOf : public testing::TestWithParam<RemedyCase> {};

TEST_P(RemedyOf, IsWhatTheDataShow)
{
	RemedyCase one = GetParam();
	const std::vector<Remedy> remedies = remedies_for(one);
	if (one.cause.empty()) {
		EXPECT_TRUE(remedies.empty()) << name_of(remedies.front().id);
		return;
	}
	ASSERT_EQ(remedies.size(), 1u);
	EXPECT_EQ(name_of(remedies[0].id), one.cause);
	EXPECT_DOUBLE_EQ(remedies[0].share, 0.5);
	const bool costs_more = one.cause == "spurious_wakeup"; // than its layers have
	EXPECT_TRUE(remedies_for(one, costs_more ? 390 : 1900).empty()) << "so little isn't worth it";
	EXPECT_FALSE(remedies_for(one, costs_more ? 410 : 2100).empty());
	EXPECT_TRUE(remedies_for(one, -10'000).empty()) << "B has it";
	one.told = false;
	EXPECT_TRUE(remedies_for(one).empty()) << "it may be chance";
}

constexpr auto kOwnIdle = model::IdleStates::Own;

INSTANTIATE_TEST_SUITE_P(
	Causes, RemedyOf,
	testing::Values(
		RemedyCase{"", Layer::SenderKernel}, RemedyCase{"own_code", Layer::ReceiverUser},
		RemedyCase{"own_code", Layer::RelayUser},
		RemedyCase{"tick", Layer::Interrupt, Part::None, "timer interrupt", analysis::Origin::Tick},
		RemedyCase{"tick", Layer::Runqueue, Part::None, "SCHED softirq", analysis::Origin::Tick},
		RemedyCase{"own_timer", Layer::Blocked, Part::Timer, "reader's own timer", analysis::Origin::OwnTimer, true},
		RemedyCase{"own_timer", Layer::Interrupt, Part::None, "HRTIMER softirq", analysis::Origin::OwnTimer},
		RemedyCase{"", Layer::Interrupt, Part::None, "HRTIMER softirq", analysis::Origin::OthersInterrupt},
		RemedyCase{"deep_idle", Layer::Runqueue, Part::IdleExit, "idle CPU", analysis::Origin::IdleCpu, false,
				   kOwnIdle},
		RemedyCase{"deep_idle", Layer::Runqueue, Part::None, "idle CPU", analysis::Origin::IdleCpu, false, kOwnIdle},
		RemedyCase{"deep_idle", Layer::Wakeup, Part::IdleExit, "", analysis::Origin::IdleCpu, false, kOwnIdle},
		RemedyCase{"", Layer::Runqueue, Part::IdleExit, "idle CPU", analysis::Origin::IdleCpu},
		RemedyCase{"task", Layer::Preempted, Part::None, "python3"},
		RemedyCase{"", Layer::Blocked, Part::None, "python3", analysis::Origin::OthersTask, true}, // it woke the thread
		RemedyCase{"own_thread", Layer::Runqueue, Part::None, "recvUC", analysis::Origin::OwnThread},
		RemedyCase{"other_target", Layer::Runqueue, Part::None, "nng/ipc's nng:task", analysis::Origin::OtherTarget},
		RemedyCase{"shared_cpu",
				   Layer::Runqueue,
				   Part::None,
				   "worker",
				   analysis::Origin::OwnThread,
				   false,
				   model::IdleStates::Held,
				   {1, 1}},
		RemedyCase{"device_interrupt", Layer::Interrupt, Part::None, "interrupt 24", analysis::Origin::OthersInterrupt},
		RemedyCase{"softirq", Layer::Interrupt, Part::None, "NET_RX softirq", analysis::Origin::OthersInterrupt},
		RemedyCase{"", Layer::Interrupt, Part::Softirq, "NET_RX softirq", analysis::Origin::OwnWork},
		RemedyCase{"", Layer::Blocked, Part::None, "NET_RX softirq", analysis::Origin::OthersInterrupt, true},
		RemedyCase{"throttled", Layer::Runqueue, Part::None, "throttled", analysis::Origin::Limit},
		RemedyCase{"", Layer::Runqueue, Part::None, "unknown", analysis::Origin::Unknown},
		RemedyCase{"nagle", Layer::Network, Part::Held}, RemedyCase{"full_queue", Layer::Blocked, Part::Backpressure},
		RemedyCase{"busy_receiver", Layer::Queue, Part::Busy},
		RemedyCase{"spurious_wakeup", Layer::Wakeup, Part::Spurious},
		RemedyCase{"spurious_wakeup", Layer::ReceiverKernel, Part::Spurious},
		RemedyCase{"", Layer::Runqueue, Part::Spurious}, // whoever had the CPU
		RemedyCase{"page_fault", Layer::Blocked, Part::Fault}, RemedyCase{"lock", Layer::Blocked, Part::Lock},
		RemedyCase{"waking", Layer::Wakeup, Part::None}, RemedyCase{"waking", Layer::Wakeup, Part::Ipi}),
	[](const auto &each) { return std::to_string(each.index); });

TEST(Remedies, OfTheTickAreThoseOfTheKernel)
{
	RemedyCase one{"tick", Layer::Interrupt, Part::None, "timer interrupt", analysis::Origin::Tick};
	EXPECT_TRUE(says(one, "nohz_full="));
	one.nohz_full = false;
	EXPECT_EQ(advice_for(one), "") << "this kernel has no such parameter";
	one.nohz_full.reset();
	EXPECT_EQ(advice_for(one), "") << "a run of an older version doesn't tell";
}

constexpr model::Mechanisms kTcp = {Mechanism::Socket, Mechanism::ByteStream, Mechanism::NetworkDevice};
constexpr model::Mechanisms kLibrary = {Mechanism::LibraryCalls, Mechanism::LibraryThreads};

TEST(Remedies, OfSpuriousWakingsAreForUnixStreams)
{
	RemedyCase one{"spurious_wakeup", Layer::Wakeup, Part::Spurious};
	EXPECT_TRUE(says(one, "-w epoll"));
	one.wait = Wait::Epoll;
	EXPECT_FALSE(says(one, "-w epoll"));
	for (const model::Mechanisms other : {kTcp, kLibrary, model::Mechanisms{Mechanism::MessageQueue}}) {
		one.mechanisms = other;
		EXPECT_EQ(advice_for(one), "");
	}
}

TEST(Remedies, OfAFullQueueAreThoseThatTheTargetHas)
{
	RemedyCase one{"full_queue", Layer::Blocked, Part::Backpressure};
	one.offers->qos = 0;
	EXPECT_TRUE(says(one, "SO_SNDBUF") && says(one, "wmem_default"));
	EXPECT_FALSE(says(one, "depth=") || says(one, "--rate")) << "a ping-pong has no rate";
	one.mechanisms = kTcp;
	EXPECT_TRUE(says(one, "tcp_wmem"));
	EXPECT_FALSE(says(one, "wmem_default"));
	one.mechanisms = kLibrary;
	EXPECT_FALSE(says(one, "SO_SNDBUF") || says(one, "tcp_wmem") || says(one, "depth="));
	one.offers->qos = 1u << ICEPATH_QOS_DEPTH;
	EXPECT_TRUE(says(one, "depth="));
	one.offers.reset();
	EXPECT_FALSE(says(one, "depth=")) << "a run of an older version doesn't tell";
}

TEST(Remedies, OfWakingsAreTheWaitsThatTheTargetHas)
{
	RemedyCase one{"waking", Layer::Wakeup};
	EXPECT_TRUE(says(one, "-w poll"));
	EXPECT_FALSE(says(one, "-w spin"));
	one.offers->waits = {Wait::Block, Wait::Spin};
	EXPECT_TRUE(says(one, "-w spin"));
	EXPECT_FALSE(says(one, "-w poll"));
	one.offers->waits = {Wait::Block, Wait::Callback};
	EXPECT_EQ(advice_for(one), "");
	one = {"waking", Layer::Wakeup};
	one.wait = Wait::Poll;
	EXPECT_EQ(advice_for(one), "");
}

TEST(Remedies, OfItsOwnThreadsAreThoseThatTheTargetHas)
{
	RemedyCase one{"own_thread", Layer::Runqueue, Part::None, "nng:task", analysis::Origin::OwnThread};
	one.mechanisms = kLibrary;
	EXPECT_TRUE(says(one, "nng:task") && says(one, "--free-library-threads"));
	EXPECT_FALSE(says(one, "-w callback") || says(one, "--daemon-cpus") || says(one, "--isolate"));
	one.offers->waits.add(Wait::Callback);
	EXPECT_TRUE(says(one, "-w callback"));
	one.wait = Wait::Callback;
	EXPECT_FALSE(says(one, "-w callback")) << "the cell has it";
	one.owner = analysis::Owner::Daemon;
	EXPECT_TRUE(says(one, "--daemon-cpus"));
	EXPECT_FALSE(says(one, "--free-library-threads")) << "it isn't one of these";
	one.owner = analysis::Owner::Kernel;
	EXPECT_FALSE(says(one, "--daemon-cpus") || says(one, "--free-library-threads"));
	EXPECT_TRUE(says(one, "--stacks"));
}

TEST(Remedies, OfTwoCpusNameNoOthers)
{
	RemedyCase one{"task", Layer::Runqueue, Part::None, "hog"};
	EXPECT_TRUE(says(one, "--cpus") && says(one, "--isolate full"));
	one.cpus_online = 2;
	EXPECT_EQ(advice_for(one), "tasks on these CPUs (hog): measure while they don't run");
	one.cpus_online.reset();
	EXPECT_TRUE(says(one, "--cpus")) << "a run of an older version doesn't tell";
	one = {"own_thread", Layer::Runqueue, Part::None, "nng:task", analysis::Origin::OwnThread};
	one.mechanisms = kLibrary;
	EXPECT_TRUE(says(one, "--free-library-threads"));
	one.cpus_online = 2;
	EXPECT_FALSE(says(one, "--free-library-threads"));
	one = {"softirq", Layer::Interrupt, Part::None, "NET_RX softirq", analysis::Origin::OthersInterrupt};
	EXPECT_TRUE(says(one, "smp_affinity_list"));
	one.cpus_online = 2;
	EXPECT_EQ(advice_for(one), "") << "there is no CPU to send them to";
}

TEST(Remedies, OfTasksAreFifoWhereSidesMayRunByIt)
{
	RemedyCase one{"task", Layer::Runqueue, Part::None, "hog"};
	EXPECT_FALSE(says(one, "--sched fifo")) << "a run of an older version doesn't tell";
	one.fifo = true;
	EXPECT_TRUE(says(one, "--sched fifo"));
	one.cpus_online = 2;
	EXPECT_TRUE(says(one, "--sched fifo")) << "it takes no other CPUs";
	one.kind = model::kAdapter;
	EXPECT_FALSE(says(one, "--sched fifo"));
	one.fifo_of_middleware = true;
	EXPECT_TRUE(says(one, "--sched fifo"));
	one.fifo_priority = 1;
	EXPECT_FALSE(says(one, "--sched fifo")) << "they do";
	one.fifo_priority = 0;
	one.cpus = {1, 1};
	EXPECT_TRUE(says(one, "--sched fifo"));
	one.wait = Wait::Spin;
	EXPECT_FALSE(says(one, "--sched fifo")) << "sides that never sleep don't take turns";
	one = {"other_target", Layer::Runqueue, Part::None, "other", analysis::Origin::OtherTarget};
	one.fifo = true;
	EXPECT_FALSE(says(one, "--sched fifo")) << "they would have it as well";
	EXPECT_TRUE(says(one, "measure it without them (-t " + socket_cell(model::Pattern::PingPong).target + ")"));
	one.other_target = socket_cell(model::Pattern::PingPong).target;
	EXPECT_EQ(advice_for(one), "") << "another arm of this target, which -t doesn't leave out";
}

TEST(Remedies, OfTimersAreNotThoseOfDevices)
{
	for (const uint32_t vector : {1u, 8u}) { // TIMER, HRTIMER
		RemedyCase one{"softirq", Layer::Interrupt, Part::None, "NET_RX softirq", analysis::Origin::OthersInterrupt};
		EXPECT_TRUE(says(one, "smp_affinity_list"));
		one.vector = vector;
		EXPECT_EQ(advice_for(one), "") << vector;
	}
}

TEST(Remedies, OfWhatTcpHoldsDependOnItsSockets)
{
	RemedyCase one{"nagle", Layer::Network, Part::Held};
	one.mechanisms = kTcp;
	EXPECT_TRUE(says(one, "set TCP_NODELAY"));
	one.no_delay = true;
	EXPECT_FALSE(says(one, "TCP_NODELAY")) << "they have it";
	EXPECT_TRUE(says(one, "tcp_congestion_control"));
}

TEST(Remedies, BlameNoCodeForWhatProbesMayAdd)
{
	RemedyCase one{"own_code", Layer::ReceiverUser};
	one.of_probes_ns = 9'999;
	EXPECT_EQ(remedies_for(one).size(), 1u);
	one.of_probes_ns = 10'000;
	EXPECT_TRUE(remedies_for(one).empty());
}

// What is told of tasks together isn't told of the only one that is told by itself.
TEST(Remedies, NameNoTaskForWhatOthersTook)
{
	Difference difference;
	DifferenceRow row{Layer::Runqueue, Part::None, path::Role::Receiver, 0, {}, {}};
	row.of.a_ns = 10'000;
	row.of.interval = stats::Interval{9'000, 11'000};
	difference.kinds.push_back({analysis::kind_of(row.layer, row.part, false), {row}, row.of});
	difference.of = row.of;
	Cause small, large;
	small.name = "small";
	large.name = "large";
	small.origin = large.origin = analysis::Origin::OthersTask;
	small.growth_ns = 100;
	small.growth_interval = stats::Interval{90, 110};
	small.more_often = stats::Interval{0.1, 0.2};
	large.growth_ns = 9'000;
	large.is_of_told_kind = true;
	const auto named = [&] {
		const model::Head head = small_head();
		const std::vector<Cause> causes = {large, small};
		return remedies_of(Symptoms{difference, causes, socket_cell(model::Pattern::PingPong), head}).at(0).of;
	};
	EXPECT_EQ(named().names, (std::vector<std::string>{"large", "small"}));
	EXPECT_FALSE(named().told);
	EXPECT_EQ(named().told_names, (std::vector<std::string>{"small"}));
	small.growth_ns = 8'999; // just less than half of it
	EXPECT_FALSE(named().told);
	small.growth_ns = 9'000;
	EXPECT_EQ(named().names, (std::vector<std::string>{"small"}));
	EXPECT_TRUE(named().told);
	EXPECT_TRUE(named().told_names.empty());
}

TEST(Remedies, PointToTheCellOfTheRunThatIsFifo)
{
	Difference difference;
	difference.of.a_ns = 10'000;
	Cause hog;
	hog.name = "hog";
	hog.origin = analysis::Origin::OthersTask;
	hog.growth_ns = 9'000;
	hog.is_of_told_kind = true;
	const std::vector<Cause> causes = {hog};
	model::Head head = small_head();
	head.host.fifo = true;
	const model::Cell cell = socket_cell(model::Pattern::PingPong);
	const auto has = [&](Way way) {
		const std::vector<Way> ways = remedies_of(Symptoms{difference, causes, cell, head}).at(0).ways;
		return std::ranges::find(ways, way) != ways.end();
	};
	head.cells = {cell};
	EXPECT_TRUE(has(Way::RunFifo));
	EXPECT_FALSE(has(Way::ReadFifo));
	head.cells.push_back(socket_cell(model::Pattern::OneWay));
	head.cells.back().levels.fifo_priority = 1;
	EXPECT_FALSE(has(Way::ReadFifo)) << "of another pattern";
	head.cells.push_back(cell);
	head.cells.back().levels.fifo_priority = 1;
	EXPECT_TRUE(has(Way::ReadFifo));
	EXPECT_FALSE(has(Way::RunFifo));
}

TEST(Remedies, HaveTheGreatestFirst)
{
	Difference difference;
	for (const auto &[layer, part, ns] :
		 {std::tuple{Layer::Network, Part::Held, 3000u}, {Layer::Queue, Part::Busy, 7000u}}) {
		DifferenceRow row{layer, part, path::Role::Receiver, 0, {}, {}};
		row.of.a_ns = ns;
		row.of.interval = stats::Interval{ns - 1.0, ns + 1.0};
		difference.kinds.push_back({analysis::kind_of(layer, part, false), {row}, row.of});
		difference.of.a_ns += ns;
	}
	const model::Head head = small_head();
	const std::vector<Remedy> remedies =
		remedies_of(Symptoms{difference, {}, socket_cell(model::Pattern::OneWay), head});
	ASSERT_EQ(remedies.size(), 2u);
	EXPECT_EQ(remedies[0].id, RemedyId::BusyReceiver);
	text::Page page({false, true}, 100);
	text::add_next(page, text::steps_of(remedies, socket_cell(model::Pattern::OneWay), "it", true));
	EXPECT_TRUE(page.take().starts_with("next      70.0 % of it: the receiver was busy"));
}

} // namespace
} // namespace icepath::explain
