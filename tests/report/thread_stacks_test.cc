// SPDX-License-Identifier: Apache-2.0
// What threads do all the time, of the known way in synthetic_run.h: what is expected is computed from that by hand.
#include "profiler/analysis/analyse.h"
#include "profiler/analysis/thread_stacks.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "profiler/analysis/flamegraph.h"
#include "profiler/exports/export.h"
#include "profiler/failure.h"
#include "profiler/report/report.h"
#include "profiler/rundir/container.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::report {
namespace {

// The span begins with the first counted message's send: the receiver sleeps until it is woken 2500 ns later. It goes
// to sleep again 200 ns after each recv, 2800 ns before the next send.
constexpr double kMessages = 100, kAsleepNs = (2500 + 99 * (2800 + 2500.0)) / kMessages;

class ThreadStacksTest : public testing::Test {
protected:
	// A oneway cell with three blocks without probes, three with them and, whose messages take 2 µs longer, three with
	// stacks.
	std::string write(bool stacks)
	{
		model::Head head = small_head();
		head.cells.erase(head.cells.begin());
		const std::string run = temporary.path(stacks ? "stacks" : "plain");
		rundir::Writer writer(run, head);
		for (uint32_t round = 0; round < 9; ++round) {
			const bool is_slow = round % 3 == 2;
			BlockPlan plan;
			plan.round = round;
			plan.probed = round % 3 > 0;
			plan.messages = static_cast<uint64_t>(kMessages);
			plan.delay_ns = [&](uint64_t, size_t) -> uint64_t { return is_slow ? 2000 : 0; };
			const model::Block block = make_block(head.cells[0], plan);
			if (!is_slow || stacks)
				writer.add(is_slow ? with_sleep_stacks(with_samples(block)) : block);
		}
		writer.finish({"2026-01-02T03:04:15Z", false, 9, {}});
		return run;
	}
	static std::string folded_kind(const std::string &run, analysis::FlameKind kind)
	{
		FlameWishes wishes;
		wishes.kind = kind;
		return folded_of(run, wishes);
	}

