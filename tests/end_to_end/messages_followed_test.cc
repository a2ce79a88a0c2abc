// SPDX-License-Identifier: Apache-2.0
// Messages of middleware are followed through the threads of libraries and through daemons: each layer at the thread
// that the library's documentation names.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/end_to_end/measured_again.h"
#include "tests/end_to_end/middleware.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

// A cell's paths by thread: for each hop between sender and receiver the thread names, with their share of the time.
std::map<int, std::map<std::string, double>> relays_of(const nlohmann::json &cell)
{
	std::map<int, std::map<std::string, double>> relays;
	for (const auto &layer : cell["layers"])
		if (layer["role"] == "relay")
			relays[layer["hop"]][layer["thread"]] += layer["share"].get<double>();
	return relays;
}

double share_of(const nlohmann::json &cell, const std::string &layer_name)
{
	double share = 0;
	for (const auto &layer : cell["layers"])
		if (layer["layer"] == layer_name)
			share += layer["share"].get<double>();
	return share;
}

// Of what TCP holds back; `threads`: those that wait for it.
double share_held(const nlohmann::json &cell, std::set<std::string> &threads)
{
	double share = 0;
	for (const auto &layer : cell["layers"])
		for (const auto &part : layer["parts"])
			if (layer["layer"] == "network" && part["part"] == "held") {
				share += part["share"].get<double>();
				threads.insert(layer["thread"]);
			}
	return share;
}

// The threads and daemons on a message's path, by target, as the tables must name them.
using Ways = std::map<std::string, std::vector<std::string>>;

// The thread of its library that calls a side's handler.
const std::map<std::string, std::string> kCallsBack = {{"mqtt/qos0", "mosquitto loop"},
													   {"nats", "cnats"},
													   {"grpc/callback", "nexting_thread"},
													   {"ros/tcpros", "AsyncSpinner"}};

void expect_way(const nlohmann::json &cell, const std::vector<std::string> &way, const std::string &report)
{
	const std::string target = cell["target"];
	const auto relays = relays_of(cell);
	for (size_t i = 0; i < way.size(); i++) {
		const auto hop = relays.find(static_cast<int>(i) + 1);
		ASSERT_NE(hop, relays.end()) << i + 1;
		const auto most = std::ranges::max_element(hop->second, {}, [](const auto &one) { return one.second; });
		EXPECT_EQ(most->first, way[i]) << "hop " << i + 1;
		EXPECT_TRUE(mentions(report, way[i]));
	}
	const bool by_callback = cell["wait"] == "callback";
	for (const auto &layer : cell["layers"])
		if (by_callback && layer["role"] == "receiver" && layer["share"].get<double>() > 0.01) {
			EXPECT_TRUE(layer["thread"].get<std::string>().ends_with("'s " + kCallsBack.at(target))) << layer;
		}
	if (!by_callback || !way.empty()) {
		EXPECT_GT(share_of(cell, "relay.user") + share_of(cell, "relay.kernel"), 0);
	}
	const std::set<std::string> by_network = {"mqtt/qos0",  "mqtt/qos2",   "nats", "cyclonedds/udp",
											  "ros/tcpros", "fastdds/udp", "lcm"};
	EXPECT_EQ(share_of(cell, "network") > 0, by_network.contains(target));
	const bool has_daemon = target == "iceoryx/listener" || target == "cyclonedds/shm" || target == "sd-bus" ||
							target == "nats" || target.starts_with("mqtt") || target.starts_with("ros");
	EXPECT_EQ(cell["cpu_ns_per_message"]["daemon"].is_object(), has_daemon);
	// Of two messages, a side's own thread sleeps for one; its library's thread sleeps for both.
	if (!by_callback && (target == "zeromq/ipc" || target.starts_with("mqtt"))) {
		const auto &usage = cell["rusage"];
		EXPECT_GT(usage["sender"]["voluntary_switches"].get<double>(), 0.8 * usage["messages"].get<double>());
	}
}

void expect_followed(const Ways &ways, int seconds, const std::filesystem::path &folder,
					 const std::string &wait = "block")
{
	std::filesystem::create_directory(folder / wait);
	std::string targets;
	for (const auto &[target, way] : ways)
		targets += (targets.empty() ? "" : ",") + target;
	std::set<std::string> seen;
	const auto look = [&](const nlohmann::json &json, const std::string &report) {
		for (const auto &cell : json["cells"]) {
			const std::string target = cell["target"];
			SCOPED_TRACE(target);
			EXPECT_EQ(cell["messages"]["sent"], cell["messages"]["received"]);
			EXPECT_EQ(cell["layers_sum_error_ns"], 0);
			constexpr double kEnoughToTell = 200; // one in so many is the two hundredth part that may lack evidence
			const double probed = cell["messages"]["probed"], complete = cell["messages"]["complete"];
			if (probed >= kEnoughToTell) {
				EXPECT_GE(complete, 0.995 * probed) << cell["messages"].dump();
			}
			if (complete == 0 || cell["rusage"].is_null())
				continue; // an emulated machine was too slow for blocks with or without probes: measured again
			seen.insert(target);
			expect_way(cell, ways.at(target), report);
		}
	};
	const auto cells =
		measure_until_enough(targets, seconds, {"-w", wait, "-s", "64", "--patterns", "pingpong"}, folder / wait, look);
	for (const auto &[cell, sum] : cells)
		EXPECT_TRUE(sum.is_enough()) << cell.first << ": " << sum.complete << " of " << sum.probed;
	EXPECT_EQ(seen.size(), ways.size());
}

