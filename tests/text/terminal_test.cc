// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/analyse.h"
#include "profiler/text/terminal.h"
#include "profiler/text/time_scale.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>

#include "icepath/plugin.h"
#include "profiler/pages/html_report.h"
#include "profiler/rundir/container.h"
#include "profiler/text/columns.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/example_run.h"

namespace icepath::text {
namespace {

class TerminalTest : public testing::Test {
protected:
	rundir::TemporaryDirectory temporary;
	std::string text(const Style &style)
	{
		const std::string run = temporary.path("run");
		if (!std::filesystem::exists(run))
			write_small_run(run, true, kEnoughRounds);
		return terminal_report(analysis::analyse(run), style);
	}
};

constexpr const char *kExpected = R"(
icepath 0.1.0 · 2026-01-02T03:04:05Z · icepath run -t uds-stream
box · kernel 6.1.0-18-amd64 · Model One · 2 CPUs · clock tsc · under a hypervisor
CPUs 0 and 1: two cores under one last-level cache

  The largest part of a typical message's time is kernel (41 %).

one way, µs                  p50        p99   CPU  0              1.5            3              4.5        6 µs
block, 64 B
  uds-stream pingpong  5.37 ± 1%  7.81 ± 1%  4.00  █████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓░░░░░░░░░░·················
  uds-stream oneway    5.37 ± 1%  7.81 ± 1%  8.00  █████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓░░░░░░░░░░·················
█ your code  ▓ kernel  ░ waking  · waiting for a CPU
±: half of the 95 % interval · bars: typical messages, as long as the p50

slowest   uds-stream 64 B pingpong, 386 µs: 99.0 % runqueue, CPU 0 ran kworker/1:2 (4711)            icepath explain RUN
taken by  task kworker/1:2 9.05 ms · unknown (no record) 1.08 ms · 33.0 % of messages' time
trust     partly  p50 ±1 % · p99 ±1 % · 2 cells: fewer than 3 fresh processes                                      -d 4m
          noisy   not quiet: timer tick                                                                   icepath doctor
          ok      path known of all messages · probes change the p50 of 2 of 2 cells, by up to +4 %
          ok      no message, block or record lost
more      icepath report -v RUN · icepath explain RUN · icepath flamegraph RUN
)";

TEST_F(TerminalTest, IsExactlyThis)
{
	EXPECT_EQ("\n" + text({.colour = false, .unicode = true, .width = 120}), kExpected);
}

TEST_F(TerminalTest, TheSlowestMessageHasItsWaitWhereThereAreSeveral)
{
	write_small_run(temporary.path("run"), true, kEnoughRounds);
	analysis::RunResult result = analysis::analyse(temporary.path("run"));
	result.cells[1].cell.wait = model::Wait::Poll;
	const std::string text = terminal_report(result, {.colour = false, .unicode = true, .width = 120});
	EXPECT_NE(text.find("slowest   uds-stream 64 B pingpong block, 386 µs"), std::string::npos) << text;
}

constexpr const char *kExpectedInFull = R"(
icepath 0.1.0 · 2026-01-02T03:04:05Z · icepath run -t uds-stream
box · kernel 6.1.0-18-amd64 · Model One · 2 CPUs · clock tsc · under a hypervisor
CPUs 0 and 1: two cores under one last-level cache

