// SPDX-License-Identifier: Apache-2.0
// Reports of a hand-made run of watched programs: figures add up, and what isn't known is counted.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "profiler/exports/export.h"
#include "profiler/failure.h"
#include "profiler/report/report.h"
#include "profiler/rundir/container.h"
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
		watched.thread(kServer, "database");
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
			at += 10'000;
		}
		directory = std::filesystem::temp_directory_path() / ("attached-report-" + std::to_string(getpid()));
		std::filesystem::remove_all(directory);
		model::Head head;
		head.icepath_version = "0.1.0";
		head.command_line = "icepath attach -p 10,20,30";
		head.attached = model::Attached{{{kClient, "shop", 1}, {kProxy, "proxy", 1}, {kServer, "database", 1}}};
		rundir::Writer writer(directory, head);
		for (const model::Window &window : watched.windows({20'000'000}))
			writer.add(window, {});
		model::Tail tail;
		tail.detached =
			model::Detached{{resolve::connection(kC, kS, model::StreamKind::UnixStream, model::EndRole::Connected),
							 resolve::connection(kC2, kS2, model::StreamKind::UnixStream, model::EndRole::Connected)},
							{{"eventfd", "shop", 12}}};
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
	const json schema = json::parse(std::ifstream(ICEPATH_SOURCE "/docs/attach-schema.json"));
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

TEST_F(AttachedReport, ExplainsTheSlowestRequestPieceByPiece)
{
	const Explanation told = explanation_of(directory, {.worst = true}, {.unicode = true, .width = 120});
	EXPECT_NE(told.text.find("shop → proxy: the slowest request, 907.500 µs"), told.text.npos) << told.text;
	EXPECT_NE(told.text.find("database 30: blocked, woken, shop"), told.text.npos) << told.text;
	EXPECT_THROW(explanation_of(directory, {}, {}), Failure);
	EXPECT_THROW(write_html(directory), Failure);
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
