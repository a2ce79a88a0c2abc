// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/one_message.h"
#include "profiler/text/blame_words.h"
#include "profiler/text/message_lines.h"
#include "profiler/text/page.h"

#include <gtest/gtest.h>

#include "ebpf/records.h"
#include "tests/report/synthetic_run.h"

namespace icepath::explain {
namespace {

using model::Layer;
using model::Part;
using path::Provenance;

// 2.000 µs in four segments whose shares don't round evenly.
analysis::WorstMessage example()
{
	analysis::WorstMessage worst;
	worst.seq = 18233;
	worst.round = 3;
	worst.task_names = {{1, "tx"}, {2, "rx"}, {9, "evil"}};
	worst.path.send_ns = 500;
	path::Boundary at{500, {}, Provenance::Exact, 500, 500};
	const auto add = [&](Layer layer, Part part, uint32_t tid, uint64_t ns, path::Culprit culprit = {}) {
		path::Segment segment{layer, part, static_cast<uint16_t>(tid - 1), tid, at, at, culprit};
		segment.end.at_ns += ns;
		at = segment.end;
		worst.path.segments.push_back(segment);
		worst.cpus.push_back(tid - 1);
	};
	add(Layer::SenderKernel, Part::None, 1, 333);
	add(Layer::Wakeup, Part::Ipi, 2, 333);
	add(Layer::Runqueue, Part::None, 2, 1333, {path::Culprit::Kind::Task, 9, 0});
	add(Layer::ReceiverKernel, Part::None, 2, 1);
	worst.path.recv_ns = at.at_ns;
	return worst;
}

TEST(Explain, AddsUpToAHundredPercent)
{
	const auto lines = text::worst_message_lines(example(), socket_cell(model::Pattern::PingPong), {false, true});
	const std::vector<std::string> expected = {
		"worst message with a complete path: uds-stream 64 B, message 18 233 of round 3, 2.00 µs",
		"    layer            thread     µs    share  known",
		"  ▓ sender.kernel    tx      0.333   16.7 %  exact",
		"  ░ wakeup/ipi       rx      0.333   16.7 %  exact",
		"  · runqueue         rx      1.333   66.6 %  exact  <- CPU 1 ran evil (9)",
		"  ▓ receiver.kernel  rx      0.001    0.0 %  exact",
		"    sum                      2.000  100.0 %  = recv - send",
		"  mostly runqueue: 66.6 % of it, CPU 1 ran evil (9)",
	};
	ASSERT_EQ(lines.size(), expected.size());
	for (size_t i = 0; i < lines.size(); ++i)
		EXPECT_EQ(lines[i], expected[i]);
}

// A sender that yields its CPU until there is room has two segments for each time.
TEST(Explain, OfThousandsOfPiecesShowsTheLongest)
{
	analysis::WorstMessage worst = example();
	const path::Segment piece = worst.path.segments[0]; // 333 ns
	worst.path.segments.assign(1000, piece);
	worst.cpus.resize(1000);
	worst.path.segments[500].layer = Layer::ReceiverUser;
	worst.path.segments[500].end.at_ns += 100'000;
	worst.path.recv_ns = worst.path.send_ns + 433'000;
	const auto lines = text::worst_message_lines(worst, socket_cell(model::Pattern::PingPong), {false, true});
	ASSERT_EQ(lines.size(), 2u + 60 + 1 + 2);
	EXPECT_TRUE(std::ranges::any_of(lines, [](const std::string &line) {
		return line.find("receiver.user") != std::string::npos && line.find("100.333") != std::string::npos;
	})) << "in the middle";
	EXPECT_EQ(lines[2 + 60], "    …                      313.020   71.0 %  940 shorter pieces between");
	EXPECT_NE(lines[2 + 61].find("433.000  100.0 %"), std::string::npos);
	EXPECT_EQ(explain::longest_of({5, 1, 9, 7}, 2), (std::vector<size_t>{2, 3}));
	EXPECT_EQ(explain::longest_of({5, 1}, 2), (std::vector<size_t>{0, 1}));
}

TEST(Explain, StatesTheBoundOfWhatIsInferred)
{
	analysis::WorstMessage worst = example();
	worst.path.segments[0].end.provenance = Provenance::Inferred;
	worst.path.segments[0].end.earliest_ns = 700;
	worst.path.segments[0].end.latest_ns = 950;
	EXPECT_NE(
		text::worst_message_lines(worst, socket_cell(model::Pattern::OneWay), {})[2].find("inferred within 250 ns"),
		std::string::npos);
}

TEST(Explain, SaysWhatIsPlacedByACalibration)
{
	analysis::WorstMessage worst = example();
	worst.path.segments[0].end.provenance = Provenance::Calibrated;
	worst.path.segments[0].end.earliest_ns = 700;
	worst.path.segments[0].end.latest_ns = 950;
	EXPECT_NE(text::worst_message_lines(worst, socket_cell(model::Pattern::OneWay), {})[2].find(
				  "inferred (calibrated) within 250 ns"),
			  std::string::npos);
}

TEST(MostOfMessage, SaysIfNoRecordShowsWhoHadTheCpu)
{
	analysis::WorstMessage worst = example();
	path::Segment &wait = worst.path.segments[2];
	wait.layer = Layer::Runqueue;
	wait.culprit = {};
	worst.path.shares = {{2, {path::Culprit::Kind::Unknown, 0, 0}, wait.duration_ns()}};
	EXPECT_EQ(most_of(worst).layer, model::Layer::Runqueue);
	EXPECT_EQ(text::words_of(most_of(worst).who), "by unknown");
	worst.path.shares[0].ns = wait.duration_ns() / 3;
	EXPECT_EQ(text::words_of(most_of(worst).who), "");
}

TEST(MostOfMessage, SaysHowMuchEachTook)
{
	analysis::WorstMessage worst = example();
	const auto last = [&] {
		return text::worst_message_lines(worst, socket_cell(model::Pattern::OneWay), {false, true}).back();
	};
	worst.path.shares = {{2, {path::Culprit::Kind::Task, 9, 0}, 900}, {2, {path::Culprit::Kind::Task, 8, 0}, 433}};
	EXPECT_EQ(last(), "  mostly runqueue: 66.6 % of it, CPU 1 ran evil (9) 900 ns, task 8 433 ns");
	worst.path.shares[0].ns = 1330;
	worst.path.shares[1].ns = 3;
	EXPECT_EQ(last(), "  mostly runqueue: 66.6 % of it, CPU 1 ran evil (9)") << "practically all";
	path::Boundary &end = worst.path.segments[2].end;
	end.provenance = Provenance::Inferred;
	end.earliest_ns = end.at_ns - 100;
	end.latest_ns = end.at_ns;
	EXPECT_EQ(last(), "  mostly runqueue: 66.6 % of it, CPU 1 ran evil (9)") << "within a tenth of it";
	end.earliest_ns = end.at_ns - 1300;
	EXPECT_EQ(last(), "  perhaps mostly runqueue: 66.6 % of it, inferred within 1.30 µs, CPU 1 ran evil (9)");
}

TEST(Threads, OfOneNameAreToldApart)
{
	analysis::WorstMessage worst = example();
	EXPECT_EQ(names_of_threads(worst).at(2), "rx");
	worst.task_names[9] = "rx";
	EXPECT_EQ(names_of_threads(worst).at(2), "rx") << "the other one has no segment";
	worst.task_names[1] = "rx";
	EXPECT_EQ(names_of_threads(worst).at(1), "rx (1)");
	EXPECT_EQ(names_of_threads(worst).at(2), "rx (2)");
	worst.task_names.erase(1);
	EXPECT_EQ(names_of_threads(worst).at(1), "thread 1");
	EXPECT_EQ(names_of_threads(worst).at(2), "rx");
}

// No one of them had the CPU for most of the wait.
TEST(Steps, NameAllThatHadTheCpu)
{
	analysis::WorstMessage worst = example();
	using Kind = path::Culprit::Kind;
	worst.path.segments[2].culprit = {};
	worst.path.shares = {{2, {Kind::Task, 9, 0}, 200},
						 {2, {Kind::Task, 8, 0}, 400},
						 {2, {Kind::Task, 7, 0}, 100},
						 {2, {Kind::Unknown, 0, 0}, 300}};
	analysis::CellResult cell;
	cell.cell = socket_cell(model::Pattern::PingPong);
	const std::vector<MessageStep> steps = steps_of(worst, cell);
	EXPECT_TRUE(steps[1].taken.empty());
	using Taken = std::vector<std::pair<std::string, uint64_t>>;
	EXPECT_EQ(steps[2].taken, (Taken{{"task 8", 400}, {"unknown", 300}, {"evil", 200}, {"task 7", 100}}));
	text::Page page({false, true}, 100);
	text::add_message(page, worst, cell);
	const std::string text = page.take();
	EXPECT_NE(text.find("exact  <- task 8 400 ns, unknown 300 ns, 2 more 300 ns\n"), std::string::npos) << text;
}

TEST(Steps, TellTasksOfOneNameApart)
{
	analysis::WorstMessage worst = example();
	using Kind = path::Culprit::Kind;
	worst.task_names[8] = "evil";
	worst.task_names[7] = "other";
	worst.path.shares = {{2, {Kind::Task, 9, 0}, 200}, {2, {Kind::Task, 8, 0}, 400}, {2, {Kind::Task, 7, 0}, 100}};
	analysis::CellResult cell;
	cell.cell = socket_cell(model::Pattern::PingPong);
	using Taken = std::vector<std::pair<std::string, uint64_t>>;
	EXPECT_EQ(steps_of(worst, cell)[2].taken, (Taken{{"evil (8)", 400}, {"evil (9)", 200}, {"other", 100}}));
}

TEST(Blame, SaysWhatTheCulpritDid)
{
	analysis::WorstMessage worst = example();
	path::Segment &segment = worst.path.segments[2];
	EXPECT_EQ(text::words_of(blame(worst, 2)), "CPU 1 ran evil (9)");
	segment.layer = Layer::Blocked;
	EXPECT_EQ(text::words_of(blame(worst, 2)), "woken by evil (9)");
	segment.culprit = {path::Culprit::Kind::Interrupt, 0, ICEPATH_INTERRUPT_TIMER};
	EXPECT_EQ(text::words_of(blame(worst, 2)), "woken by timer interrupt");
	segment.layer = Layer::Interrupt;
	EXPECT_EQ(text::words_of(blame(worst, 2)), "timer interrupt");
	segment.layer = Layer::Runqueue;
	segment.culprit = {path::Culprit::Kind::IdleCpu, 0, 0};
	EXPECT_EQ(text::words_of(blame(worst, 2)), "CPU 1 was idle");
	segment.culprit = {path::Culprit::Kind::Throttled, 0, 0};
	EXPECT_EQ(text::words_of(blame(worst, 2)),
			  "throttled: the CPU was idle, and a control group of the cell had used up its quota in this block");
	segment.culprit = {};
	EXPECT_EQ(text::words_of(blame(worst, 2)), "");
	segment.culprit = {path::Culprit::Kind::Task, 9, 0};
	worst.task_names.clear();
	EXPECT_EQ(text::words_of(blame(worst, 2)), "CPU 1 ran task 9");
}

} // namespace
} // namespace icepath::explain