  The largest part of a typical message's time is kernel (41 %).

one way, µs                   p50         p99        RTT        pacing   CPU  lost         probes  0          3     6 µs
block, 64 B
  uds-stream pingpong  5.37 ±0.06  7.81 ±0.05  11.2 ±0.1             –  4.00     0  +0.200 ±0.000  ██▓▓▓▓▓▓▓▓░░░······
  uds-stream oneway    5.37 ±0.06  7.81 ±0.05          –  0.000 ±0.000  8.00     0  +0.200 ±0.000  ██▓▓▓▓▓▓▓▓░░░······
█ your code  ▓ kernel  ░ waking  · waiting for a CPU
±: half of the 95 % interval over blocks; p99's is too narrow for rare events · RTT: p50 of the round trip · pacing: p99
of intended → real send, beside the latency · bars: where the time of typical messages goes (p40 to p60), with probes;
as long as the p50 · CPU: of both sides per message · probes: what they added to the p50 · –: not measured, or too few
messages or blocks (p99.9 needs 75000 messages in 75 blocks)

trust     partly  p50 ±1 % · p99 ±1 % · 2 cells: fewer than 3 fresh processes                                      -d 4m
          noisy   not quiet: timer tick                                                                   icepath doctor
          ok      path known of all messages · probes change the p50 of 2 of 2 cells, by up to +4 %
          ok      no message, block or record lost
fit for   medians: unknown: the CPUs' noise wasn't measured (yes: < 5 %)
          ranks: unknown: the round trip between the CPUs wasn't measured (yes: < 5 %, < 1.5 times apart)
          tails: unknown: the CPUs' noise wasn't measured (yes: < 0.1 %, < 100 µs)
openings  each cell was measured in fresh processes once · intervals are over blocks of the same processes: another run
          may differ by more
kept off  workers that could have run, of their time in blocks with probes: CPU 0 3.65 ms of 42.9 ms: kworker/1:2 3.29
          ms in 1812 times, unknown 362 µs in 1812 times · CPU 1 6.54 ms of 42.9 ms: kworker/1:2 5.82 ms in 3624 times,
          unknown 725 µs in 3624 times

layers of a message: mean µs, with probes; typical: p40 to p60, tail: from p99 on
               messages  mean   sender.user  sender.kernel      wakeup     runqueue  receiver.kernel  receiver.user
uds-stream 64 B pingpong block
  all      3600 of 3600  5.71  0.200 ±0.000     1.30 ±0.00  1.00 ±0.00   1.91 ±0.30       1.00 ±0.00   0.300 ±0.000
  typical  1175 of 1175  5.55      0.200 ±?        1.30 ±?     1.00 ±?      1.75 ±?          1.00 ±?       0.300 ±?
  tail         37 of 37  18.6  0.200 ±0.000     1.30 ±0.00  1.00 ±0.00  14.8 ±>100%       1.00 ±0.00   0.300 ±0.000
uds-stream 64 B oneway block
  all      1800 of 1800  5.61  0.200 ±0.000     1.30 ±0.00  1.00 ±0.00   1.80 ±0.04       1.00 ±0.00   0.300 ±0.000
  typical    588 of 588  5.55      0.200 ±?        1.30 ±?     1.00 ±?      1.75 ±?          1.00 ±?       0.300 ±?
  tail         19 of 19  8.34  0.200 ±0.000     1.30 ±0.00  1.00 ±0.00   4.54 ±0.04       1.00 ±0.00   0.300 ±0.000

what probes added to a latency, in µs
  uds-stream 64 B pingpong block: p50 +0.200 ±0.000 · mean +0.306 ±0.294 · p99 –
  uds-stream 64 B oneway block: p50 +0.200 ±0.000 · mean +0.200 ±0.000 · p99 –

latency from when a message was due, in µs
  uds-stream 64 B oneway block: p50 5.37 ±0.06 · p99 7.81 ±0.05 · p99.9 –

worst message with a complete path: uds-stream 64 B, answer 150 of round 6, 386 µs
    layer                 thread          µs    share  known
  █ sender.user           responder    0.200    0.0 %  exact
  ▓ sender.kernel         responder    1.000    0.3 %  exact
  ▓ sender.kernel/notify  initiator    0.300    0.1 %  paired
  ░ wakeup                initiator    1.000    0.3 %  paired
  · runqueue              initiator  382.500   99.0 %  exact  <- CPU 0 ran kworker/1:2 (4711)
  ▓ receiver.kernel       initiator    1.000    0.2 %  exact
  █ receiver.user         initiator    0.300    0.1 %  exact
    sum                              386.300  100.0 %  = recv - send
  mostly runqueue: 99.0 % of it, CPU 0 ran kworker/1:2 (4711)

who took time from messages on their way
  10.1 ms in all: 10.1 ms waiting for a CPU
  task kworker/1:2     runqueue   9.05 ms, 5400 times
  unknown (no record)  runqueue   1.08 ms, 5400 times

noise     timer_tick: 250 Hz on both CPUs → interrupts of some microseconds, four a millisecond at worst · fix:
          nohz_full=1
probes    sender.kernel ← sk_data_ready (tracepoint)
          wakeup ← sched_waking (tracepoint)
          runqueue ← sched_switch (tracepoint)
          interrupt ← softirq_entry, softirq_exit (tracepoint)
)";