TEST_F(Middleware, MessagesAreFollowedThroughThreadsAndDaemons)
{
	expect_followed(
		{{"iceoryx/listener", {"iox listener"}},
		 {"zeromq/ipc", {"ZMQbg/IO/0", "ZMQbg/IO/0"}},
		 {"zeromq/reqrep", {"ZMQbg/IO/0", "ZMQbg/IO/0"}},
		 {"zeromq/pubsub", {"ZMQbg/IO/0", "ZMQbg/IO/0"}},
		 {"mqtt/qos0", {"mosquitto loop", "mosquitto", "mosquitto loop"}},
		 // The broker holds it until the sender has released it; its questions meanwhile aren't hops of the message.
		 {"mqtt/qos2", {"mosquitto loop", "mosquitto", "mosquitto loop"}},
		 {"nats", {"nats-server"}}, // and threads that Go and the library choose
		 {"sd-bus", {"dbus-daemon"}},
		 {"cyclonedds/udp", {"recvUC"}},
		 {"cyclonedds/shm", {"iox listener"}},
		 {"fastdds/shm", {}}, // its threads have no names
		 {"fastdds/data-sharing", {}},
		 {"lcm", {}}, // likewise
		 {"nng/ipc", {"nng:task"}}, // other threads may take it before
		 {"grpc/stream", {}}}, // mostly read by the receiver itself, seldom by grpcpp_sync_ser
		20, folder.path());
	expect_nothing_left();
}

// The thread that handles a message is its library's, which is named after its side. Those that carried it there are
// fewer than by block, unless the library has a thread for its callbacks alone, as NATS and ROS 1's spinner do.
TEST_F(Middleware, MessagesAreFollowedToTheThreadThatCallsBack)
{
	expect_followed({{"mqtt/qos0", {"mosquitto"}}, {"nats", {"nats-server"}}, {"grpc/callback", {}}}, 6, folder.path(),
					"callback");
	expect_nothing_left();
}

// They take many calls, of several threads, and the kernel holds back part of them.
TEST_F(Middleware, LongMessagesAreFollowed)
{
	const Outcome outcome = run({icepath_program(), "run", "-t", "nng/ipc,grpc/stream", "-s", "1M", "--patterns",
								 "pingpong", "-d", "4", "-o", "out"},
								folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const nlohmann::json json = read_json(folder.path() / "out/run.json");
	double probed = 0, complete = 0;
	for (const auto &cell : json["cells"]) {
		EXPECT_EQ(cell["layers_sum_error_ns"], 0) << cell["target"];
		probed += cell["messages"]["probed"].get<double>();
		complete += cell["messages"]["complete"].get<double>();
	}
	EXPECT_GT(complete, 0);
	EXPECT_GE(complete, 0.9 * probed);
	expect_nothing_left();
}

// Separately, because rosmaster is a Python program, which small systems lack.
TEST_F(Middleware, RosMessagesAreFollowedThroughItsThreads)
{
	expect_followed({{"ros/tcpros", {"roscpp", "roscpp"}}}, 4, folder.path());
	expect_followed({{"ros/tcpros", {"roscpp", "roscpp"}}}, 4, folder.path(), "callback"); // and an AsyncSpinner's
	expect_nothing_left();
}

// Without TCP_NODELAY, a small message waits in TCP until earlier data is acknowledged, which takes tens of
// milliseconds: only this gets a notice.
TEST_F(Middleware, NagleMeetsDelayedAcknowledgement)
{
	const Outcome outcome = run({icepath_program(), "run", "-t", "mqtt/qos1-nagle,mqtt/qos1", "-s", "64", "--patterns",
								 "pingpong", "-d", "9", "-o", "out"},
								folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const auto json = read_json(folder.path() / "out/run.json");
	for (const auto &cell : json["cells"]) {
		SCOPED_TRACE(cell["target"].get<std::string>());
		EXPECT_GT(cell["messages"]["complete"], 0);
		std::set<std::string> threads;
		const double share = share_held(cell, threads);
		if (cell["target"] == "mqtt/qos1") {
			EXPECT_EQ(share, 0);
			continue;
		}
		EXPECT_GT(share, 0.9);
		EXPECT_EQ(threads, std::set<std::string>{"mosquitto"}) << "on the way to the broker";
	}
	EXPECT_TRUE(mentions(outcome.out, "mqtt/qos1-nagle 64 B pingpong block: network/held: TCP keeps a message for"))
		<< outcome.out;
	EXPECT_FALSE(mentions(outcome.out, "mqtt/qos1 64 B pingpong block: network/held"));
}

// The cost of a service client's default shows in the system calls per message.
TEST_F(Middleware, ARosServiceThatIsNotPersistentConnectsAnewOnEveryCall)
{
	const Outcome outcome = run({icepath_program(), "run", "-t", "ros/service,ros/service-persistent", "-s", "64",
								 "--patterns", "pingpong", "-d", "3", "-o", "out"},
								folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	std::map<std::string, std::map<std::string, double>> calls; // per message, by target
	const auto json = read_json(folder.path() / "out/run.json");
	for (const auto &cell : json["cells"]) {
		ASSERT_FALSE(cell["system_calls"].is_null());
		for (const auto &row : cell["system_calls"])
			calls[cell["target"]][row["call"]] += row["per_message"].get<double>();
	}
	EXPECT_GT(calls["ros/service"]["connect"], 0.99) << "each message is a call";
	EXPECT_GT(calls["ros/service"]["accept"], 0.99);
	EXPECT_LT(calls["ros/service-persistent"]["connect"], 0.01);
	const Outcome report = run({icepath_program(), "report", "-v", "out"}, folder.path());
	EXPECT_TRUE(mentions(report.out, "system calls per message, of all threads of both sides and of their daemon"))
		<< report.out;
	expect_nothing_left();
}

} // namespace
} // namespace icepath::end_to_end
