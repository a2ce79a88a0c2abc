// SPDX-License-Identifier: Apache-2.0
// Whoever may call sudo does whatever the kernel allows to the control group, the session and the processes that are
// that user's: the machine is restored all the same, which is seen in /proc and /sys, without icepath's code. Freezes
// and starves processes: tests/vm runs it, `make test` doesn't.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "profiler/isolation/keeper.h"
#include "tests/folders.h"
#include "tests/isolation/raw_keeper.h"
#include "tests/isolation/unanswering_files.h"

namespace icepath::isolation {
namespace {

using namespace std::chrono_literals;

const std::string kTop = "/sys/fs/cgroup", kDelegated = kTop + "/delegated", kOwn = kDelegated + "/own",
				  kRoots = kTop + "/roots", kSetting = "/proc/sys/net/core/rmem_max", kRaised = "7654321";
constexpr uint64_t kRaisedBytes = 7'654'321;

std::string line_of(const std::string &path)
{
	std::ifstream file(path);
	std::string line;
	std::getline(file, line);
	return line;
}

bool write_line(const std::string &path, const std::string &text)
{
	std::ofstream file(path);
	file << text << std::flush;
	return file.good();
}

template <typename Condition> bool soon(Condition condition)
{
	for (int i = 0; i < 1500; i++, std::this_thread::sleep_for(10ms))
		if (condition())
			return true;
	return false;
}

void as_user(const std::function<bool()> &act)
{
	const pid_t child = fork();
	if (child == 0) {
		privilege::become(nobody());
		_exit(act() ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0) << "the user can't do that";
}

// As systemd delegates a group to a user (cg_set_access() of src/basic/cgroup-util.c), who makes a group in it.
void delegate_group()
{
	ASSERT_TRUE(mkdir(kDelegated.c_str(), 0755) == 0 || errno == EEXIST);
	for (const char *file : {"", "/cgroup.procs", "/cgroup.threads", "/cgroup.subtree_control"})
		ASSERT_EQ(chown((kDelegated + file).c_str(), nobody().uid, nobody().gid), 0);
	as_user([] { return mkdir(kOwn.c_str(), 0755) == 0 || errno == EEXIST; });
}

// In the user's shell, which then calls sudo.
bool enter_own_group()
{
	if (!write_line(kDelegated + "/cgroup.procs", "0") || seteuid(nobody().uid))
		return false;
	const bool done = write_line(kOwn + "/cgroup.procs", "0");
	return seteuid(0) == 0 && done;
}

// An icepath that a user has called by sudo, from a group of the user's. It has raised a limit.
struct Icepath : IcepathWithKeeper {
	// `before`: what the user's shell does in the group first.
	explicit Icepath(const std::function<void()> &before = [] {})
		: IcepathWithKeeper([](Keeper &keeper) { keeper.tune({{0, 0, kRaisedBytes}}); },
							[&] {
								if (!enter_own_group())
									return false;
								before();
								return true;
							})
	{
		EXPECT_EQ(line_of(kSetting), kRaised);
	}
};

struct Said {
	int exit_code;
	std::string text;
};

Said restore()
{
	FILE *doctor = popen(("'" + test::in_build("bin/icepath") + "' doctor --restore 2>&1").c_str(), "r");
	std::string text;
	for (int c = 0; (c = std::fgetc(doctor)) != EOF;)
		text += static_cast<char>(c);
	return {WEXITSTATUS(pclose(doctor)), text};
}

class CallersHands : public testing::Test {
protected:
	void SetUp() override
	{
		ASSERT_EQ(geteuid(), 0u);
		before = line_of(kSetting);
		ASSERT_NE(before, kRaised);
		delegate_group();
	}
	void TearDown() override
	{
		EXPECT_TRUE(soon([&] { return line_of(kSetting) == before; })) << line_of(kSetting) << " for " << before;
		EXPECT_EQ(restore().exit_code, 0);
		EXPECT_TRUE(soon([] { return rmdir(kOwn.c_str()) == 0 || errno == ENOENT; }));
		EXPECT_EQ(rmdir(kDelegated.c_str()), 0);
	}
	void expect_restored() const
	{
		EXPECT_TRUE(soon([&] { return line_of(kSetting) == before; })) << line_of(kSetting);
		EXPECT_TRUE(soon([] { return std::ifstream("/run/icepath.journal").peek() == EOF; })) << "it is in the journal";
	}

	std::string before;
};

TEST_F(CallersHands, KillTheirGroup)
{
	Icepath icepath;
	as_user([] { return write_line(kOwn + "/cgroup.kill", "1"); });
	expect_restored();
}

TEST_F(CallersHands, FreezeTheirGroupAndKillIcepath)
{
	Icepath icepath;
	as_user([] { return write_line(kOwn + "/cgroup.freeze", "1"); });
	std::this_thread::sleep_for(200ms); // of what is in it, all is frozen
	as_user([&] { return kill(icepath.pid(), SIGKILL) == 0; });
	expect_restored();
	as_user([] { return write_line(kOwn + "/cgroup.freeze", "0"); });
}

TEST_F(CallersHands, LetTheirGroupRunOutOfMemory)
{
	ASSERT_TRUE(write_line(kTop + "/cgroup.subtree_control", "+memory"));
	Icepath icepath([] { // as the user, who then owns the group's limits
		if (seteuid(nobody().uid) || !write_line(kDelegated + "/cgroup.subtree_control", "+memory") || seteuid(0))
			_exit(1);
	});
	as_user([] { return write_line(kOwn + "/memory.oom.group", "1") && write_line(kOwn + "/memory.max", "0"); });
	expect_restored();
	icepath.end();
	ASSERT_TRUE(write_line(kDelegated + "/cgroup.subtree_control", "-memory"));
	ASSERT_TRUE(write_line(kTop + "/cgroup.subtree_control", "-memory"));
}

// The kernel ends first what has most memory, and by this value has as much as there is.
TEST_F(CallersHands, ChooseTheKeeperWhereMemoryRunsOut)
{
	Icepath icepath([] { write_line("/proc/self/oom_score_adj", "1000"); });
	EXPECT_EQ(line_of(fmt::format("/proc/{}/oom_score_adj", icepath.pid())), "1000");
	EXPECT_EQ(line_of(fmt::format("/proc/{}/oom_score_adj", icepath.keeper())), "-1000");
	EXPECT_EQ(line_of(fmt::format("/proc/{}/oom_score", icepath.keeper())), "0");
}

TEST_F(CallersHands, StopTheKeeper)
{
	Icepath icepath;
	as_user([&] {
		bool may = false;
		for (const int number : {SIGSTOP, SIGTSTP, SIGQUIT, SIGKILL, SIGHUP, SIGXCPU})
			may = may || kill(icepath.keeper(), number) == 0;
		return !may && kill(icepath.pid(), SIGKILL) == 0;
	});
	expect_restored();
}

enum class How : uint8_t { FrozenByV2, FrozenByV1, Stopped, Killed };
constexpr const char *kHowNames[] = {"FrozenByV2", "FrozenByV1", "Stopped", "Killed"};

class Restoring : public CallersHands, public testing::WithParamInterface<How> {
protected:
	// As only root can.
	void hold(pid_t keeper) const
	{
		switch (GetParam()) {
		case How::FrozenByV2:
			ASSERT_EQ(mkdir(kRoots.c_str(), 0755), 0);
			ASSERT_TRUE(write_line(kRoots + "/cgroup.procs", std::to_string(keeper)));
			ASSERT_TRUE(write_line(kRoots + "/cgroup.freeze", "1"));
			break;
		case How::FrozenByV1:
			ASSERT_EQ(mkdir(kFreezer.c_str(), 0755), 0);
			ASSERT_EQ(mount("freezer", kFreezer.c_str(), "cgroup", 0, "freezer"), 0) << std::strerror(errno);
			ASSERT_EQ(mkdir((kFreezer + "/one").c_str(), 0755), 0);
			ASSERT_TRUE(write_line(kFreezer + "/one/cgroup.procs", std::to_string(keeper)));
			ASSERT_TRUE(write_line(kFreezer + "/one/freezer.state", "FROZEN"));
			break;
		case How::Stopped:
			ASSERT_EQ(kill(keeper, SIGSTOP), 0);
			break;
		case How::Killed:
			ASSERT_EQ(kill(keeper, SIGKILL), 0);
			break;
		}
		std::this_thread::sleep_for(200ms); // it is so by now
	}
	void let_go() const
	{
		if (GetParam() == How::FrozenByV2) {
			EXPECT_TRUE(soon([] { return rmdir(kRoots.c_str()) == 0; })) << "the keeper is in it";
		}
		if (GetParam() == How::FrozenByV1) {
			EXPECT_TRUE(soon([&] { return rmdir((kFreezer + "/one").c_str()) == 0; })) << "the keeper is in it";
			EXPECT_EQ(umount2(kFreezer.c_str(), MNT_DETACH), 0);
			EXPECT_EQ(rmdir(kFreezer.c_str()), 0);
		}
	}
	const std::string kFreezer = "/tmp/icepath-freezer";
};

INSTANTIATE_TEST_SUITE_P(Keeper, Restoring,
						 testing::Values(How::FrozenByV2, How::FrozenByV1, How::Stopped, How::Killed),
						 [](const auto &one) { return kHowNames[static_cast<size_t>(one.param)]; });

TEST_P(Restoring, NeedsNoKeeper)
{
	Icepath icepath;
	hold(icepath.keeper());
	if (GetParam() != How::Killed) { // whose journal is free
		const Said refused = restore();
		EXPECT_EQ(refused.exit_code, 3);
		EXPECT_NE(refused.text.find(fmt::format("another icepath (pid {})", icepath.pid())), std::string::npos)
			<< refused.text;
		EXPECT_EQ(line_of(kSetting), kRaised) << "it runs still";
	}
	icepath.end();
	const Said said = restore();
	EXPECT_EQ(said.exit_code, 0) << said.text;
	EXPECT_EQ(said.text, "the changes of a killed run are undone\n");
	EXPECT_EQ(line_of(kSetting), before) << "at once";
	let_go();
}

// A worker in the partition that waits for the user's file system, and can't be killed.
TEST(PartitionOfAWorkerThatDoesNotEnd, GivesItsCpusBack)
{
	ASSERT_EQ(geteuid(), 0u);
	ASSERT_TRUE(last_cpu());
	const std::string group = kTop + "/icepath", kind = group + "/cpuset.cpus.partition";
	ASSERT_TRUE(write_line(kTop + "/cgroup.subtree_control", "+cpuset")); // so that the root shows its CPUs
	const std::string before = line_of(kTop + "/cpuset.cpus.effective");
	UnansweringFiles files;
	RawKeeper keeper;
	ASSERT_EQ(keeper.ask(request_of(KeeperRequest::Kind::Isolate, {*last_cpu()})).at(0).exit_code, 0);
	ASSERT_EQ(line_of(kind), "isolated");
	ASSERT_NE(line_of(kTop + "/cpuset.cpus.effective"), before);
	int go[2];
	ASSERT_EQ(pipe2(go, O_CLOEXEC), 0);
	const pid_t worker = fork();
	if (worker == 0) {
		privilege::become(nobody());
		char one = 0;
		struct stat status{};
		if (read(go[0], &one, 1) == 1)
			stat(files.file().c_str(), &status);
		_exit(0);
	}
	const auto state = [&] {
		std::string status = line_of(fmt::format("/proc/{}/stat", worker));
		return status.substr(status.rfind(')') + 2, 1);
	};
	std::this_thread::sleep_for(200ms); // until it is nobody's
	const Fd pidfd = pidfd_of(worker);
	ASSERT_EQ(keeper.ask(request_of(KeeperRequest::Kind::Admit), {pidfd.get()}).at(0).exit_code, 0);
	ASSERT_EQ(line_of(group + "/run/cgroup.procs"), std::to_string(worker));
	ASSERT_EQ(::write(go[1], "1", 1), 1);
	std::this_thread::sleep_for(500ms); // until the request is read
	kill(worker, SIGKILL);
	ASSERT_TRUE(soon([&] { return state() == "D"; })) << state();

	const auto replies = keeper.ask(request_of(KeeperRequest::Kind::PutBack));
	ASSERT_FALSE(replies.empty());
	std::string told;
	for (const KeeperReply &reply : replies)
		told += std::string(reply.text.data()) + "\n";
	EXPECT_NE(told.find(fmt::format("/sys/fs/cgroup/icepath is left, since a process in it doesn't end though it was "
									"killed ({})",
									worker)),
			  std::string::npos)
		<< told;
	EXPECT_EQ(line_of(kind), "member");
	EXPECT_EQ(line_of(kTop + "/cpuset.cpus.effective"), before);
	files.end();
	waitpid(worker, nullptr, 0);
	const Said said = restore();
	EXPECT_EQ(said.exit_code, 0) << said.text;
	EXPECT_NE(access(group.c_str(), F_OK), 0) << "it is removed now";
	(void)write_line(kTop + "/cgroup.subtree_control", "-cpuset");
	close(go[0]);
	close(go[1]);
}

} // namespace
} // namespace icepath::isolation
