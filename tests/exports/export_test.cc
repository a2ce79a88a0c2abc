// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/export.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "profiler/failure.h"
#include "profiler/report/report.h"
#include "profiler/rundir/container.h"
#include "tests/report/synthetic_run.h"

namespace icepath::exports {
namespace {

namespace fs = std::filesystem;

class ExportTest : public testing::Test {
protected:
	ExportTest()
	{
		char name[] = "/tmp/icepath-export-XXXXXX";
		folder = mkdtemp(name);
		write_small_run((folder / "run").string());
	}
	~ExportTest() override { fs::remove_all(folder); }

	std::vector<std::string> lines_of(const fs::path &file) const
	{
		std::ifstream in(file);
		std::vector<std::string> lines;
		for (std::string line; std::getline(in, line);)
			lines.push_back(line);
		return lines;
	}

	fs::path folder;
};

TEST_F(ExportTest, ADistributionForEachCellGoesIntoTheRunDirectory)
{
	const auto paths = export_run((folder / "run").string(), {ExportFormat::Hgrm}, "");
	ASSERT_EQ(paths.size(), 2u);
	// Four unprobed blocks of 300 messages in each direction, one in 50 of which waits 2000 ns longer.
	EXPECT_EQ(paths[0], folder / "run/uds-stream-64-B-pingpong-block.hgrm");
	std::stringstream text;
	text << std::ifstream(paths[0]).rdbuf();
	EXPECT_NE(text.str().find("Total count    =         2400]"), std::string::npos) << text.str();
	EXPECT_NE(text.str().find("       7.371 1.000000000000       2400\n"), std::string::npos) << text.str();
}

TEST_F(ExportTest, ALogHasALineForEachUnprobedBlock)
{
	const auto paths = export_run((folder / "run").string(), {ExportFormat::Hlog}, (folder / "new").string());
	ASSERT_EQ(paths, std::vector<std::string>{(folder / "new/latency.hlog").string()});
	const auto lines = lines_of(paths[0]);
	ASSERT_EQ(lines.size(), 3 + 8u);
	EXPECT_EQ(lines[3].find("Tag=uds-stream-64-B-pingpong-block,"), 0u) << lines[3];
}

// Else the second one's file replaced the first one's.
TEST_F(ExportTest, CellsThatDifferByIdleStatesAloneHaveFilesOfTheirOwn)
{
	const std::string run = (folder / "twins").string();
	model::Head head = small_head();
	head.cells[1] = head.cells[0];
	head.cells[1].idle_states = model::IdleStates::Held;
	{
		rundir::Writer writer(run, head);
		for (uint32_t cell = 0; cell < 2; ++cell)
			writer.add(make_block(head.cells[cell], {.cell = cell}));
		writer.finish({});
	}
	EXPECT_EQ(export_run(run, {ExportFormat::Hgrm}, ""),
			  (std::vector<std::string>{run + "/uds-stream-pingpong-block-processes-64B-own.hgrm",
										run + "/uds-stream-pingpong-block-processes-64B-held.hgrm"}));
	const auto lines = lines_of(export_run(run, {ExportFormat::Hlog}, "").at(0));
	ASSERT_EQ(lines.size(), 3 + 2u);
	EXPECT_TRUE(lines[3].starts_with("Tag=uds-stream-pingpong-block-processes-64B-own,")) << lines[3];
	EXPECT_TRUE(lines[4].starts_with("Tag=uds-stream-pingpong-block-processes-64B-held,")) << lines[4];
}

TEST_F(ExportTest, ATableHasEveryMessage)
{
	const auto paths = export_run((folder / "run").string(), {ExportFormat::Csv}, "");
	const auto lines = lines_of(paths.at(0));
	// 302 messages with warm-up, eight blocks of each cell, in both directions of the first.
	EXPECT_EQ(lines.size(), 1 + 302u * 8 * 3);
	EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
							[](const std::string &line) { return line.find(",386300") != std::string::npos; }),
			  1)
		<< "the delayed answer";
	for (const std::string &line : lines)
		EXPECT_EQ(std::count(line.begin(), line.end(), ','), 20) << line;
	EXPECT_TRUE(lines[0].ends_with(",between,sampled,arm")) << lines[0];
	EXPECT_TRUE(lines[1].ends_with(",processes,0,")) << lines[1];
}

TEST_F(ExportTest, EachPathFollowsItsBlockAndTilesItsTime)
{
	const auto paths = export_run((folder / "run").string(), {ExportFormat::Paths}, "");
	ASSERT_EQ(paths, std::vector<std::string>{(folder / "run/paths.jsonl").string()});
	uint64_t blocks = 0, of_a_block = 0, delayed = 0;
	nlohmann::json block;
	for (const std::string &line : lines_of(paths[0])) {
		const auto object = nlohmann::json::parse(line);
		if (object.at("type") == "block") {
			++blocks;
			block = object;
			of_a_block = 0;
			EXPECT_LT(object.at("begin_ns"), object.at("end_ns"));
			EXPECT_EQ(object.at("workers").at(0).at("tid"), kTids[0]);
			EXPECT_EQ(object.at("workers").at(1).at("role"), "receiver");
			continue;
		}
		++of_a_block;
		EXPECT_EQ(object.at("block"), block.at("block"));
		EXPECT_EQ(object.at("reason"), "complete");
		nlohmann::json at = object.at("send_ns");
		for (const auto &segment : object.at("segments")) {
			EXPECT_EQ(segment.at("begin_ns"), at) << line;
			EXPECT_EQ(segment.contains("begin_bounds_ns") || segment.contains("end_bounds_ns"),
					  segment.at("known") == "inferred");
			at = segment.at("end_ns");
			if (segment.at("end_ns").get<uint64_t>() - segment.at("begin_ns").get<uint64_t>() > 300'000) {
				++delayed;
				EXPECT_EQ(segment.at("layer"), "runqueue");
				EXPECT_EQ(segment.at("culprit").at("kind"), "task");
				EXPECT_EQ(segment.at("culprit").at("id"), kHog);
				EXPECT_EQ(object.at("back"), true);
			}
		}
		EXPECT_EQ(at, object.at("recv_ns"));
		EXPECT_EQ(object.at("segments").back().at("layer"), "receiver.user");
		EXPECT_EQ(object.at("segments").back().at("tid"), kTids[object.at("back") ? 0 : 1]);
	}
	EXPECT_EQ(blocks, 8u);
	EXPECT_GT(of_a_block, 0u);
	EXPECT_EQ(delayed, 1u);
}

TEST_F(ExportTest, AFilesNameIsNoFolders)
{
	const std::string wanted = (folder / "messages.csv").string();
	EXPECT_THROW(report::place_of_files(wanted), Failure);
	std::filesystem::create_directory(wanted);
	EXPECT_EQ(report::place_of_files(wanted).folder, wanted) << "one that exists is";
}

TEST_F(ExportTest, AFileThatCannotBeWrittenIsTold)
{
	std::ofstream(folder / "file") << "no folder";
	try {
		export_run((folder / "run").string(), {ExportFormat::Csv}, (folder / "file").string());
		FAIL() << "nothing was thrown";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		EXPECT_NE(std::string(failure.what()).find("messages.csv can't be written"), std::string::npos);
	}
}

} // namespace
} // namespace icepath::exports
