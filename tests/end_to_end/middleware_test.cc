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
#include <set>
#include <thread>

#include "tests/end_to_end/middleware.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

TEST_F(Middleware, IceoryxHasNoLayerOfTheKernel)
{
	const Outcome outcome = run({icepath_program(), "run", "-t", "iceoryx", "-w", "spin", "-s", "64,4k,64k,1M",
								 "--patterns", "pingpong", "-d", "3", "-o", "out"},
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

// What asserts nothing measured.
using MiddlewaresProcesses = Middleware;

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
TEST_F(MiddlewaresProcesses, DaemonsRunOnTheirCpus)
{
	if (std::thread::hardware_concurrency() < 2)
		GTEST_SKIP() << "there is one CPU";
	for (const std::string given : {"", "0"}) {
		SCOPED_TRACE("--daemon-cpus " + given);
		std::vector<std::string> words = {
			icepath_program(), "run",      "-t", "iceoryx", "-w",     "epoll", "-s", "64",
			"--patterns",      "pingpong", "-d", "2",       "--cpus", "0,0",   "-o", "out" + given};
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
								 "pingpong,oneway", "-d", "3", "-o", "out"},
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

// Of a library's cell: datagrams sent for each message, by all threads of both sides.
double sent_per_message(const nlohmann::json &cell)
{
	double sent = 0;
	for (const auto &call : cell["system_calls"])
		if (call["call"].get<std::string>().starts_with("send"))
			sent += call["per_message"].get<double>();
	return sent;
}

// What the library does with its setting: 64 KiB take five datagrams of 14 720 B, its default, or two of 65 500 B.
// Acknowledgements come on top, and are as many in both.
TEST_F(Middleware, CycloneSendsLargeDatagramsWhereThatIsItsSetting)
{
	const Outcome outcome = run({icepath_program(), "run", "-t", "cyclonedds/udp,cyclonedds/udp-large", "-w", "epoll",
								 "-s", "64k", "--patterns", "pingpong", "-d", "6", "-o", "out"},
								folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const auto json = read_json(folder.path() / "out/run.json");
	ASSERT_EQ(json["cells"].size(), 2u);
	std::map<std::string, double> sent;
	for (const auto &cell : json["cells"])
		sent[cell["target"]] = sent_per_message(cell);
	EXPECT_GE(sent["cyclonedds/udp"], 5) << json["cells"][0]["system_calls"];
	EXPECT_GE(sent["cyclonedds/udp-large"], 2);
	EXPECT_LT(sent["cyclonedds/udp-large"], sent["cyclonedds/udp"] - 2) << json["cells"][1]["system_calls"];
	expect_nothing_left();
}

TEST_F(MiddlewaresProcesses, ALibrarysThreadsHaveTheCpuOfTheirSide)
{
	if (std::thread::hardware_concurrency() < 2)
		GTEST_SKIP() << "there is one CPU";
	for (const bool is_free : {false, true}) {
		SCOPED_TRACE(is_free);
		const std::string out = is_free ? "free" : "out";
		std::vector<std::string> words = {
			icepath_program(), "run", "-t", "cyclonedds/udp", "-w",  "epoll", "-s", "64", "--patterns",
			"pingpong",        "-d",  "2",  "--cpus",         "0,1", "-o",    out};
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
TEST_F(MiddlewaresProcesses, RunsWhereNoUserMayHaveNamespaces)
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
								 "3",
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

TEST_F(MiddlewaresProcesses, ADaemonThatIsNotInstalledNamesItsPackage)
{
	const Outcome outcome = run(
		{icepath_program(), "run", "-t", "iceoryx,pipe", "-s", "64", "--patterns", "pingpong", "-d", "2", "-o", "out"},
		folder.path(), 60s, {{"PATH", "/nowhere"}});
	EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
	// On a busy machine another notice may take its place on the screen.
	const Outcome in_full = run({icepath_program(), "report", "-v", "out"}, folder.path());
	EXPECT_TRUE(mentions(in_full.out, "iox-roudi can't be started: No such file or directory; Debian's package iceoryx "
									  "brings it"))
		<< in_full.out;
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
