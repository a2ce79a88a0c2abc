// SPDX-License-Identifier: Apache-2.0
// `icepath calibrate`, and a run that uses it: it places what nothing else locates, within bounds, and the run says so.
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

// The least of the layers that begin or end where a message becomes ready or is taken. On a noisy machine a calibration
// places that at the call's beginning or end, and the layer before or after it has no time, and no row. Over typical
// messages: over all messages, calls take 5 ms, a tenth of it from one interruption of the sender.
double calibrated_share(const nlohmann::json &cell)
{
	std::optional<double> least;
	for (const auto &layer : cell["typical_layers"])
		if (layer["layer"] == "sender.kernel" || layer["layer"] == "queue" || layer["layer"] == "propagation") {
			const double calibrated = layer["provenance"]["inferred_calibrated"];
			EXPECT_LE(calibrated, layer["provenance"]["inferred"]) << layer;
			least = std::min(least.value_or(calibrated), calibrated);
		}
	return least.value_or(0); // no layer between call and call is a failure as well
}

// A run that uses a calibration made just before. Tracepoints only, which reveal nothing about a pipe's or message
// queue's messages to a polling receiver.
nlohmann::json calibrated_run(const Folder &folder)
{
	std::filesystem::remove_all(folder.path() / "out");
	const Outcome made = run({icepath_program(), "calibrate", "-o", "calibration.json"}, folder.path(), 120s);
	EXPECT_EQ(made.exit_code, 0) << made.err;
	EXPECT_NE(made.out.find("Times under watchpoints aren't latencies"), std::string::npos) << made.out;
	const nlohmann::json calibration = read_json(folder.path() / "calibration.json");
	for (const auto &target : calibration["targets"])
		EXPECT_FALSE(target["sizes"].empty()) << target;
	const Outcome measured =
		run({icepath_program(), "run", "--tier", "tracepoint", "--calibration", "calibration.json", "-t", "pipe,mqueue",
			 "-w", "poll", "--patterns", "pingpong", "-s", "64", "-d", "4", "-o", "out"},
			folder.path(), 60s);
	EXPECT_EQ(measured.exit_code, 0) << measured.err;
	return measured.exit_code == 0 ? read_json(folder.path() / "out/run.json") : nlohmann::json();
}

bool is_whole_and_placed(const nlohmann::json &cell)
{
	return calibrated_share(cell) > 0.9 &&
		   cell["messages"]["complete"].get<double>() >= 0.99 * cell["messages"]["probed"].get<double>();
}

// On a disturbed machine, a typical message may be one whose sender lost the CPU in its call, where a calibration
// places nothing. Such a time passes, a fault doesn't: where one run in ten is disturbed so much, four in a row are
// once in 10,000 times.
TEST(Calibrate, ARunPlacesByItWhatNothingElseTells)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	constexpr int kTries = 4;
	nlohmann::json with;
	for (int tries = 0; tries < kTries; tries++) {
		with = calibrated_run(folder);
		ASSERT_EQ(with["cells"].size(), 2u);
		if (std::ranges::all_of(with["cells"], is_whole_and_placed))
			break;
	}
	for (const auto &cell : with["cells"]) {
		SCOPED_TRACE(cell["target"].get<std::string>());
		EXPECT_GT(calibrated_share(cell), 0.9);
		EXPECT_EQ(cell["layers_sum_error_ns"], 0);
		EXPECT_GE(cell["messages"]["complete"].get<double>(), 0.99 * cell["messages"]["probed"].get<double>());
	}
	const auto told =
		std::ranges::find_if(with["probes"], [](const auto &probe) { return probe["tier"] == "calibration"; });
	ASSERT_NE(told, with["probes"].end()) << with["probes"];
	EXPECT_NE((*told)["layer"].get<std::string>().find("mqueue, pipe"), std::string::npos) << *told;
}

TEST(Calibrate, AnotherMachinesIsRefused)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	std::ofstream(folder.path() / "other.json")
		<< R"({"schema_version":1,"icepath_version":"","made_utc":"","targets":[],)"
		   R"("host":{"kernel":"2.6.32","kernel_version":"","cpu_model":""}})";
	const Outcome outcome =
		run({icepath_program(), "run", "--calibration", "other.json", "-d", "10", "-o", "out"}, folder.path(), 60s);
	EXPECT_EQ(outcome.exit_code, 2);
	EXPECT_NE(outcome.err.find("was made on another kernel or CPU"), std::string::npos) << outcome.err;
	EXPECT_FALSE(std::filesystem::exists(folder.path() / "out"));
}

TEST(Calibrate, TheFileIsTheInvokingUsers)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const passwd *nobody = getpwnam("nobody");
	ASSERT_NE(nobody, nullptr);
	const Outcome alone =
		run({"setpriv", "--reuid=nobody", "--clear-groups", icepath_program(), "calibrate"}, folder.path());
	EXPECT_EQ(alone.exit_code, 3);
	EXPECT_NE(alone.err.find("sudo icepath calibrate"), std::string::npos) << alone.err;
	const std::map<std::string, std::string> sudo = {{"SUDO_UID", std::to_string(nobody->pw_uid)},
													 {"SUDO_GID", std::to_string(nobody->pw_gid)}};
	const auto closed = folder.path() / "closed";
	std::filesystem::create_directory(closed);
	std::filesystem::permissions(closed, std::filesystem::perms(0755));
	const Outcome refused = run({icepath_program(), "calibrate"}, closed, 60s, sudo);
	EXPECT_EQ(refused.exit_code, 2) << "a folder of root's";
	EXPECT_NE(refused.err.find("calibration.json"), std::string::npos) << refused.err;
	std::filesystem::permissions(closed, std::filesystem::perms(0777));
	const Outcome made = run({icepath_program(), "calibrate"}, closed, 60s, sudo);
	EXPECT_EQ(made.exit_code, 0) << made.err;
	struct stat status{};
	ASSERT_EQ(stat((closed / "calibration.json").c_str(), &status), 0);
	EXPECT_EQ(status.st_uid, nobody->pw_uid);
}

} // namespace
} // namespace icepath::end_to_end
