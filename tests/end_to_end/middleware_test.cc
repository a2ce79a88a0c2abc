// SPDX-License-Identifier: Apache-2.0
// Middleware as a user runs it: its layers, and what happens when its daemon dies or is missing.
#include <gtest/gtest.h>
#include <pwd.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <thread>

#include "tests/end_to_end/command.h"
#include "tests/end_to_end/measured_again.h"

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
		before = traces_before();
	}
	void expect_nothing_left() const { EXPECT_EQ(traces_after(before), before); }

	Folder folder;
	Traces before;
};

TEST_F(Middleware, IceoryxHasNoLayerOfTheKernel)
{
	const Outcome outcome = run({icepath_program(), "run", "-t", "iceoryx", "-w", "spin", "-s", "64,4k,64k,1M",
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

// CPUs on which any thread of a process may run.
std::set<int> cpus_of(pid_t pid)
{
	std::set<int> cpus;
	std::error_code gone;
	for (const auto &task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
		cpu_set_t mask;
		if (sched_getaffinity(std::stoi(task.path().filename()), sizeof(mask), &mask))
			continue;
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &mask))
				cpus.insert(cpu);
	}
	return cpus;
}

// By default its daemon is kept off the sides' CPU.
TEST_F(Middleware, DaemonsRunOnTheirCpus)
{
	if (std::thread::hardware_concurrency() < 2)
		GTEST_SKIP() << "there is one CPU";
	for (const std::string given : {"", "0"}) {
		SCOPED_TRACE("--daemon-cpus " + given);
		std::vector<std::string> words = {
			icepath_program(), "run",      "-t", "iceoryx", "-w",     "epoll", "-s", "64",
			"--patterns",      "pingpong", "-d", "4",       "--cpus", "0,0",   "-o", "out" + given};
		if (!given.empty())
			words.insert(words.end(), {"--daemon-cpus", given});
		Running running(words, folder.path());
		std::set<int> cpus;
		for (int i = 0; i < 4000; i++) {
			const auto daemons = children_named(running.pid(), "iox-roudi");
			if (!daemons.empty() && !children_named(running.pid(), "initiator").empty()) {
				cpus = cpus_of(daemons[0]);
				break;
			}
			std::this_thread::sleep_for(1ms);
		}
		const Outcome outcome = running.wait(60s);
		EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
		EXPECT_FALSE(cpus.empty()) << "no daemon was seen";
		EXPECT_EQ(cpus.contains(0), !given.empty());
		EXPECT_TRUE(given.empty() || cpus.size() == 1);
		const std::string told = read_json(folder.path() / ("out" + given) / "run.json")["isolation"]["daemon_cpus"];
		EXPECT_TRUE(given.empty() || told == "0") << told;
	}
	expect_nothing_left();
}

// Its futex calls are distinguished from the library's own code, and the receiver sleeps for the message: the sender
// wakes it, and no other thread takes part.
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

// A listener handles each message in the library's thread, and answers there. The way has two threads, in whose names
// their sides are told apart. The other wait of the target has a third.
TEST_F(Middleware, ListenersHandleMessagesInTheLibrarysThread)
{
	const Outcome outcome = run({icepath_program(), "run", "-t", "cyclonedds/udp,fastdds/udp,iceoryx/listener", "-w",
								 "callback,epoll,block", "-s", "64", "--patterns", "pingpong", "-d", "16", "-o", "out"},
								folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const auto json = read_json(folder.path() / "out/run.json");
	ASSERT_EQ(json["cells"].size(), 6u);
	for (const auto &cell : json["cells"]) {
		SCOPED_TRACE(cell["target"].get<std::string>() + " " + cell["wait"].get<std::string>());
		const auto &messages = cell["messages"];
		EXPECT_EQ(messages["sent"], messages["received"]) << messages.dump();
		EXPECT_EQ(messages["bad_payload"], 0);
		EXPECT_GT(messages["probed"], 0);
		// Between sender and receiver, several threads of Fast DDS may come into question.
		const double least = cell["wait"] == "callback" ? 0.995 : 0.95;
		EXPECT_GE(messages["complete"].get<double>(), least * messages["probed"].get<double>()) << messages.dump();
		EXPECT_EQ(cell["layers_sum_error_ns"], 0);
		double relayed = 0; // a message of thousands may go by another of the library's threads
		for (const auto &layer : cell["layers"])
			if (layer["layer"].get<std::string>().starts_with("relay"))
				relayed += layer["share"].get<double>();
		EXPECT_EQ(relayed > 0.01, cell["wait"] != "callback") << relayed;
	}
	bool is_told = false;
	for (const auto &step : json["isolation"]["steps"])
		is_told |= step["name"] == "library_threads" && step["state"] == "done";
	EXPECT_TRUE(is_told) << json["isolation"].dump();
	expect_nothing_left();
}

TEST_F(Middleware, ALibrarysThreadsHaveTheCpuOfTheirSide)
{
	if (std::thread::hardware_concurrency() < 2)
		GTEST_SKIP() << "there is one CPU";
	for (const bool is_free : {false, true}) {
		SCOPED_TRACE(is_free);
		const std::string out = is_free ? "free" : "out";
		std::vector<std::string> words = {
			icepath_program(), "run", "-t", "cyclonedds/udp", "-w",  "epoll", "-s", "64", "--patterns",
			"pingpong",        "-d",  "4",  "--cpus",         "0,1", "-o",    out};
		if (is_free)
			words.emplace_back("--free-library-threads");
		Running running(words, folder.path());
		std::map<std::string, std::set<int>> cpus;
		for (int i = 0; i < 4000 && cpus.size() < 2; i++) {
			for (const char *side : {"initiator", "responder"}) // its name once the library's threads are there
				if (const auto workers = children_named(running.pid(), side); !workers.empty())
					cpus[side] = cpus_of(workers[0]);
			std::this_thread::sleep_for(1ms);
		}
		const Outcome outcome = running.wait(60s);
		EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
		EXPECT_EQ(cpus["initiator"] == std::set{0}, !is_free);
		EXPECT_EQ(cpus["responder"] == std::set{1}, !is_free);
	}
	expect_nothing_left();
}

// In a chroot no user may have a user namespace, as under AppArmor's restriction or in most containers: the root side
// makes the namespaces instead.
TEST_F(Middleware, RunsWhereNoUserMayHaveNamespaces)
{
	const passwd *nobody = getpwnam("nobody");
	ASSERT_TRUE(nobody);
	const std::string in_chroot = "mkdir root && mount --rbind / root && cd / && exec chroot \"$0/root\" \"$@\"";
	const Outcome outcome = run({"unshare",
								 "--mount",
								 "sh",
								 "-c",
								 in_chroot,
								 folder.path(),
								 icepath_program(),
								 "run",
								 "-t",
								 "zeromq/ipc,iceoryx",
								 "-w",
								 "block,epoll",
								 "-s",
								 "64",
								 "--patterns",
								 "pingpong",
								 "-d",
								 "8",
								 "-o",
								 folder.path() / "out"},
								folder.path(), 60s, {{"SUDO_UID", std::to_string(nobody->pw_uid)}});
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const auto json = read_json(folder.path() / "out/run.json");
	std::set<std::string> targets;
	for (const auto &cell : json["cells"]) {
		targets.insert(cell["target"]);
		EXPECT_EQ(cell["messages"]["sent"], cell["messages"]["received"]) << cell["target"];
		EXPECT_GT(cell["messages"]["complete"], 0) << cell["target"] << " " << json["notices"];
	}
	EXPECT_EQ(targets, (std::set<std::string>{"iceoryx", "zeromq/ipc"})) << "one of them has a daemon";
	expect_nothing_left();
	EXPECT_EQ(run({"sh", "-c", "rmdir root"}, folder.path()).exit_code, 0) << "nothing is mounted there any more";
}

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
		31, folder.path());
	expect_nothing_left();
}