	rundir::TemporaryDirectory temporary;
};

uint64_t weight_of(const std::string &folded, const std::string &stack)
{
	const size_t at = folded.find(stack + " ");
	return at == std::string::npos ? 0 : std::stoull(folded.substr(at + stack.size() + 1));
}

constexpr const char *kSlept = "uds-stream;64 B oneway block;receiver;";

TEST_F(ThreadStacksTest, SleepsAreThoseOfBlocksWithoutStacks)
{
	const analysis::RunResult result = analysis::analyse(write(true), {.tail = {}, .message = {}, .threads = true});
	const std::vector<analysis::ThreadRow> asleep = result.cells[0].threads.asleep();
	ASSERT_EQ(asleep.size(), 1u) << "the sender never sleeps";
	EXPECT_EQ(asleep[0].thread, "receiver");
	EXPECT_NEAR(asleep[0].mean_ns, kAsleepNs, 1e-6);
	EXPECT_NEAR(static_cast<double>(asleep[0].total_ns), 3 * kMessages * kAsleepNs, 1e-6);
	EXPECT_NEAR(result.cells[0].threads.woken()[0].mean_ns, kAsleepNs, 1e-6);
}

TEST_F(ThreadStacksTest, AThreadRunsWhereItIsNotOffItsCpu)
{
	const analysis::RunResult result = analysis::analyse(write(true), {.tail = {}, .message = {}, .threads = true});
	const std::vector<analysis::ThreadRow> running = result.cells[0].threads.running();
	ASSERT_EQ(running.size(), 2u);
	EXPECT_EQ(running[0].thread, "receiver");
	// From its switch-in to its next sleep; of the last message to its recv.
	EXPECT_NEAR(running[0].mean_ns, (99 * 1500 + 1300) / kMessages, 1e-6);
	EXPECT_EQ(running[1].thread, "sender");
	EXPECT_NEAR(running[1].mean_ns, (99 * 8300 + 5300) / kMessages, 1e-6);
}

TEST_F(ThreadStacksTest, SwitchOutStacksDivideTheSleepsAndLackTheProbe)
{
	const std::string folded = folded_kind(write(true), analysis::FlameKind::OffCpu);
	const uint64_t in_read =
		weight_of(folded, std::string(kSlept) + "app!main;libc.so.6!recv;unix_stream_read_generic;schedule");
	const uint64_t in_fault = weight_of(folded, std::string(kSlept) + "app!main;exc_page_fault;schedule");
	EXPECT_NEAR(static_cast<double>(in_read + in_fault), 3 * kMessages * kAsleepNs, 2) << folded;
	EXPECT_NEAR(static_cast<double>(in_fault) / static_cast<double>(in_read + in_fault), 1.0 / 3, 0.01) << folded;
	EXPECT_EQ(folded.find("bpf_"), std::string::npos) << folded;
	EXPECT_EQ(folded.find("[kernel]"), std::string::npos) << folded;
}

TEST_F(ThreadStacksTest, WakersAreNamedAboveTheirStacks)
{
	const std::string folded = folded_kind(write(true), analysis::FlameKind::Wakeup);
	EXPECT_NEAR(static_cast<double>(weight_of(folded, std::string(kSlept) + "sender;app!main;libc.so.6!send;"
																			"sock_sendmsg;try_to_wake_up")),
				3 * kMessages * kAsleepNs, 2)
		<< folded;
}

// A quarter of each message's first samples is in kmalloc, a half of all had interrupts off.
TEST_F(ThreadStacksTest, SamplesDivideTheRunningTime)
{
	const std::string folded = folded_kind(write(true), analysis::FlameKind::OnCpu);
	const std::string sender = "uds-stream;64 B oneway block;sender;entry_SYSCALL_64;sock_sendmsg;";
	const double all_ns = 3.0 * (99 * 8300 + 5300);
	EXPECT_NEAR(static_cast<double>(weight_of(folded, sender + "kmalloc")), all_ns / 8, all_ns / 200) << folded;
	EXPECT_NEAR(static_cast<double>(weight_of(folded, sender + "unlock")), all_ns / 2, all_ns / 200) << folded;
	EXPECT_GT(weight_of(folded, "uds-stream;64 B oneway block;receiver;library.so!take"), 0u) << folded;
}

TEST_F(ThreadStacksTest, ARunWithoutStacksHasNoSuchGraph)
{
	const std::string run = write(false);
	for (const analysis::FlameKind kind :
		 {analysis::FlameKind::OnCpu, analysis::FlameKind::OffCpu, analysis::FlameKind::Wakeup})
		EXPECT_THROW(folded_kind(run, kind), Failure);
	EXPECT_NE(folded_kind(run, analysis::FlameKind::Path), "");
}

TEST_F(ThreadStacksTest, FilesAreNamedAfterTheKind)
{
	const std::string run = write(true);
	FlameWishes wishes;
	wishes.kind = analysis::FlameKind::OffCpu;
	EXPECT_EQ(write_flamegraph(run, wishes, {}), run + "/offcpu.svg");
	EXPECT_NE(rundir::file_bytes(run + "/offcpu.svg").find("with which they went to sleep"), std::string::npos);
	EXPECT_NE(rundir::file_bytes(run + "/offcpu.folded"), "");
	const auto paths = exports::export_run(run, {exports::ExportFormat::Speedscope, exports::ExportFormat::Firefox}, "",
										   exports::made_folder, analysis::FlameKind::Wakeup);
	EXPECT_EQ(paths, (std::vector<std::string>{run + "/wakeup.speedscope.json", run + "/wakeup.firefox-profile.json"}));
	const auto file = nlohmann::json::parse(rundir::file_bytes(paths[0]));
	EXPECT_NEAR(file["profiles"][0]["endValue"].get<double>(), kAsleepNs, 1e-3);
	EXPECT_THROW(
		exports::export_run(run, {exports::ExportFormat::Csv}, "", exports::made_folder, analysis::FlameKind::Wakeup),
		Failure);
}

TEST_F(ThreadStacksTest, ComparesTwoRuns)
{
	FlameWishes wishes;
	wishes.kind = analysis::FlameKind::OffCpu;
	wishes.other = write(true);
	const std::string svg =
		rundir::file_bytes(write_flamegraph(wishes.other, wishes, place_of_flames(temporary.path("other"))));
	EXPECT_NE(svg.find("receiver: 0 ns a message: "), std::string::npos) << svg.substr(0, 4000);
}

TEST(LeaveOutProbe, TakesOffTheEndAlone)
{
	std::vector<std::string> functions = {"bpf_trampoline_1",           "schedule",
										  "__traceiter_sched_switch",   "bpf_trace_run4",
										  "bpf_prog_1_on_sched_switch", analysis::kNamelessKernel};
	analysis::leave_out_probe(functions);
	EXPECT_EQ(functions, (std::vector<std::string>{"bpf_trampoline_1", "schedule"}));
	functions = {"bpf_trace_run4"};
	analysis::leave_out_probe(functions);
	EXPECT_TRUE(functions.empty());
}

} // namespace
} // namespace icepath::report
