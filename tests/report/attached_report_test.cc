// SPDX-License-Identifier: Apache-2.0
// Reports of a hand-made run of watched programs: figures add up, and what isn't known is counted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "profiler/analysis/links.h"
#include "profiler/exports/attached_files.h"
#include "profiler/exports/export.h"
#include "profiler/failure.h"
#include "profiler/report/report.h"
#include "profiler/rundir/container.h"
#include "profiler/text/attached_lines.h"
#include "tests/folders.h"
#include "tests/report/schema_check.h"
#include "tests/resolve/watched.h"

namespace icepath::report {
namespace {

using nlohmann::json;

constexpr uint32_t kClient = 10, kProxy = 20, kServer = 30;
constexpr uint64_t kC = 100, kS = 200, kC2 = 300, kS2 = 400;
constexpr int kRequests = 1200;
constexpr uint64_t kSlow = 900'000; // how much longer each hundredth request takes, asleep until somebody wakes it

class AttachedReport : public testing::Test {
protected:
	AttachedReport()
	{
		watched.thread(kClient, "shop");
		watched.thread(kProxy, "proxy");
		watched.thread(kServer, "sh");
		icepath_record &after_exec = watched.thread(kServer, "database");
		after_exec.end_ns = 5;
		after_exec.cpu = 1;
		uint64_t at = 1000;
		for (int i = 0; i < kRequests; i++) {
			const int64_t end = 50 * (i + 1);
			pass(kClient, kC, kProxy, kS, at, end);
			pass(kProxy, kC2, kServer, kS2, at, end);
			if (i % 100 == 99) {
				watched.slept(kServer, at, at + kSlow, at + kSlow + 100, kClient);
				at += kSlow + 200;
			}
			pass(kServer, kS2, kProxy, kC2, at, end);
			pass(kProxy, kS, kClient, kC, at, end);
			at += 1'000'000;
		}
		directory = std::filesystem::temp_directory_path() / ("attached-report-" + std::to_string(getpid()));
		std::filesystem::remove_all(directory);
		model::Head head;
		head.icepath_version = "0.1.0";
		head.command_line = "icepath attach -p 10,20,30";
		head.attached = model::Attached{{{kClient, "shop", 1}, {kProxy, "proxy", 1}, {kServer, "database", 1}}};
		std::vector<uint64_t> cuts; // as many windows as intervals need
		for (uint64_t cut = 1; cut < 12; cut++)
			cuts.push_back(at * cut / 12);
		rundir::Writer writer(directory, head);
		for (const model::Window &window : watched.windows(cuts))
			writer.add(window, {});
		model::Tail tail;
		connections = {resolve::connection(kC, kS, model::StreamKind::UnixStream, model::EndRole::Connected),
					   resolve::connection(kC2, kS2, model::StreamKind::UnixStream, model::EndRole::Connected)};
		tail.detached = model::Detached{connections, {{"eventfd", "shop", 12}}};
		writer.finish(tail);
	}
	~AttachedReport() override { std::filesystem::remove_all(directory); }

	void pass(uint32_t from, uint64_t given_to, uint32_t to, uint64_t out_of, uint64_t &at, int64_t end)
	{
		watched.ready(from, at + 200, out_of);
		watched.give(from, at, at + 400, given_to, 50, end);
		watched.take(to, at + 1000, at + 1300, out_of, 50, end);
		at += 2000;
	}

	std::string text_of(const std::string &file) const
	{
		std::ostringstream text;
		text << std::ifstream(std::filesystem::path(directory) / file).rdbuf();
		return text.str();
	}

