// SPDX-License-Identifier: Apache-2.0
// Both ends in one process: two threads of it, or one thread with both. Every capable transport carries its messages,
// each with a fully known path; impossible cells are reported, and end.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <regex>
#include <set>
#include <thread>

#include "profiler/capture/thread_pidfd.h"
#include "tests/end_to_end/measured_again.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

// Every transport carries this size.
constexpr const char *kEightBytes = "8";

class Between : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}

	// Over all transports: a cell that got no message is measured again, and notices are of the first run.
	void measure_all(int seconds, const std::vector<std::string> &options)
	{
		json["cells"] = cells_with_enough(kAllByTwoThreads, seconds, options, folder.path());
		notices = read_json(folder.path() / "out0/run.json")["notices"].dump();
	}

	void measure(std::vector<std::string> options)
	{
		options.insert(options.begin(), {icepath_program(), "run", "-o", "out"});
		outcome = run(options, folder.path(), 150s);
		ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
		json = read_json(folder.path() / "out/run.json");
		notices = json["notices"].dump();
	}

	// Transports that work here.
	std::set<std::string> working() const
	{
		std::set<std::string> names;
		const auto list = nlohmann::json::parse(run({icepath_program(), "list", "--json"}, folder.path()).out);
		for (const auto &target : list["targets"])
			if (target["why_not"].get<std::string>().empty() && goes_by_two_threads(target))
				names.insert(target["name"]);
		return names;
	}

	std::set<std::string> measured(const std::string &pattern) const
	{
		std::set<std::string> names;
		for (const auto &cell : json["cells"])
			if (cell["pattern"] == pattern)
				names.insert(cell["target"]);
		return names;
	}

	// Checks each cell; complete paths are counted over all together, and none is without.
	void expect_all_messages_and_their_ways(const std::string &between) const
	{
		double probed = 0, complete = 0;
		for (const auto &cell : json["cells"]) {
			SCOPED_TRACE(cell["target"].get<std::string>() + " " + cell["pattern"].get<std::string>());
			const auto &messages = cell["messages"];
			EXPECT_EQ(cell["between"], between);
			ASSERT_GT(messages["sent"], 0);
			EXPECT_EQ(messages["sent"], messages["received"]) << messages.dump();
			EXPECT_EQ(messages["bad_payload"], 0);
			EXPECT_GT(messages["probed"], 0);
			EXPECT_GE(messages["complete"].get<double>(), 0.95 * messages["probed"].get<double>()) << messages.dump();
			EXPECT_EQ(cell["layers_sum_error_ns"], 0);
			EXPECT_EQ(cell["capture"]["dropped"], 0);
			EXPECT_EQ(cell["blocks"]["failed"], 0);
			probed += messages["probed"].get<double>();
			complete += messages["complete"].get<double>();
		}
		EXPECT_GE(complete, 0.999 * probed);
	}

	void expect_messages() const
	{
		for (const auto &cell : json["cells"]) {
			EXPECT_EQ(cell["messages"]["sent"], cell["messages"]["received"]) << cell["target"] << cell["pattern"];
			EXPECT_GT(cell["messages"]["complete"], 0) << cell["target"] << cell["pattern"];
		}
	}

	Folder folder;
	Outcome outcome;
	nlohmann::json json;
	std::string notices;
};

class Threads : public Between {
protected:
	void SetUp() override
	{
		Between::SetUp();
		if (const std::string missing = capture::thread_pidfds_missing(); !IsSkipped() && !missing.empty())
			GTEST_SKIP() << missing;
	}
};

TEST_F(Threads, CarryEveryTransport)
{
	measure_all(7, {"--between", "threads", "--patterns", "pingpong,oneway", "-s", kEightBytes});
	EXPECT_EQ(measured("pingpong"), working());
	EXPECT_EQ(measured("oneway"), working());
	expect_all_messages_and_their_ways("threads");
	for (const auto &cell : json["cells"])
		for (const char *side : {"sender", "receiver"})
			EXPECT_GT(cell["cpu_ns_per_message"][side]["total"], 0) << cell["target"];
}

TEST_F(Threads, AreSeveralReceiversAsWell)
{
	measure({"-t", "uds-seqpacket,pipe,shm-ring,signal", "--between", "threads", "--patterns",
			 "fanout,reqrep,throughput", "--receivers", "3", "--idle", "2", "-s", kEightBytes, "-d", "4"});
	EXPECT_EQ(json["cells"].size(), 4u * (1 + 2 + 1));
	expect_messages();
}

TEST_F(Threads, SendToOneReceiverOverAllThatCan)
{
	measure_all(5, {"--between", "threads", "--patterns", "fanin", "--senders", "3", "-s", "64"});
	EXPECT_GT(json["cells"].size(), 5u);
	expect_messages();
}

