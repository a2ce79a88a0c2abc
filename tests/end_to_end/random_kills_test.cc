// SPDX-License-Identifier: Apache-2.0
// Whoever of a run under `--isolate full` gets SIGKILL, and whenever: afterwards the machine is as it was.
// ICEPATH_KILLS: how many (default 4). ICEPATH_SEED: of the random numbers, which is printed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

uint32_t number_from(const char *variable, uint32_t otherwise)
{
	const char *text = std::getenv(variable);
	return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : otherwise;
}

// The process's children, and theirs.
void add_descendants(pid_t process, std::vector<pid_t> &found)
{
	for (const pid_t child : children_of(process)) {
		found.push_back(child);
		add_descendants(child, found);
	}
}

TEST(RandomKills, LeaveTheMachineAsItWas)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const uint32_t cpus = std::thread::hardware_concurrency();
	if (cpus < 2)
		GTEST_SKIP() << "there is no CPU for the rest of the machine";
	const uint32_t kills = number_from("ICEPATH_KILLS", 4), seed = number_from("ICEPATH_SEED", std::random_device()());
	std::mt19937 random(seed);
	std::cout << "ICEPATH_SEED=" << seed << "\n" << std::flush;
	const std::string measured = cpus > 2 ? fmt::format("{},{}", cpus - 2, cpus - 1) : "1,1";
	std::map<std::string, uint32_t> killed;
	const Traces before = traces_before();
	for (uint32_t i = 0; i < kills; i++) {
		const Folder folder;
		const bool with_daemons = random() % 3 == 0;
		Running icepath({icepath_program(), "run", "-t", with_daemons ? "iceoryx,mqtt/qos0" : "pipe,mqueue", "-s", "64",
						 "--patterns", "pingpong", "-d", with_daemons ? "6" : "3", "-o", "out", "--isolate", "full",
						 "--cpus", measured},
						folder.path());
		std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % (with_daemons ? 6000 : 3000)));
		std::vector<pid_t> processes = {icepath.pid()};
		add_descendants(icepath.pid(), processes);
		const pid_t victim = processes[random() % processes.size()];
		const std::string name = name_of_process(victim);
		killed[name.empty() ? "(ended)" : name]++;
		kill_process(victim, SIGKILL);
		if (random() % 4 == 0) // and another one
			kill_process(processes[random() % processes.size()], SIGKILL);
		const Outcome outcome = icepath.wait(120s);
		const Outcome restored = run({icepath_program(), "doctor", "--restore"}, folder.path());
		EXPECT_EQ(restored.exit_code, 0) << restored.err << restored.out;
		EXPECT_FALSE(outcome.exit_code == 0 && restored.out.find("are undone") != std::string::npos)
			<< "it said that all was well, and left its changes: " << outcome.err;
		ASSERT_EQ(traces_after(before), before)
			<< "after kill " << i << ", of " << name << ": " << outcome.err << restored.out << restored.err;
	}
	for (const auto &[name, count] : killed)
		std::cout << "killed " << count << " × " << name << "\n" << std::flush;
}

} // namespace
} // namespace icepath::end_to_end