TEST_F(TerminalTest, InFullIsExactlyThis)
{
	EXPECT_EQ("\n" + text({.colour = false, .unicode = true, .width = 120, .verbose = true}), kExpectedInFull);
}

TEST_F(TerminalTest, IsAsciiWhereTheLocaleIsnt)
{
	const std::string ascii = text({.colour = false, .unicode = false, .width = 100});
	EXPECT_TRUE(std::ranges::all_of(ascii, [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); })) << ascii;
	EXPECT_NE(ascii.find("+/-"), std::string::npos);
	EXPECT_NE(ascii.find("k kernel"), std::string::npos) << "a legend for the letters";
}

TEST_F(TerminalTest, ColourIsAllThatColourAdds)
{
	std::string coloured = text({.colour = true, .unicode = true, .width = 120});
	EXPECT_NE(coloured.find("\033[38;5;"), std::string::npos);
	for (size_t at = coloured.find('\033'); at != std::string::npos; at = coloured.find('\033'))
		coloured.erase(at, coloured.find('m', at) + 1 - at);
	// Consecutive symbols of one layer are coloured together, so nothing else differs.
	EXPECT_EQ(coloured, text({.colour = false, .unicode = true, .width = 120}));
}

// Tables have what they have, and so has the command line.
TEST_F(TerminalTest, ParagraphsKeepToTheWidth)
{
	std::istringstream lines(text({.colour = false, .unicode = true, .width = 60, .verbose = true}));
	size_t paragraphs = 0;
	bool in_paragraph = false;
	for (std::string line; std::getline(lines, line);) {
		const std::string label = line.substr(0, line.find(' '));
		in_paragraph = in_paragraph ? line.starts_with(std::string(10, ' ')) : false;
		for (const char *one : {"openings", "kept", "noise", "probes", "±:"})
			in_paragraph = in_paragraph || label == one;
		paragraphs += in_paragraph ? 1 : 0;
		if (in_paragraph) {
			EXPECT_LE(columns(line), 60u) << line;
		}
	}
	EXPECT_GT(paragraphs, 10u);
}

TEST_F(TerminalTest, TheHeadHasThreeLinesAndACommandThatFits)
{
	const std::string run = temporary.path("long");
	write_small_run(run, true, kEnoughRounds);
	analysis::RunResult result = analysis::analyse(run);
	result.head.command_line += " " + std::string(200, 'x');
	const std::string brief = terminal_report(result, {.unicode = true, .width = 100});
	EXPECT_TRUE(brief.starts_with("icepath 0.1.0 · 2026-01-02T03:04:05Z\nbox · ")) << brief;
	EXPECT_EQ(std::ranges::count(brief.substr(0, brief.find("\n\n")), '\n'), 2);
	EXPECT_NE(terminal_report(result, {.unicode = true, .width = 100, .verbose = true}).find(result.head.command_line),
			  std::string::npos);
}

TEST_F(TerminalTest, VerboseTellsWhatTheNoiseDoesAndEachProbe)
{
	const std::string all = text({.unicode = true, .width = 400, .verbose = true});
	EXPECT_NE(
		all.find("noise     timer_tick: 250 Hz on both CPUs → interrupts of some microseconds, four a millisecond"),
		std::string::npos)
		<< all;
	EXPECT_NE(all.find(" · fix: nohz_full=1"), std::string::npos);
	EXPECT_NE(all.find("          runqueue ← sched_switch (tracepoint)\n"), std::string::npos);
	EXPECT_EQ(all.find("report -v"), std::string::npos) << "it is that already";
}

