// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/fault_causes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

namespace icepath::end_to_end {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

Scene::Scene() : temporary(folder.path() / "tmp")
{
	fs::create_directory(temporary);
	fs::permissions(temporary, fs::perms::all | fs::perms::sticky_bit);
}

pid_t Scene::child(const std::string &name) const
{
	const auto found = children_named(icepath->pid(), name);
	EXPECT_FALSE(found.empty()) << "icepath has no child " << name;
	return found.empty() ? -1 : found.front();
}

void await_rounds(const Running &running)
{
	for (int i = 0; i < 2000 && running.err_so_far().find("round 2") == std::string::npos; i++)
		std::this_thread::sleep_for(10ms);
	ASSERT_NE(running.err_so_far().find("round 2"), std::string::npos) << running.err_so_far();
}

void kill_sender(Scene &scene) { signal_child(scene, "initiator", SIGKILL); }
// Again and again, so that it is stopped in a block: between its cell's blocks it stands still anyway, and goes on for
// the next one.
void stop_in_a_block(Scene &scene, const char *name)
{
	const auto end = std::chrono::steady_clock::now() + 1500ms;
	while (std::chrono::steady_clock::now() < end) {
		for (const pid_t child : children_named(scene.icepath->pid(), name))
			kill_process(child, SIGSTOP);
		std::this_thread::sleep_for(5ms);
	}
}
void stop_receiver(Scene &scene) { stop_in_a_block(scene, "responder"); }
void stop_daemon(Scene &scene) { stop_in_a_block(scene, "mosquitto"); }
void kill_daemons(Scene &scene)
{
	for (const char *name : {"iox-roudi", "mosquitto"})
		signal_child(scene, name, SIGKILL);
}

void kill_keeper(Scene &scene) { signal_child(scene, "icepath-keeper", SIGKILL); }
void stop_keeper(Scene &scene) { signal_child(scene, "icepath-keeper", SIGSTOP); }
void kill_with_keeper(Scene &scene)
{
	kill_keeper(scene);
	scene.icepath->signal(SIGKILL);
}
// Every machine has this one, and the keeper raises it to 120.
constexpr const char *kSetting = "/proc/sys/vm/stat_interval";
// The run's file has its last name by then, and the helper ends before the keeper is asked.
void kill_keeper_at_the_end(Scene &scene)
{
	EXPECT_EQ(setpriority(PRIO_PROCESS, 0, -20), 0); // it must run within milliseconds, whoever else wants the CPU
	for (int i = 0; i < 600'000 && !fs::exists(scene.folder.path() / "out/capture.icp"); i++)
		std::this_thread::sleep_for(100us);
	scene.icepath->signal(SIGSTOP);
	std::string now;
	std::ifstream(kSetting) >> now;
	EXPECT_EQ(now, "120") << "the machine was restored already";
	kill_keeper(scene);
	scene.icepath->signal(SIGCONT);
	setpriority(PRIO_PROCESS, 0, 0);
}
void kill_tuned(Scene &scene)
{
	EXPECT_EQ(first_line("/proc/sys/net/core/rmem_max"), "1048576000");
	scene.icepath->signal(SIGKILL);
}
void remember_the_setting(Scene &scene) { std::ifstream(kSetting) >> scene.setting; }
void change_a_setting(Scene &)
{
	std::string now;
	std::ifstream(kSetting) >> now;
	EXPECT_EQ(now, "120");
	std::ofstream(kSetting) << 77;
}

void interrupt_in_haste(Scene &scene)
{
	scene.icepath->signal(SIGINT);
	std::this_thread::sleep_for(20ms);
	scene.icepath->signal(SIGINT);
}

// For a block with a stopped worker, icepath waits for more than a second. Between two blocks it wouldn't: so every
// cell's receiver is stopped, and the next block has begun.
void interrupt_again(Scene &scene)
{
	stop_receiver(scene);
	scene.icepath->signal(SIGINT);
	stop_receiver(scene);
	scene.icepath->signal(SIGINT);
}

// No worker can clean up: only the kernel can remove what is left, such as System V queues.
void kill_everybody(Scene &scene)
{
	for (const char *name : {"initiator", "responder"})
		for (const pid_t worker : children_named(scene.icepath->pid(), name))
			kill_process(worker, SIGKILL);
	scene.icepath->signal(SIGKILL);
}

void move_sender(Scene &scene)
{
	cpu_set_t all;
	CPU_ZERO(&all);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		CPU_SET(cpu, &all);
	EXPECT_EQ(sched_setaffinity(scene.child("initiator"), sizeof(all), &all), 0);
}

void start_another(Scene &scene)
{
	scene.other =
		std::make_unique<Running>(std::vector<std::string>{icepath_program(), "run", "-t", "null", "--patterns",
														   "pingpong", "-d", "30", "-o", "other"},
								  scene.folder.path());
	await_rounds(*scene.other);
}

void start_another_isolated(Scene &scene)
{
	scene.other = std::make_unique<Running>(std::vector<std::string>{icepath_program(), "run", "-t", "null",
																	 "--patterns", "pingpong", "-d", "30", "-o",
																	 "other", "--isolate", "full", "--cpus", "0,0"},
											scene.folder.path());
	await_rounds(*scene.other);
}

void close_folder(Scene &scene) { fs::permissions(scene.folder.path(), fs::perms::owner_all); }

void expect_the_others_pid(Scene &scene, const Outcome &outcome)
{
	EXPECT_NE(outcome.err.find(fmt::format("(pid {})", scene.other->pid())), std::string::npos) << outcome.err;
	scene.other.reset();
}

void restore_by_doctor(Scene &scene, const Outcome &)
{
	const Outcome first = run({icepath_program(), "doctor", "--restore"}, scene.folder.path());
	EXPECT_EQ(first.exit_code, 0) << first.err;
	EXPECT_EQ(first.out, "the changes of a killed run are undone\n");
	const Outcome second = run({icepath_program(), "doctor", "--restore"}, scene.folder.path());
	EXPECT_EQ(second.exit_code, 0) << second.err;
	EXPECT_EQ(second.out, "no killed run has left changes\n");
}

void restore_by_next_run(Scene &scene, const Outcome &)
{
	const Outcome next =
		run({icepath_program(), "run", "-t", "null", "--patterns", "pingpong", "-d", "2", "-o", "next"},
			scene.folder.path());
	EXPECT_EQ(next.exit_code, 0) << next.err;
}

void expect_the_setting_is_left(Scene &scene, const Outcome &)
{
	std::string now;
	std::ifstream(kSetting) >> now;
	EXPECT_EQ(now, "77") << "somebody else's value was changed";
	std::ofstream(kSetting) << scene.setting;
}

// The affected cell has some earlier blocks, the other one has all of its blocks.
void expect_the_others_went_on(Scene &scene, const Outcome &)
{
	uint64_t most = 0, least = UINT64_MAX;
	const auto run = read_json(scene.folder.path() / "out/run.json");
	ASSERT_GE(run["cells"].size(), 2u);
	for (const auto &cell : run["cells"]) {
		const uint64_t blocks = cell["blocks"]["unprobed"].get<uint64_t>() + cell["blocks"]["probed"].get<uint64_t>();
		most = std::max(most, blocks);
		least = std::min(least, blocks);
	}
	EXPECT_GT(least, 0u) << "what was measured is kept";
	EXPECT_GT(most, least) << "the others went on";
}

void expect_both_daemons_told(Scene &scene, const Outcome &outcome)
{
	const std::string told = read_json(scene.folder.path() / "out/run.json")["notices"].dump();
	for (const char *name : {"iox-roudi", "mosquitto"})
		EXPECT_NE(told.find(fmt::format("the daemon {} was killed by signal 9", name)), std::string::npos) << told;
	expect_the_others_went_on(scene, outcome);
}

void expect_probed_blocks_of_before(Scene &scene, const Outcome &)
{
	const auto run = read_json(scene.folder.path() / "out/run.json");
	ASSERT_FALSE(run["cells"].empty());
	for (const auto &cell : run["cells"])
		EXPECT_GT(cell["messages"]["probed"].get<uint64_t>(), 0u);
}

void expect_no_word_of_the_helper(Scene &, const Outcome &outcome)
{
	EXPECT_EQ(outcome.out.find("root helper"), std::string::npos) << outcome.out;
}

} // namespace icepath::end_to_end
