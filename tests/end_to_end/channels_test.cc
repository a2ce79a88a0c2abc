// SPDX-License-Identifier: Apache-2.0
// Cells of more than one channel, over every transport: fanout, where all receivers get each message, each by a way of its own
// that is known, and channels that stay idle beside it.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

constexpr size_t kReceivers = 3;

// Of all transports together, and that none is without: once in seven runs io-uring/tcp had 34 of 1842 deliveries of a fanout
// with times that contradict each other, on a disturbed machine; why isn't known.
struct WholePaths {
	double probed = 0, complete = 0;

	void add(const nlohmann::json &messages)
	{
		probed += messages["probed"].get<double>();
		complete += messages["complete"].get<double>();
		EXPECT_GE(messages["complete"].get<double>(), 0.95 * messages["probed"].get<double>()) << messages.dump();
	}
	void expect_almost_all() const { EXPECT_GE(complete, 0.999 * probed); }
};

TEST(RequestResponse, HasEveryResponseOverEveryTransport)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const Outcome outcome = run({icepath_program(), "run", "-t", "all", "--patterns", "reqrep", "--responses", "3",
								 "-s", "64", "-d", "30", "-o", "out"},
								folder.path(), 120s);
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const nlohmann::json json = read_json(folder.path() / "out/run.json");
	ASSERT_FALSE(json["cells"].empty());
	WholePaths paths;
	for (const auto &cell : json["cells"]) {
		SCOPED_TRACE(cell["target"].get<std::string>());
		const auto &messages = cell["messages"];
		EXPECT_EQ(cell["responses"], 3);
		EXPECT_EQ(messages["sent"], messages["received"]) << messages.dump();
		EXPECT_EQ(messages["bad_payload"], 0);
		EXPECT_GT(messages["probed"], 0);
		paths.add(messages);
		EXPECT_EQ(cell["layers_sum_error_ns"], 0);
		EXPECT_EQ(cell["back_ns"]["count"], 3 * cell["forward_ns"]["count"].get<uint64_t>());
		EXPECT_EQ(cell["round_trip_ns"]["count"], cell["forward_ns"]["count"]);
		EXPECT_EQ(cell["first_response_ns"]["count"], cell["forward_ns"]["count"]);
		EXPECT_LE(cell["first_response_ns"]["p50"], cell["round_trip_ns"]["p50"]);
	}
	paths.expect_almost_all();
}

TEST(FanOut, ReachesEveryReceiverOverEveryTransport)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const Outcome outcome = run({icepath_program(), "run", "-t", "all", "--patterns", "fanout", "--receivers",
								 std::to_string(kReceivers), "--idle", "2", "-s", "64", "-d", "30", "-o", "out"},
								folder.path(), 120s);
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const nlohmann::json json = read_json(folder.path() / "out/run.json");
	ASSERT_FALSE(json["cells"].empty());
	WholePaths paths;
	for (const auto &cell : json["cells"]) {
		SCOPED_TRACE(cell["target"].get<std::string>());
		const auto &messages = cell["messages"];
		EXPECT_EQ(cell["subscribers"], kReceivers);
		EXPECT_EQ(cell["idle_channels"], 2);
		EXPECT_EQ(messages["sent"], messages["received"]) << messages.dump();
		EXPECT_EQ(messages["sent"].get<uint64_t>() % kReceivers, 0u);
		EXPECT_EQ(messages["bad_payload"], 0);
		EXPECT_GT(messages["probed"], 0);
		paths.add(messages);
		EXPECT_EQ(cell["layers_sum_error_ns"], 0);
		EXPECT_EQ(cell["capture"]["dropped"], 0);
		ASSERT_EQ(cell["receivers_ns"].size(), kReceivers);
		for (const auto &receiver : cell["receivers_ns"]) {
			EXPECT_EQ(receiver["count"], cell["to_all_ns"]["count"]);
			EXPECT_GE(cell["to_all_ns"]["p50"], receiver["p50"]) << "no receiver has it after the last";
		}
	}
	paths.expect_almost_all();
}

} // namespace
} // namespace icepath::end_to_end