TEST_F(TerminalTest, VerboseHasTheLayersOfEachCellAsNumbers)
{
	const std::string all = text({.unicode = true, .width = 400, .verbose = true});
	EXPECT_NE(all.find("\nuds-stream 64 B pingpong block\n  all      3600 of 3600  5."), std::string::npos) << all;
	EXPECT_NE(all.find("\n  typical  1175 of 1175  5.55 "), std::string::npos) << all;
	EXPECT_NE(all.find("\n  tail         19 of 19  8.34 "), std::string::npos) << all;
	EXPECT_NE(all.find("  4.54 ±0.04  "), std::string::npos) << "the tail's runqueue" << all;
	EXPECT_NE(all.find("  1.30 ±0.00  "), std::string::npos) << "sender.kernel" << all;
	EXPECT_NE(all.find("oneway block: p50 +0.200 ±0.000 · mean +0.200 ±0.000 · p99 –"), std::string::npos) << all;
	EXPECT_NE(all.find("  uds-stream 64 B oneway block: p50 5.37 ±0.06 · p99 7.81 ±0.05 · p99.9 –"), std::string::npos)
		<< all;
}

// Messages with known paths don't represent the others.
TEST_F(TerminalTest, FewKnownWaysAreNoBarButSaySo)
{
	const std::string run = temporary.path("few");
	write_small_run(run, true, kEnoughRounds);
	analysis::RunResult result = analysis::analyse(run);
	const Style style{.unicode = true, .width = 120};
	EXPECT_EQ(terminal_report(result, style).find("% known"), std::string::npos);
	for (analysis::CellResult &cell : result.cells)
		cell.ranges.typical->messages = cell.ranges.typical->layers.deliveries() * 10 / 9;
	EXPECT_EQ(terminal_report(result, style).find("% known"), std::string::npos) << "nine of ten stand for all";
	for (analysis::CellResult &cell : result.cells)
		cell.ranges.typical->messages = cell.ranges.typical->layers.deliveries() * 50;
	const std::string few = terminal_report(result, style);
	EXPECT_NE(few.find("  2 % known\n"), std::string::npos) << few;
	EXPECT_EQ(few.find("▓▓▓"), std::string::npos);
	EXPECT_NE(few.find("% known: share of the typical messages with a known path"), std::string::npos);
}

TEST_F(TerminalTest, TheSlowestOfAllIsToldBesideTheSlowestWithAPath)
{
	const std::string run = temporary.path("slowest");
	write_small_run(run, true, kEnoughRounds);
	analysis::RunResult result = analysis::analyse(run);
	for (analysis::CellResult &cell : result.cells)
		cell.times.latency.max = 0;
	const auto printed = [&](int width) { return terminal_report(result, {.unicode = true, .width = width}); };
	EXPECT_NE(printed(160).find("slowest   uds-stream 64 B pingpong, 386 µs: 99.0 % runqueue"), std::string::npos);
	result.cells[0].times.latency.max = 7'000'000;
	EXPECT_NE(
		printed(160).find("slowest   uds-stream 64 B pingpong, 7.00 ms: in a block without probes; of those with a "
						  "known path 386 µs: 99.0 % runqueue"),
		std::string::npos)
		<< printed(160);
	EXPECT_NE(printed(60).find("pingpong, 7.00 ms: in a"), std::string::npos) << "also of a full line\n" << printed(60);
	result.cells[1].times.latency_probed.max = 8'000'000;
	EXPECT_NE(printed(200).find("oneway, 8.00 ms: its path is incomplete; of those with a known path uds-stream 64 B "
								"pingpong, 386 µs"),
			  std::string::npos)
		<< printed(200);
}

TEST_F(TerminalTest, TheSlowestMessageSaysHowMuchEachTook)
{
	const std::string run = temporary.path("shares");
	write_small_run(run, true, kEnoughRounds);
	analysis::RunResult result = analysis::analyse(run);
	path::Path &path = result.cells[0].followed.slowest.at(0).path;
	const auto longest = std::ranges::max_element(path.segments, {}, &path::Segment::duration_ns);
	const auto at = static_cast<uint32_t>(longest - path.segments.begin());
	path.shares = {{at, longest->culprit, 300'000}, {at, {path::Culprit::Kind::Task, 4712, 0}, 70'000}};
	const auto printed = [&] { return terminal_report(result, {.unicode = true, .width = 200}); };
	EXPECT_NE(printed().find("386 µs: 99.0 % runqueue, CPU 0 ran kworker/1:2 (4711) 300 µs, task 4712 70.0 µs"),
			  std::string::npos)
		<< printed();
	longest->end.provenance = path::Provenance::Inferred;
	longest->end.earliest_ns = longest->end.at_ns - 380'000;
	longest->end.latest_ns = longest->end.at_ns;
	EXPECT_NE(printed().find("386 µs: perhaps 99.0 % runqueue (inferred within 380 µs), CPU 0 ran"), std::string::npos)
		<< printed();
}