	resolve::Watched watched;
	std::string directory;
	std::vector<model::Connection> connections;
};

TEST_F(AttachedReport, FitsOneScreenAndTellsWhoTalksToWhomAndWhatTheSlowestHaveMoreOf)
{
	const std::string text = report_of(directory, {.colour = false, .unicode = true, .width = 120}).text;
	EXPECT_NE(text.find("shop ↔ proxy"), text.npos) << text;
	EXPECT_NE(text.find("proxy ↔ database"), text.npos) << text;
	EXPECT_NE(text.find("database: blocked, woken"), text.npos) << text;
	EXPECT_NE(text.find("by shop"), text.npos) << text;
	EXPECT_NE(text.find("of 4800 messages 4800 known"), text.npos) << text;
	EXPECT_NE(text.find("shop eventfd (12 calls)"), text.npos) << text;
	EXPECT_LE(std::ranges::count(text, '\n'), 50) << text;
}

TEST_F(AttachedReport, PlacesAddUpToTheMeanAtEveryLevelAndTheJsonKeepsItsSchema)
{
	const json told = json::parse(json_of(directory));
	const json schema = json::parse(std::ifstream(test::in_source("docs/attach-schema.json")));
	for (const std::string &complaint : schema_complaints(schema, told))
		ADD_FAILURE() << complaint;
	ASSERT_EQ(told["links"].size(), 2u);
	std::map<std::string, double> means;
	for (const json &link : told["links"]) {
		EXPECT_EQ(link["requests"]["answered"], kRequests);
		EXPECT_EQ(link["to_server"]["identity"]["exact"], kRequests);
		for (const json &latency :
			 {link["requests"]["latency"], link["to_server"]["latency"], link["to_client"]["latency"]}) {
			EXPECT_EQ(latency["with_path"], kRequests);
			double sum = 0, slow = 0;
			for (const json &place : latency["places"]) {
				sum += place["mean_ns"].get<double>();
				slow += place["slowest_mean_ns"].get<double>();
			}
			EXPECT_NEAR(sum, latency["mean_ns"].get<double>(), 0.01);
			EXPECT_NEAR(slow, latency["slowest_mean_ns"].get<double>(), 0.01);
		}
		means[link["server"]] = link["requests"]["latency"]["mean_ns"];
		EXPECT_EQ(link["requests"]["latency"]["slowest"], kRequests / 100);
	}
	EXPECT_EQ(told["links"][0]["requests"]["chains"][0]["programs"].get<std::string>().find("→") != std::string::npos,
			  true);
	EXPECT_NEAR(means["proxy"] - means["database"], 4000, 0.01) << "the proxy's own part";
}

constexpr text::Style kStyle{.colour = false, .unicode = true, .width = 120};

TEST_F(AttachedReport, ExplainsTheSlowestRequestBesideTypicalOnes)
{
	const std::string text = explanation_of(directory, {.worst = true}, kStyle).text;
	EXPECT_NE(text.find("shop ↔ proxy unix-stream: request of shop to proxy, 908 µs after 0.1"), text.npos) << text;
	EXPECT_NE(text.find("woken by shop (10)"), text.npos) << text;
	EXPECT_NE(text.find("in 1188 typical requests (p40 to p60), which take 7.30 µs:"), text.npos) << text;
	EXPECT_NE(text.find("it takes 124 times as long"), text.npos) << text;
	EXPECT_NE(text.find("907.500  sum"), text.npos) << text;
	EXPECT_LT(text.find("shop ↔ proxy"), text.find("proxy ↔ database")) << "the slowest first" << text;
	EXPECT_THROW(write_html(directory), Failure);
}

// As an export names them: a request by its first message.
TEST_F(AttachedReport, ExplainsTheMessageOrRequestThatIsNamed)
{
	exports::export_run(directory, {exports::ExportFormat::Paths}, "");
	std::istringstream lines(text_of("paths.jsonl"));
	int asked = 0;
	for (std::string line; std::getline(lines, line) && asked < 12; asked++) {
		const json path = json::parse(line);
		const bool is_request = path["type"] == "request";
		const json &sender = path[is_request ? "client" : "from"];
		const uint64_t send_ns = path["send_ns"], recv_ns = path["recv_ns"];
		const std::string text =
			explanation_of(directory, {.message = analysis::MessageName{sender["tid"], send_ns}}, kStyle).text;
		const std::string name = fmt::format("(--message {}:{})", sender["tid"].get<int>(), send_ns);
		EXPECT_NE(text.find(name), text.npos) << text;
		if (!is_request && text.find(": request of") != text.npos)
			continue; // it is the first message of a request, which is told
		EXPECT_EQ(text.find(": request of") != text.npos, is_request) << text;
		const uint64_t ns = recv_ns - send_ns;
		EXPECT_NE(text.find(fmt::format("{}.{:03}  sum", ns / 1000, ns % 1000)), text.npos) << text;
		for (const json &segment : path["segments"])
			EXPECT_NE(text.find(segment["layer"].get<std::string>()), text.npos) << text;
	}
	EXPECT_EQ(asked, 12);
	for (const analysis::MessageName none : {analysis::MessageName{10, 999}, {999, 1000}})
		EXPECT_THROW(explanation_of(directory, {.message = none}, kStyle), Failure);
}

TEST_F(AttachedReport, ExplainsTheTailByCauseAgainstTheTypical)
{
	const Explanation told = explanation_of(directory, {.tail = {99'100}, .verbose = true}, kStyle);
	const std::string &text = told.text;
	EXPECT_FALSE(told.refused);
	EXPECT_NE(
		text.find("shop ↔ proxy unix-stream: the tail, from p99.1 on, is 12 of 1200 requests, all of 907 µs or more"),
		text.npos)
		<< text;
	EXPECT_NE(text.find("blocked"), text.npos) << text;
	EXPECT_NE(text.find("blocked        relay 2"), text.npos) << text;
	EXPECT_NE(text.find("100.0 %      0.0 %  only here        900        900  blocked, a watched program"), text.npos)
		<< text;
	EXPECT_NE(text.find("verdict   explained: "), text.npos) << text;
	EXPECT_NE(text.find("slowest   908 µs: icepath explain RUN --message 10:"), text.npos) << text;
}

TEST_F(AttachedReport, RefusesWhatItCantExplain)
{
	for (const char *none : {"shop nobody", "udp", "database shop"})
		EXPECT_THROW(explanation_of(directory, {.cell = none}, kStyle), Failure) << none;
	const std::string one = explanation_of(directory, {.cell = "database unix-stream"}, kStyle).text;
	EXPECT_EQ(one.find("shop ↔"), one.npos) << one;
	EXPECT_THROW(explanation_of(directory, {.modes = true}, kStyle), Failure);
	EXPECT_THROW(explanation_of(directory, {.stacks = true}, kStyle), Failure);
	EXPECT_THROW(explanation_of(directory, {.json = true}, kStyle), Failure);
	EXPECT_THROW(explanation_of(directory, {.cell = "shop", .against = "database"}, kStyle), Failure);
	const Explanation few = explanation_of(directory, {.tail = {99'950}}, kStyle);
	EXPECT_TRUE(few.refused);
	EXPECT_NE(few.text.find("1200 messages with probes have no such tail: measure longer (icepath attach -d"),
			  few.text.npos)
		<< few.text;
}

// As a terminal has them while the watching goes on.
TEST_F(AttachedReport, FiguresOfPartsAddUpToThoseOfAll)
{
	analysis::AttachedFigures figures;
	analysis::AttachedResult sum;
	rundir::Reader reader(directory);
	size_t parts = 0;
	for (; const auto read = reader.next(); parts++) {
		figures.know(connections);
		figures.add(*read->window);
		sum.add(figures.take());
	}
	figures.finish();
	sum.add(figures.take());
	EXPECT_EQ(parts, 12u);
	const analysis::AttachedResult all = analysis::analyse_attached(directory);
	sum.head = all.head;
	sum.tail = all.tail;
	EXPECT_EQ(exports::attached_json_text(sum), exports::attached_json_text(all));
	const text::LiveFigures live{all, sum};
	const std::string text = text::live_report(live, kStyle);
	EXPECT_NE(text.find("shop ↔ proxy"), text.npos) << text;
	EXPECT_NE(text.find("p99 of all"), text.npos) << text;
	EXPECT_EQ(text.find("left out"), text.npos) << text;
	EXPECT_NE(text::live_report({all, sum, 3}, kStyle).find("3 windows are left out"), text.npos);
}

TEST_F(AttachedReport, ExportsEachMessageAndItsPath)
{
	exports::export_run(directory, {exports::ExportFormat::Csv, exports::ExportFormat::Paths}, "");
	const std::string table = text_of("messages.csv");
	EXPECT_EQ(std::ranges::count(table, '\n'), 1 + 4 * kRequests + 2 * kRequests);
	EXPECT_NE(table.find("message,exact,10,shop,20,proxy,50,1000,2300,1300,complete\n"), table.npos);
	std::istringstream lines(text_of("paths.jsonl"));
	int paths = 0;
	for (std::string line; std::getline(lines, line); paths++) {
		const json path = json::parse(line);
		uint64_t sum = 0;
		for (const json &segment : path["segments"])
			sum += segment["end_ns"].get<uint64_t>() - segment["begin_ns"].get<uint64_t>();
		EXPECT_EQ(sum, path["recv_ns"].get<uint64_t>() - path["send_ns"].get<uint64_t>());
	}
	EXPECT_EQ(paths, 6 * kRequests);
	EXPECT_THROW(exports::export_run(directory, {exports::ExportFormat::Perfetto}, ""), Failure);
}

} // namespace
} // namespace icepath::report
