// SPDX-License-Identifier: Apache-2.0
// Middleware as a user runs it: what its layers must be, and what happens when its daemon dies or isn't there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <regex>
#include <set>
#include <thread>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

bool mentions(const std::string &text, const std::string &sentence)
{
	return std::regex_replace(text, std::regex("\\s+"), " ").find(sentence) != std::string::npos;
}

class Middleware : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		before = traces_on_this_machine();
	}
	void expect_nothing_left() const
	{
		for (int i = 0; i < 300 && !(traces_on_this_machine() == before); i++)
			std::this_thread::sleep_for(10ms);
		EXPECT_EQ(traces_on_this_machine(), before);
	}

	Folder folder;
	Traces before;
};

TEST_F(Middleware, IceoryxHasNoLayerOfTheKernel)
{
	const Outcome outcome = run({icepath_program(), "run", "-t", "all-installed", "-w", "spin", "-s", "64,4k,64k,1M",
								 "--patterns", "pingpong", "-d", "5", "-o", "out"},
								folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const auto json = read_json(folder.path() / "out/run.json");
	std::set<uint64_t> sizes;
	for (const auto &cell : json["cells"]) {
		if (cell["target"] != "iceoryx")
			continue;
		SCOPED_TRACE(cell["payload_bytes"].dump());
		sizes.insert(cell["payload_bytes"].get<uint64_t>());
		EXPECT_EQ(cell["kind"], "adapter");
		EXPECT_TRUE(cell["library"].get<std::string>().starts_with("iceoryx 2.")) << cell["library"];
		const auto &messages = cell["messages"];
		EXPECT_EQ(messages["sent"], messages["received"]) << messages.dump();
		EXPECT_EQ(messages["bad_payload"], 0);
		EXPECT_GT(messages["probed"], 0);
		EXPECT_GE(messages["complete"].get<double>(), 0.995 * messages["probed"].get<double>()) << messages.dump();
		EXPECT_EQ(cell["layers_sum_error_ns"], 0);
		for (const auto &layer : cell["layers"]) {
			const std::string name = layer["layer"];
			if (layer["mean_ns"].get<double>() > 0) {
				EXPECT_TRUE(name.find("kernel") == std::string::npos && name.find("wakeup") == std::string::npos &&
							name.find("network") == std::string::npos && name.find("relay") == std::string::npos)
					<< name;
			}
		}
	}
	EXPECT_EQ(sizes, (std::set<uint64_t>{64, 4096, 65536, 1048576}));
	expect_nothing_left();
}

// Its futex calls are told apart from the library's own code, and the receiver sleeps for the message: the sender wakes it, and
// nobody else has a part in it.
TEST_F(Middleware, IceoryxsWaitSetIsWokenByTheSender)
{
	const Outcome outcome = run({icepath_program(), "run", "-t", "iceoryx", "-w", "epoll", "-s", "64", "--patterns",
								 "pingpong,oneway", "-d", "5", "-o", "out"},
								folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const auto json = read_json(folder.path() / "out/run.json");
	ASSERT_EQ(json["cells"].size(), 2u);
	for (const auto &cell : json["cells"]) {
		SCOPED_TRACE(cell["pattern"].get<std::string>());
		const auto &messages = cell["messages"];
		EXPECT_GT(messages["probed"], 0);
		EXPECT_GE(messages["complete"].get<double>(), 0.995 * messages["probed"].get<double>()) << messages.dump();
		std::set<std::string> layers;
		for (const auto &layer : cell["layers"])
			if (layer["mean_ns"].get<double>() > 0)
				layers.insert(layer["layer"]);
		for (const char *layer :
			 {"sender.user", "sender.kernel", "wakeup", "runqueue", "receiver.kernel", "receiver.user"})
			EXPECT_TRUE(layers.count(layer)) << layer;
		for (const char *layer : {"network", "relay.user", "relay.kernel"})
			EXPECT_FALSE(layers.count(layer)) << layer;
	}
}

TEST_F(Middleware, AKilledDaemonEndsItsCellsAndNoOthers)
{
	Running running(
		{icepath_program(), "run", "-t", "iceoryx,pipe", "-s", "64", "--patterns", "pingpong", "-d", "10", "-o", "out"},
		folder.path());
	for (int i = 0; i < 2000 && running.err_so_far().find("round 3") == std::string::npos; i++)
		std::this_thread::sleep_for(10ms);
	const auto daemons = children_named(running.pid(), "iox-roudi");
	ASSERT_EQ(daemons.size(), 1u);
	kill_process(daemons[0], SIGKILL);
	const Outcome outcome = running.wait(40s);
	EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_TRUE(mentions(outcome.out, "the daemon of icepath-iceoryx was killed by signal 9")) << outcome.out;
	const auto json = read_json(folder.path() / "out/run.json");
	uint64_t iceoryx = 0, pipe = 0;
	for (const auto &cell : json["cells"])
		(cell["target"] == "pipe" ? pipe : iceoryx) = cell["blocks"]["probed"].get<uint64_t>();
	EXPECT_GT(pipe, 2 * iceoryx) << "the other cell went on";
	expect_nothing_left();
}

TEST_F(Middleware, ADaemonThatIsNotInstalledNamesItsPackage)
{
	const Outcome outcome = run(
		{icepath_program(), "run", "-t", "iceoryx,pipe", "-s", "64", "--patterns", "pingpong", "-d", "5", "-o", "out"},
		folder.path(), 60s, {{"PATH", "/nowhere"}});
	EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_TRUE(mentions(outcome.out, "iox-roudi can't be started: No such file or directory; Debian's package iceoryx "
									  "brings it"))
		<< outcome.out;
	expect_nothing_left();
}

TEST_F(Middleware, KilledItselfItLeavesNothing)
{
	{
		Running running({icepath_program(), "run", "-t", "iceoryx", "-s", "1M", "-d", "30", "-o", "out"},
						folder.path());
		for (int i = 0; i < 2000 && running.err_so_far().find("round 2") == std::string::npos; i++)
			std::this_thread::sleep_for(10ms);
		kill_process(running.pid(), SIGKILL);
		running.wait(10s);
	}
	expect_nothing_left();
}

} // namespace
} // namespace icepath::end_to_end