// Few messages without a known path may take much of the time, and aren't typical.
TEST_F(TerminalTest, ABarOfTypicalMessagesHasAMarkWhereOthersAreUnknown)
{
	const std::string run = temporary.path("others");
	write_small_run(run, true, kEnoughRounds);
	analysis::RunResult result = analysis::analyse(run);
	const Style style{.unicode = true, .width = 120};
	EXPECT_EQ(terminal_report(result, style).find('?'), std::string::npos);
	EXPECT_EQ(pages::html_report(result).find(">?<"), std::string::npos);
	EXPECT_EQ(pages::html_report(result).find(kDoubtReading), std::string::npos);
	result.cells[0].paths.deliveries_ns = static_cast<double>(result.cells[0].paths.layers.total_ns()) / 0.755;
	const std::string text = terminal_report(result, style);
	EXPECT_NE(text.find("▓░░░░░░░░░░·················?\n"), std::string::npos) << text;
	EXPECT_NE(text.find("· ?: the paths of these messages are known, but those of more"), std::string::npos) << text;
	EXPECT_NE(text.find("partly  path known of 75 % of the time of uds-stream 64 B pingpong · of all messages"),
			  std::string::npos)
		<< text;
	EXPECT_NE(pages::html_report(result).find(">?<"), std::string::npos);
	EXPECT_NE(pages::html_report(result).find(kDoubtReading), std::string::npos);
	result.cells[0].paths.deliveries = result.cells[0].paths.complete() * 2;
	EXPECT_NE(terminal_report(result, style).find("path known of 50 % of messages of uds-stream 64 B pingpong"),
			  std::string::npos);
}

TEST_F(TerminalTest, AnUnfinishedRunSaysSoBeforeItsTable)
{
	const std::string run = temporary.path("died");
	write_small_run(run, false);
	const std::string died = terminal_report(analysis::analyse(run), {.unicode = true});
	EXPECT_LT(died.find("partial: the run isn't finished"), died.find("nothing was measured"));
	EXPECT_EQ(died.find("partial: "), died.rfind("partial: ")) << "once";
	analysis::RunResult result = analysis::analyse(run);
	result.tail = model::Tail{"", true, 8, {}};
	EXPECT_NE(terminal_report(result, {.unicode = true}).find("partial: the run was interrupted"), std::string::npos);
}

TEST_F(TerminalTest, AnIntervalThatSaysNothingHasNoDigits)
{
	analysis::RunResult result;
	analysis::CellResult &cell = result.cells.emplace_back();
	cell.blocks.unprobed = 3;
	cell.times.latency.count = 2000;
	cell.times.latency.percentiles = {5000, 6000, 9000, std::nullopt};
	cell.times.latency.intervals[0] = stats::Interval{4900, 5100};
	cell.times.latency.intervals[2] = stats::Interval{9, 9'000'000};
	const std::string out = terminal_report(result, {.unicode = true, .verbose = true});
	EXPECT_NE(out.find("5.00 ±0.10"), std::string::npos) << out;
	EXPECT_NE(out.find("9.00 ±>100%"), std::string::npos) << out;
	EXPECT_EQ(out.find("±?"), std::string::npos);
	cell.times.latency.intervals[2] = std::nullopt;
	const std::string untold = terminal_report(result, {.unicode = true, .width = 400, .verbose = true});
	EXPECT_EQ(untold.find("9.00"), std::string::npos) << "none without its interval" << untold;
	cell.observer_effect.p50 = stats::Effect{120, 2, std::nullopt};
	const std::string unsure = terminal_report(result, {.unicode = true, .width = 400, .verbose = true});
	EXPECT_NE(unsure.find("+0.120 ±?"), std::string::npos) << unsure;
	EXPECT_NE(unsure.find("±?: too few blocks to tell"), std::string::npos) << unsure;
}

