// SPDX-License-Identifier: Apache-2.0
// The root side of middleware's namespaces, with a shell as worker, which prints what it sees.
#include "profiler/privilege/root_space.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "profiler/failure.h"
#include "profiler/privilege/own_space.h"

namespace icepath::privilege {
namespace {

namespace fs = std::filesystem;

const Identity kNobodyIdentity{65534, 65534, "nobody", true, false, {65534}, "/"};

// What the script writes to descriptor 9. It is reaped like any child.
std::string said_by(RootSpace &space, const std::string &script)
{
	int ends[2];
	EXPECT_EQ(pipe(ends), 0);
	const Fd out(ends[0]);
	Fd in(ends[1]);
	const std::string to_pipe = "exec >&" + std::to_string(in.get()) + "; ";
	const pid_t pid = space.start({"-c", to_pipe + script}, {in.get()});
	in.reset();
	std::string text;
	char some[4096];
	for (ssize_t got = 0; (got = read(out.get(), some, sizeof(some))) > 0;)
		text.append(some, static_cast<size_t>(got));
	int status = -1;
	EXPECT_EQ(waitpid(pid, &status, 0), pid) << "it is a child of this process";
	EXPECT_EQ(status, 0) << script;
	return text;
}

std::string mounts_here()
{
	std::ifstream file("/proc/self/mountinfo");
	return {std::istreambuf_iterator<char>(file), {}};
}

class RootSpaceTest : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
	RootSpace space_{kNobodyIdentity, "/bin/sh", [] {}};
};

TEST_F(RootSpaceTest, AWorkerIsTheUserAndNothingMore)
{
	space_.make({});
	EXPECT_EQ(said_by(space_, "id -u; id -g; echo $PPID; grep -E '^(CapPrm|CapEff|NoNewPrivs)' /proc/self/status"),
			  "65534\n65534\n" + std::to_string(getpid()) +
				  "\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n");
	// Counted by the shell itself: with another process it would have pipes for a while.
	EXPECT_EQ(said_by(space_, "set -- /proc/$$/fd/*; echo $#"), "5\n")
		<< "standard input, output, error, the pipe, and the folder that it reads";
}

// Of one worker alone: this is how an arm of a run has another environment than the next.
TEST_F(RootSpaceTest, AWorkerHasTheVariablesThatItsStartNames)
{
	space_.make({});
	setenv("ICEPATH_TEST_OWN", "of icepath", 1);
	RootSpace other(kNobodyIdentity, "/bin/sh", [] {});
	unsetenv("ICEPATH_TEST_OWN");
	other.make({});
	const auto said_with = [&](const std::vector<std::pair<std::string, std::string>> &environment) {
		int ends[2];
		EXPECT_EQ(pipe(ends), 0);
		const Fd out(ends[0]);
		Fd in(ends[1]);
		const pid_t pid =
			other.start({"-c", "echo \"$ICEPATH_TEST_OWN $A\" >&" + std::to_string(in.get())}, {in.get()}, environment);
		in.reset();
		char text[256];
		const ssize_t got = read(out.get(), text, sizeof(text));
		waitpid(pid, nullptr, 0);
		return std::string(text, static_cast<size_t>(std::max<ssize_t>(got, 0)));
	};
	EXPECT_EQ(said_with({{"A", "1=2"}, {"ICEPATH_TEST_OWN", "of an arm"}}), "of an arm 1=2\n");
	EXPECT_EQ(said_with({}), "of icepath \n") << "the process itself keeps none of it";
}

TEST_F(RootSpaceTest, IsTheRunsOwn)
{
	const fs::path marker = "/tmp/icepath-marker-" + std::to_string(getpid());
	std::ofstream(marker) << "x";
	const std::string before = mounts_here();
	space_.make({});
	EXPECT_EQ(said_by(space_, "ls -A /tmp /dev/shm; touch /dev/shm/icepath-made && ls /dev/shm"),
			  "/dev/shm:\n\n/tmp:\nicepath-made\n");
	EXPECT_FALSE(fs::exists("/dev/shm/icepath-made")) << "what is made there is nobody else's";
	EXPECT_EQ(said_by(space_, "ls /dev/shm"), "icepath-made\n") << "but another worker's";
	EXPECT_EQ(said_by(space_, "sed 's/:.*//; 1,2d; s/ //g' /proc/net/dev; cut -f1,2 /proc/net/route | tail -1"),
			  "lo\nlo\t000000E0\n");
	EXPECT_EQ(mounts_here(), before);
	fs::remove(marker);
}

std::string line_of_status(pid_t pid, const std::string &name)
{
	std::ifstream status("/proc/" + std::to_string(pid) + "/status");
	for (std::string line; std::getline(status, line);)
		if (line.starts_with(name + ":"))
			return line.substr(name.size() + 2);
	return "";
}

constexpr const char *kOfNobody = "65534\t65534\t65534\t65534";

// A process that checks it, such as the root helper, never sees that it was root.
TEST_F(RootSpaceTest, AWorkerIsTheUserOnceItIsToldOf)
{
	RootSpace slow(kNobodyIdentity, "/bin/sh", [] { usleep(50'000); });
	slow.make({});
	const pid_t pid = slow.start({"-c", "sleep 5"}, {});
	EXPECT_EQ(line_of_status(pid, "Uid"), kOfNobody);
	kill(pid, SIGKILL);
	waitpid(pid, nullptr, 0);
}

TEST_F(RootSpaceTest, IsTheUserOnceTheNamespacesAreMadeOrRefused)
{
	EXPECT_NE(line_of_status(space_.pid(), "Uid"), kOfNobody);
	EXPECT_EQ(line_of_status(space_.pid(), "Uid").find("\t0"), std::string::npos);
	space_.make({});
	RootSpace refused(kNobodyIdentity, "/bin/sh", [] {});
	std::vector<Kept> bad;
	bad.push_back({"/tmp/../etc", Fd(open("/usr", O_PATH | O_DIRECTORY))});
	EXPECT_THROW(refused.make_of(bad), Failure);
	for (const pid_t pid : {space_.pid(), refused.pid()}) {
		EXPECT_EQ(line_of_status(pid, "Uid"), kOfNobody);
		EXPECT_EQ(line_of_status(pid, "CapPrm"), "0000000000000000");
		EXPECT_EQ(line_of_status(pid, "NoNewPrivs"), "1");
	}
}

TEST_F(RootSpaceTest, AStoppedOneIsEnded)
{
	pid_t pid = -1;
	{
		RootSpace stopped(kNobodyIdentity, "/bin/sh", [] {});
		pid = stopped.pid();
		kill(pid, SIGSTOP);
		testing::internal::CaptureStderr();
	}
	EXPECT_NE(testing::internal::GetCapturedStderr().find("icepath-space (process " + std::to_string(pid)),
			  std::string::npos);
	EXPECT_EQ(kill(pid, 0), -1) << "it is still there";
}

// Anything that a user might send instead of open_kept()'s result.
TEST_F(RootSpaceTest, PutsNothingWhereItDoesNotBelong)
{
	const std::string before = mounts_here();
	for (const std::string path : {"/etc", "/tmp", "/tmp/", "/tmp/../etc", "/tmp/a/../../etc", "/tmp//a", "/tmp/a/",
								   "tmp/a", "/dev/shm/./a", "/dev", "", "/tmpa"}) {
		RootSpace space(kNobodyIdentity, "/bin/sh", [] {});
		std::vector<Kept> one;
		one.push_back({path, Fd(open("/usr", O_PATH | O_DIRECTORY))});
		EXPECT_THROW(space.make_of(one), Failure) << path;
	}
	std::vector<Kept> nested; // with a valid place: an invalid one would be the reason for the refusal
	nested.push_back({"/tmp/a", Fd(open("/usr", O_PATH | O_DIRECTORY))});
	nested.push_back({"/tmp/a/bin", Fd(open("/usr", O_PATH | O_DIRECTORY))});
	EXPECT_THROW(space_.make_of(nested), Failure);
	EXPECT_EQ(mounts_here(), before);
}

// A folder that is a link, below which another leads to /etc once the first is mounted at its name.
TEST_F(RootSpaceTest, FollowsNoLinkOfAKeptFolder)
{
	char made[] = "/tmp/icepath-links-XXXXXX";
	ASSERT_TRUE(mkdtemp(made));
	const fs::path folder = made, deep = folder / "of-user/q/r/s";
	fs::create_directories(deep);
	fs::create_directories(folder / "of-user/q/etc");
	std::ofstream(folder / "of-user/q/etc/nsswitch.conf") << "passwd: theirs\n";
	fs::create_directory_symlink("../../etc", deep / "link");
	fs::create_directory_symlink(deep, "/tmp/icepath-link");
	fs::permissions(folder, fs::perms::all);
	space_.make({"/tmp/icepath-link", "/tmp/icepath-link/link", folder.string(), (folder / "of-user").string()});
	EXPECT_EQ(said_by(space_, "cat /etc/nsswitch.conf | grep -c theirs; ls " + deep.string() + "; ls /tmp"),
			  "0\nlink\n" + folder.filename().string() + "\n");
	fs::remove("/tmp/icepath-link");
	fs::remove_all(folder);
}

TEST_F(RootSpaceTest, StartsNothingBeforeItIsMade)
{
	EXPECT_EQ(space_.start({"-c", "true"}, {}), -1);
	space_.make({});
	EXPECT_THROW(space_.make({}), Failure) << "and is made once";
}

TEST_F(RootSpaceTest, KeepsWhatTheUserMayOpenAndNothingElse)
{
	char made[] = "/tmp/icepath-kept-XXXXXX";
	ASSERT_TRUE(mkdtemp(made));
	const std::string folder = made;
	fs::create_directory(folder + "/below");
	std::ofstream(folder + "/below/program") << "x";
	chmod(folder.c_str(), 0700); // root's own
	setfsuid(kNobodyIdentity.uid); // icepath is the user by then
	EXPECT_THROW(space_.make({folder + "/below"}), Failure);
	setfsuid(0);
	chmod(folder.c_str(), 0755);
	RootSpace another(kNobodyIdentity, "/bin/sh", [] {});
	another.make({folder + "/below", "/usr/bin"});
	EXPECT_EQ(said_by(another, "ls " + folder + "/below; ls /tmp | wc -l"), "program\n1\n");
	fs::remove_all(folder);
}

TEST_F(RootSpaceTest, HandsOverMoreDescriptorsThanOneMessageHolds)
{
	space_.make({});
	std::vector<Fd> all;
	std::vector<int> numbers;
	std::string script;
	for (int i = 0; i < 40; i++) {
		all.emplace_back(fileno(std::tmpfile()));
		numbers.push_back(all.back().get());
		EXPECT_EQ(fchmod(numbers.back(), 0644), 0);
		const std::string name = std::to_string(i);
		EXPECT_EQ(write(numbers.back(), name.data(), name.size()), static_cast<ssize_t>(name.size()));
		script += "test \"$(cat /proc/self/fd/" + std::to_string(numbers.back()) + ")\" = " + name + " && ";
	}
	const pid_t pid = space_.start({"-c", script + "exit 5"}, numbers);
	int status = 0;
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(WEXITSTATUS(status), 5);
}

// A chroot forbids user namespaces, and its root need not be a mount point.
TEST(RootSpaceInAChroot, IsTheRunsOwn)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const pid_t child = fork();
	if (child == 0) {
		const auto must = [](bool done, const char *what) {
			if (!done) {
				std::perror(what);
				_exit(2);
			}
		};
		must(unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "unshare");
		must(mount("test", "/mnt", "tmpfs", 0, nullptr) == 0 &&
				 mount(nullptr, "/mnt", nullptr, MS_SHARED, nullptr) == 0,
			 "mount");
		const std::string root = "/mnt/root";
		for (const std::string folder : {"", "/usr", "/bin", "/lib", "/lib64", "/etc", "/proc", "/dev"}) {
			fs::create_directory(root + folder);
			if (!folder.empty() && fs::exists(folder))
				must(mount(folder.c_str(), (root + folder).c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0, "bind");
		}
		fs::create_directory(root + "/tmp");
		must(chroot(root.c_str()) == 0 && chdir("/") == 0, "chroot");
		std::ofstream("/tmp/marker") << "x";
		must(unshare(CLONE_NEWUSER) != 0, "a chroot that forbids user namespaces");
		try {
			RootSpace space(kNobodyIdentity, "/bin/sh", [] {});
			space.make({});
			EXPECT_EQ(said_by(space, "ls -A /tmp; pwd"), "/\n");
		} catch (const Failure &failure) {
			ADD_FAILURE() << failure.what();
		}
		EXPECT_TRUE(fs::exists("/tmp/marker")) << "the chroot's own folder is as it was";
		std::fflush(stdout);
		_exit(testing::Test::HasFailure() ? 1 : 0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0);
}

} // namespace
} // namespace icepath::privilege