// The thread that handles a message is its library's, which is named after its side. Those that carried it there are
// fewer than by block, unless the library has a thread for its callbacks alone, as NATS and ROS 1's spinner do.
TEST_F(Middleware, MessagesAreFollowedToTheThreadThatCallsBack)
{
	expect_followed({{"mqtt/qos0", {"mosquitto"}}, {"nats", {"nats-server"}}, {"grpc/callback", {}}}, 12, folder.path(),
					"callback");
	expect_nothing_left();
}

// They take many calls, of several threads, and the kernel holds back part of them.
TEST_F(Middleware, LongMessagesAreFollowed)
{
	const Outcome outcome = run({icepath_program(), "run", "-t", "nng/ipc,grpc/stream", "-s", "1M", "--patterns",
								 "pingpong", "-d", "8", "-o", "out"},
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
								 "pingpong", "-d", "12", "-o", "out"},
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
								 "--patterns", "pingpong", "-d", "8", "-o", "out"},
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

TEST_F(Middleware, ADaemonThatIsNotInstalledNamesItsPackage)
{
	const Outcome outcome = run(
		{icepath_program(), "run", "-t", "iceoryx,pipe", "-s", "64", "--patterns", "pingpong", "-d", "5", "-o", "out"},
		folder.path(), 60s, {{"PATH", "/nowhere"}});
	EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
	EXPECT_TRUE(mentions(outcome.out, "iox-roudi can't be started: No such file or directory; Debian's package iceoryx "
									  "brings it"))
		<< outcome.out;
	const Outcome list = run({icepath_program(), "list"}, folder.path(), 60s, {{"PATH", "/nowhere"}});
	const Outcome as_json = run({icepath_program(), "list", "--json"}, folder.path(), 60s, {{"PATH", "/nowhere"}});
	const auto listed = nlohmann::json::parse(as_json.out);
	for (const auto &target : listed["targets"]) {
		SCOPED_TRACE(target["name"].get<std::string>());
		EXPECT_EQ(target["patterns"].size(), target["fanin_waits"].empty() ? 8 : 9);
		if (target["name"] == "iceoryx") {
			EXPECT_EQ(target["daemon"], "iox-roudi");
			EXPECT_EQ(target["why_no_daemon"], "isn't installed: Debian's package iceoryx brings it");
		} else if (target["name"] == "pipe") {
			EXPECT_EQ(target["daemon"], "");
		}
	}
	EXPECT_TRUE(mentions(list.out, "daemon iox-roudi, which isn't installed: Debian's package iceoryx brings it"))
		<< list.out;
	expect_nothing_left();
}

} // namespace
} // namespace icepath::end_to_end