// No other thread takes part, though the library has its own.
TEST_F(Threads, CarryWhatGoesOnlyWithinOneProcess)
{
	measure({"-t", "zeromq/inproc", "--between", "processes,threads", "-w", "block,epoll", "--patterns",
			 "pingpong,oneway", "-s", "64", "-d", "3"});
	EXPECT_EQ(json["cells"].size(), 4u);
	expect_all_messages_and_their_ways("threads");
	EXPECT_NE(notices.find("zeromq/inproc has both ends in one process: left out between processes"), std::string::npos)
		<< notices;
	for (const auto &cell : json["cells"])
		for (const auto &layer : cell["layers"])
			EXPECT_NE(layer["role"], "relay") << layer.dump();
}

TEST_F(Threads, EndTogetherWithTheirProcess)
{
	Running running({icepath_program(), "run", "-t", "pipe,mqueue", "--between", "threads", "-s", "64", "--patterns",
					 "pingpong", "-d", "5", "-o", "out"},
					folder.path());
	for (int i = 0; i < 1000 && running.err_so_far().find("round 3") == std::string::npos; i++)
		std::this_thread::sleep_for(10ms);
	const auto workers = children_named(running.pid(), "initiator"); // their main threads
	ASSERT_EQ(workers.size(), 2u) << "one process for each cell";
	kill_process(workers[0], SIGKILL);
	outcome = running.wait(40s);
	EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
	notices = read_json(folder.path() / "out/run.json")["notices"].dump();
	const std::regex sentence("(pipe|mqueue) 64 B pingpong block threads ended in round [0-9]+: "
							  "the worker of \\1 64 B pingpong block threads was killed by signal 9");
	EXPECT_EQ(std::distance(std::sregex_iterator(notices.begin(), notices.end(), sentence), std::sregex_iterator()), 1)
		<< notices;
}

TEST_F(Between, OneThreadCarriesEveryTransportThatLetsItsSenderGo)
{
	measure_all(7, {"--between", "one-thread", "--patterns", "pingpong,oneway", "-s", kEightBytes});
	std::set<std::string> expected = working();
	if (expected.erase("process-vm")) {
		EXPECT_NE(notices.find("process-vm has its sender wait"), std::string::npos) << notices;
	}
	EXPECT_EQ(measured("pingpong"), expected);
	EXPECT_EQ(measured("oneway"), expected);
	expect_all_messages_and_their_ways("one-thread");
	for (const auto &cell : json["cells"]) {
		SCOPED_TRACE(cell["target"].get<std::string>());
		EXPECT_GT(cell["cpu_ns_per_message"]["sender"]["total"], 0);
		EXPECT_TRUE(cell["cpu_ns_per_message"]["receiver"].is_null()) << "all of it is the one thread's";
		bool queued = false;
		for (const auto &layer : cell["layers"]) {
			EXPECT_EQ(layer["thread"], "both ends");
			for (const auto &part : layer["parts"])
				queued |= layer["layer"] == "queue" && part["part"] == "busy";
		}
		EXPECT_TRUE(queued) << "nobody asks before the message was sent";
	}
}

// Cells of both kinds take turns, and share one capture.
TEST_F(Threads, SendSparseMessagesBesideThoseOfOneThread)
{
	measure({"-t", "pipe,uds-seqpacket,shm-ring", "--between", "processes,threads,one-thread", "--patterns", "sparse",
			 "--sparse-period", "50ms", "-s", kEightBytes, "-d", "7"});
	EXPECT_EQ(json["cells"].size(), 9u);
	double probed = 0, complete = 0;
	for (const auto &cell : json["cells"]) {
		const auto &messages = cell["messages"];
		EXPECT_EQ(messages["sent"], messages["received"]) << cell["target"] << cell["between"];
		EXPECT_GT(messages["probed"], 0) << cell["target"] << cell["between"];
		probed += messages["probed"].get<double>();
		complete += messages["complete"].get<double>();
	}
	EXPECT_GE(complete, 0.99 * probed);
}

// A pipe has room for 64 KiB, and nobody reads it while it is written.
TEST_F(Between, OneThreadCannotSendWhatDoesNotFit)
{
	measure({"-t", "pipe,shm-ring", "--between", "one-thread", "--patterns", "pingpong", "-s", "64,1M", "-d", "6"});
	EXPECT_TRUE(std::regex_search(notices,
								  std::regex("pipe 1 MiB pingpong block one-thread ended in round [0-9]+: both ends of "
											 "[^:]*: sending message 0 [^:]*: one thread has both ends, so "
											 "nobody takes a message while it is sent")))
		<< notices;
	for (const auto &cell : json["cells"]) {
		const bool fits = cell["target"] != "pipe" || cell["payload_bytes"] == 64;
		EXPECT_EQ(cell["messages"]["complete"].get<uint64_t>() > 0, fits) << cell["target"] << cell["payload_bytes"];
	}
}

} // namespace
} // namespace icepath::end_to_end