TEST_F(TerminalTest, AFarPercentileHasAColumnWhereSomeCellTellsIt)
{
	analysis::RunResult result;
	analysis::CellResult &cell = result.cells.emplace_back();
	cell.blocks.unprobed = 100;
	cell.times.latency.percentiles = {5000, 6000, 9000, std::nullopt};
	cell.times.latency.intervals = {stats::Interval{4900, 5100}, stats::Interval{5900, 6100},
									stats::Interval{8000, 10'000}};
	const Style style{.unicode = true, .width = 400, .verbose = true};
	const std::string without = terminal_report(result, style);
	EXPECT_EQ(without.find("  p99.9  "), std::string::npos) << without;
	cell.times.latency.percentiles[3] = 40'000;
	cell.times.latency.intervals[3] = stats::Interval{30'000, 60'000};
	const std::string with = terminal_report(result, style);
	EXPECT_NE(with.find("  p99.9  "), std::string::npos) << with;
	EXPECT_NE(with.find("40.0 (30.0..60.0)"), std::string::npos) << with;
	for (const std::string &text : {with, without})
		EXPECT_NE(text.find("(p99.9 needs 75000 messages in 75 blocks)"), std::string::npos) << text;
}

TEST_F(TerminalTest, TellsWhatQualityOfServiceWasGranted)
{
	analysis::RunResult result;
	for (const char *target : {"dds/a", "dds/b", "pipe"}) {
		analysis::CellResult &cell = result.cells.emplace_back();
		cell.cell.target = target;
		cell.blocks.unprobed = 3;
	}
	EXPECT_EQ(terminal_report(result, {.unicode = true, .verbose = true}).find("quality of service"),
			  std::string::npos);
	for (size_t i = 0; i < 2; i++) {
		result.cells[i].cell.granted[ICEPATH_QOS_RELIABILITY] = ICEPATH_RELIABLE;
		result.cells[i].cell.granted[ICEPATH_QOS_LIFESPAN] = 20'000'000;
	}
	model::Qos &asked = result.cells[1].cell.qos;
	asked[ICEPATH_QOS_RELIABILITY] = ICEPATH_RELIABLE;
	std::string out = terminal_report(result, {.unicode = true, .width = 200, .verbose = true});
	EXPECT_NE(out.find("  dds/a, dds/b reliable: reliable lifespan 20ms\n"), std::string::npos) << out;
	EXPECT_EQ(out.find("wasn't granted"), std::string::npos);
	asked[ICEPATH_QOS_LIFESPAN] = 10'000'000;
	result.cells[2].cell.qos[ICEPATH_QOS_DEPTH] = 4;
	out = terminal_report(result, {.unicode = true, .width = 400, .verbose = true});
	EXPECT_NE(out.find("asked for lifespan 10ms, granted lifespan 20ms"), std::string::npos) << out;
	EXPECT_NE(out.find("asked for depth 4, the library doesn't report it"), std::string::npos) << out;
}

// Cells without a file: target, pattern, size, and p50.
class TableTest : public testing::Test {
protected:
	void add(const std::string &target, model::Pattern pattern, uint64_t bytes, std::optional<uint64_t> p50_ns)
	{
		analysis::CellResult &cell = result.cells.emplace_back();
		cell.cell = socket_cell(pattern);
		cell.cell.target = target;
		cell.cell.payload_bytes = bytes;
		if (target == "null")
			cell.cell.traits = {model::Trait::NotIpc};
		cell.blocks.unprobed = 3;
		cell.times.latency.percentiles[0] = p50_ns;
	}
	std::string text() const { return terminal_report(result, {.unicode = true, .width = 200, .verbose = true}); }
	analysis::RunResult result;
};

TEST_F(TableTest, HasTheFloorInOneLineUnderIt)
{
	add("null", model::Pattern::PingPong, 64, 206);
	add("pipe", model::Pattern::PingPong, 64, 8000);
	EXPECT_NE(text().find("\nfloor     null (stamps alone): 0.206 µs at 64 B\n"), std::string::npos) << text();
	EXPECT_GT(text().find("floor"), text().find("one way, µs"));
	add("null", model::Pattern::PingPong, 4096, 1560);
	add("pipe", model::Pattern::PingPong, 4096, 9000);
	EXPECT_NE(text().find("\nfloor     null (stamps alone): 0.206 µs at 64 B, 1.56 µs at 4 KiB\n"), std::string::npos)
		<< text();
	add("null", model::Pattern::OneWay, 64, 466);
	add("pipe", model::Pattern::OneWay, 64, 40'000);
	EXPECT_NE(text().find("(stamps alone): pingpong 0.206 µs at 64 B, 1.56 µs at 4 KiB · oneway 0.466 µs at 64 B\n"),
			  std::string::npos)
		<< text();
}

TEST_F(TableTest, HasAFloorOnlyUnderWhatItLiesUnder)
{
	add("pipe", model::Pattern::PingPong, 64, 8000);
	EXPECT_EQ(text().find("floor"), std::string::npos);
	add("null", model::Pattern::PingPong, 4096, 1560); // another size
	add("null", model::Pattern::OneWay, 64, 466); // another pattern
	add("null", model::Pattern::Throughput, 64, 90'000); // its messages wait for each other
	add("pipe", model::Pattern::Throughput, 64, 90'000);
	EXPECT_EQ(text().find("floor"), std::string::npos) << text();
	add("null", model::Pattern::PingPong, 64, std::nullopt); // too few messages
	EXPECT_EQ(text().find("floor"), std::string::npos) << text();
	result.cells.back().times.latency.percentiles[0] = 206;
	result.cells.back().cell.levels.sender_user_ns = 20'000;
	EXPECT_EQ(text().find("floor"), std::string::npos) << "a delay was put into it";
	result.cells.back().cell.levels = {};
	EXPECT_NE(text().find("floor"), std::string::npos);
}

TEST_F(TableTest, SaysWhereTheEndsAreAndHasAFloorForEach)
{
	for (const model::Between between :
		 {model::Between::Processes, model::Between::Threads, model::Between::OneThread}) {
		add("pipe", model::Pattern::PingPong, 64, 8000);
		result.cells.back().cell.graph = model::star(1, {0, 1}, between, true);
	}
	add("null", model::Pattern::PingPong, 64, 120);
	result.cells.back().cell.graph = model::star(1, {0, 0}, model::Between::OneThread, true);
	for (const char *target : {"\n  pipe ", "\n  pipe threads ", "\n  pipe one-thread "})
		EXPECT_NE(text().find(target), std::string::npos) << text();
	EXPECT_NE(text().find("\nfloor     null (stamps alone): 0.120 µs at 64 B one-thread\n"), std::string::npos)
		<< text();
	result.cells.back().cell.graph = model::star(1, {0, 1}, model::Between::Threads, true);
	result.cells[1].cell.graph = model::star(1, {0, 1}, model::Between::Processes, true);
	EXPECT_EQ(text().find("floor"), std::string::npos) << "no other is between threads";
}

TEST_F(TableTest, HasTheRatesOfLoadsOnly)
{
	add("pipe", model::Pattern::PingPong, 64, 8000);
	result.cells.back().throughput.received_per_s = 777e3;
	EXPECT_EQ(text().find("msg/s"), std::string::npos);
	add("pipe", model::Pattern::Throughput, 64, 90'000);
	result.cells.back().throughput.received_per_s = 1.264e6;
	EXPECT_NE(text().find("msg/s"), std::string::npos);
	EXPECT_NE(text().find(" 1.26M "), std::string::npos) << text();
	EXPECT_EQ(text().find("777k"), std::string::npos) << "of messages that were sent one at a time";
}

TEST_F(TerminalTest, ARunWithoutBlocksSaysSo)
{
	{
		rundir::Writer writer(temporary.path("other"), small_head());
	}
	const std::string out = terminal_report(analysis::analyse(temporary.path("other")), {.unicode = true});
	EXPECT_NE(out.find("partial: the run isn't finished"), std::string::npos);
	EXPECT_NE(out.find("nothing was measured\n"), std::string::npos);
	EXPECT_NE(out.find("nothing measured in 2 cells: uds-stream 64 B pingpong block: not measured"), std::string::npos);
	EXPECT_NE(terminal_report(analysis::analyse(temporary.path("other")), {.unicode = true, .verbose = true})
				  .find("oneway block: not measured"),
			  std::string::npos);
	EXPECT_EQ(out.find("one way"), std::string::npos) << "no table without a row";
	EXPECT_EQ(out.find("run.json"), std::string::npos) << "there is none";
}

} // namespace
} // namespace icepath::text
