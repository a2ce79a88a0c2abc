// SPDX-License-Identifier: Apache-2.0
// The namespaces in which middleware runs, for any user, and daemons, as real processes.
#include "profiler/run/middleware.h"
#include "profiler/targets/plugin_files.h"
#include "tests/run/owner_of_build.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace icepath::run {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

// Runs `things` in a child, within `space`. Returns the number of the first that is false, from 1; 0: none is.
int first_wrong(const std::vector<std::function<bool()>> &things, const MiddlewareSpace *space)
{
	const pid_t child = fork();
	if (child == 0) {
		if (space && !space->enter())
			_exit(100);
		for (size_t i = 0; i < things.size(); i++)
			if (!things[i]())
				_exit(static_cast<int>(i) + 1);
		_exit(0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

bool loopback_is_up()
{
	const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
	ifreq device{};
	device.ifr_name[0] = 'l';
	device.ifr_name[1] = 'o';
	return ioctl(socket, SIOCGIFFLAGS, &device) == 0 && (device.ifr_flags & IFF_UP) &&
		   (device.ifr_flags & IFF_MULTICAST);
}

bool reaches_a_group()
{
	const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
	sockaddr_in group{};
	group.sin_family = AF_INET;
	group.sin_port = htons(7400);
	group.sin_addr.s_addr = inet_addr("239.255.0.1");
	return sendto(socket, "x", 1, 0, reinterpret_cast<sockaddr *>(&group), sizeof(group)) == 1;
}

size_t entries_of(const char *folder)
{
	return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

void expect_a_space_of_its_own()
{
	const MiddlewareSpace space({});
	const uid_t user = geteuid();
	const std::string name = "/dev/shm/icepath-space-" + std::to_string(getpid());
	EXPECT_EQ(first_wrong({[] { return entries_of("/tmp") == 0; }, [] { return entries_of("/dev/shm") == 0; },
						   [&] { return geteuid() == user; }, loopback_is_up, reaches_a_group,
						   [&] { return std::ofstream(name) && fs::exists(name); }},
						  &space),
			  0);
	EXPECT_FALSE(fs::exists(name)) << "what is made there is nobody else's";
	EXPECT_EQ(first_wrong({[&] { return fs::exists(name); }}, &space), 0) << "but another worker's";
}

TEST(MiddlewareSpace, IsTheRunsOwn) { expect_a_space_of_its_own(); }

TEST(MiddlewareSpace, NeedsNoRoot)
{
	if (geteuid() != 0)
		return; // then IsTheRunsOwn has shown it
	const pid_t child = fork();
	if (child == 0) {
		if (setresgid(kNobody, kNobody, kNobody) || setresuid(kNobody, kNobody, kNobody))
			_exit(3);
		try { // an exception out of the child would run the other tests again
			expect_a_space_of_its_own();
		} catch (const std::exception &error) {
			ADD_FAILURE() << error.what();
		}
		_exit(testing::Test::HasFailure() ? 1 : 0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0);
}

// A folder below /tmp, removed with the test however it ends.
class KeptFolder {
public:
	KeptFolder()
	{
		char made[] = "/tmp/icepath-kept-XXXXXX";
		EXPECT_TRUE(mkdtemp(made));
		path = made;
	}
	~KeptFolder() { fs::remove_all(path); }
	std::string path;
};

// Whoever wants one goes on as its user.
fs::path plugin(const std::string &what)
{
	EXPECT_TRUE(test::become_owner_of_build());
	return fs::path(DAEMON_PLUGINS) / ("icepath-daemon-" + what + ".so");
}

model::Cell cell_of_arm(const std::string &arm)
{
	model::Cell cell;
	cell.kind = model::kAdapter;
	cell.arm = arm;
	return cell;
}

// Its folders are known before the first use of the space, whichever arm is first.
TEST(Middleware, ArmsHaveTheirOwnSpacesFoldersDaemonsAndVariables)
{
	const std::string reads = plugin("reads");
	const KeptFolder lib, other, linked;
	fs::create_directory(linked.path + "/versions");
	std::ofstream(linked.path + "/versions/libx.so.1").flush();
	fs::create_symlink(linked.path + "/versions/libx.so.1", lib.path + "/libx.so");
	const std::vector<model::Arm> arms = {{.name = "one", .library_path = lib.path},
										  {.name = "two", .library_path = other.path, .environment = {{"A", "2"}}}};
	Middleware middleware(nullptr, nullptr, {}, {}, arms);
	const Surroundings one = middleware.surroundings_of(cell_of_arm("one"), reads),
					   two = middleware.surroundings_of(cell_of_arm("two"), reads);
	EXPECT_NE(one.space, two.space);
	EXPECT_NE(middleware.find_daemon(reads, "one")->process()->pid(),
			  middleware.find_daemon(reads, "two")->process()->pid())
		<< "each has the daemon of its own library";
	EXPECT_EQ(first_wrong({[&] { return fs::exists(lib.path + "/libx.so"); }, [&] { return !fs::exists(other.path); }},
						  one.space),
			  0)
		<< "a link leads into a folder that is kept, too";
	EXPECT_EQ(first_wrong({[&] { return fs::exists(other.path); }, [&] { return !fs::exists(lib.path); }}, two.space),
			  0);
	EXPECT_NE(std::ranges::find(two.environment, std::pair<std::string, std::string>("A", "2")), two.environment.end());
	EXPECT_EQ(std::ranges::find(one.environment, std::pair<std::string, std::string>("A", "2")), one.environment.end());
	model::Cell of_kernel = cell_of_arm("two");
	of_kernel.kind = model::kTransport;
	EXPECT_EQ(middleware.surroundings_of(of_kernel, "anything").environment, two.environment);
}

TEST(AdaptersNotBuilt, AreThoseOfTheListsBesideThePlugins)
{
	const KeptFolder folder;
	std::ofstream(folder.path + "/not-built")
		<< "zeromq package libzmq3-dev\nyarp library YARP 3\nzenoh cargo -DX=zenoh\nlcm package liblcm-dev\n"
		   "nng own icepath-nng\nnats own icepath-nats\n";
	std::ofstream(folder.path + "/icepath-nats.so").flush(); // its package is installed
	setenv("ICEPATH_PLUGIN_PATH", ("/nowhere:" + folder.path).c_str(), 1);
	const std::vector<targets::NotBuilt> missing = targets::adapters_not_built();
	unsetenv("ICEPATH_PLUGIN_PATH");
	ASSERT_EQ(missing.size(), 5u);
	EXPECT_EQ(missing[0].name, "zeromq");
	EXPECT_EQ(missing[0].library, "");
	EXPECT_EQ(missing[1].package, "");
	EXPECT_EQ(missing[1].library, "YARP 3");
	EXPECT_EQ(missing[2].cargo, "-DX=zenoh");
	EXPECT_EQ(missing[3].package, "liblcm-dev");
	EXPECT_EQ(targets::why_not_built(missing[1]),
			  "isn't built: YARP 3, which Debian doesn't package, was missing when icepath was configured");
	EXPECT_EQ(targets::why_not_built(missing[2]), "isn't built: cargo builds it on demand (cmake -DX=zenoh)");
	EXPECT_EQ(targets::why_not_built(missing[4]), "isn't installed: the package icepath-nng has it");
}

TEST(MiddlewareSpace, KeepsTheFoldersOfItsPrograms)
{
	const KeptFolder folder;
	std::ofstream(folder.path + "/program") << "x";
	const MiddlewareSpace space({folder.path, "/usr/bin"});
	EXPECT_EQ(first_wrong({[&] { return fs::exists(folder.path + "/program"); }, [] { return entries_of("/tmp") == 1; },
						   [] { return fs::exists("/usr/bin/env"); }},
						  &space),
			  0);
}

model::Cell middleware_cell()
{
	model::Cell cell;
	cell.kind = model::kAdapter;
	return cell;
}

std::string refusal(const char *what)
{
	Middleware middleware;
	std::string first;
	for (int i = 0; i < 2; i++) {
		try {
			middleware.surroundings_of(middleware_cell(), plugin(what));
			ADD_FAILURE() << "it was started";
		} catch (const WorkerFailed &failed) {
			EXPECT_TRUE(first.empty() || first == failed.what());
			first = failed.what();
		}
	}
	return first;
}

TEST(Middleware, TransportsHaveNoSpace)
{
	Middleware middleware;
	EXPECT_EQ(middleware.surroundings_of(model::Cell{}, "anything").space, nullptr);
	EXPECT_FALSE(middleware.daemon_end("anything"));
}

TEST(Middleware, ADaemonIsStartedOnceWithItsFileAndEnds)
{
	{
		Middleware middleware;
		const MiddlewareSpace *space = middleware.surroundings_of(middleware_cell(), plugin("reads")).space;
		ASSERT_NE(space, nullptr);
		EXPECT_EQ(middleware.surroundings_of(middleware_cell(), plugin("reads")).space, space);
		EXPECT_FALSE(middleware.daemon_end(plugin("reads")));
		EXPECT_EQ(first_wrong({[] { return fs::exists("/tmp/of-the-daemon"); }}, space), 0);
	}
	EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
}

size_t children()
{
	std::ifstream list("/proc/thread-self/children");
	return static_cast<size_t>(std::distance(std::istream_iterator<int>(list), {}));
}

TEST(Middleware, ADaemonOfTheSameCommandLineAndFileIsShared)
{
	Middleware middleware;
	middleware.surroundings_of(middleware_cell(), plugin("reads"));
	const size_t before = children();
	middleware.surroundings_of(middleware_cell(), plugin("reads-too"));
	EXPECT_EQ(children(), before);
	middleware.surroundings_of(middleware_cell(), plugin("dies"));
	EXPECT_EQ(children(), before + 1);
	middleware.surroundings_of(middleware_cell(), plugin("reads-another"));
	EXPECT_EQ(children(), before + 2);
}

// Whether `pid` has a child whose program has that name.
bool has_child(pid_t pid, const std::string &name)
{
	std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid));
	for (pid_t child = 0; children >> child;) {
		std::string its_name;
		std::getline(std::ifstream(fmt::format("/proc/{}/comm", child)), its_name);
		if (its_name == name)
			return true;
	}
	return false;
}

size_t processes_with(const std::string &word)
{
	size_t found = 0;
	std::error_code gone;
	for (const auto &entry : fs::directory_iterator("/proc")) {
		std::ifstream file(entry.path() / "cmdline");
		const std::string line{std::istreambuf_iterator<char>(file), {}};
		found += line.starts_with("sleep") && line.find(word) != std::string::npos;
	}
	return found;
}

// Waits for five seconds at most.
bool becomes(const std::string &word, size_t count)
{
	for (int i = 0; i < 500 && processes_with(word) != count; i++)
		usleep(10'000);
	return processes_with(word) == count;
}

TEST(Middleware, WhatADaemonStartsEndsWithIt)
{
	{
		Middleware middleware;
		middleware.surroundings_of(middleware_cell(), plugin("forks"));
		EXPECT_TRUE(becomes("91357", 1)) << "a daemon that is ready may not have executed its child yet";
	}
	EXPECT_TRUE(becomes("91357", 0));
}

TEST(Middleware, NoDaemonIsWaitedForOnceARunIsInterrupted)
{
	const std::atomic<bool> interrupted{true};
	Middleware middleware(nullptr, &interrupted);
	try {
		middleware.surroundings_of(middleware_cell(), plugin("silent"));
		ADD_FAILURE() << "it waited for what never comes";
	} catch (const WorkerFailed &failure) {
		EXPECT_STREQ(failure.what(), "interrupted before the daemon sh was ready");
	}
}

TEST(Middleware, ADaemonThatDiesIsTold)
{
	Middleware middleware;
	middleware.surroundings_of(middleware_cell(), plugin("dies"));
	for (int i = 0; i < 500 && !middleware.daemon_end(plugin("dies")); i++)
		usleep(10'000);
	EXPECT_EQ(middleware.daemon_end(plugin("dies")).value_or("it lives"),
			  "the daemon sh was killed by signal 9 (Killed); its last output: almost gone");
}

// The pid of this process's only child.
pid_t daemon_pid()
{
	pid_t child = 0;
	std::ifstream("/proc/thread-self/children") >> child;
	return child;
}

// It has left the daemon's process group, so it is found as a descendant.
TEST(Middleware, WhatADaemonStartsInAnotherSessionEndsWithIt)
{
	{
		Middleware middleware;
		middleware.surroundings_of(middleware_cell(), plugin("leaves"));
		EXPECT_TRUE(becomes("91358", 1));
	}
	EXPECT_TRUE(becomes("91358", 0));
}

// Bytes that the daemon's log takes in memory.
uint64_t log_bytes()
{
	for (const auto &entry : fs::directory_iterator("/proc/self/fd")) {
		std::error_code closed;
		struct stat file{};
		if (fs::read_symlink(entry.path(), closed).string().starts_with("/memfd:icepath-daemon") &&
			stat(entry.path().c_str(), &file) == 0)
			return static_cast<uint64_t>(file.st_blocks) * 512;
	}
	return UINT64_MAX;
}

constexpr uint64_t kLogBytes = 16u << 20;

// Waits for 15 seconds at most until the log is full: yes(1) then fails and ends, and the daemon goes on.
bool log_is_full(pid_t daemon)
{
	for (int i = 0; i < 1500 && (log_bytes() < kLogBytes || has_child(daemon, "yes")); i++)
		usleep(10'000);
	return log_bytes() == kLogBytes && !has_child(daemon, "yes");
}

TEST(Middleware, ADaemonThatPrintsWithoutEndFillsItsLogAndNoMore)
{
	constexpr uint64_t kPage = 4096;
	Middleware middleware;
	middleware.surroundings_of(middleware_cell(), plugin("chatty"));
	const pid_t daemon = daemon_pid();
	EXPECT_TRUE(log_is_full(daemon)) << "yes waits for room";
	EXPECT_FALSE(middleware.daemon_end(plugin("chatty")));
	middleware.empty_logs();
	EXPECT_LE(log_bytes(), kPage);
	kill(daemon, SIGTERM);
	for (int i = 0; i < 500 && !middleware.daemon_end(plugin("chatty")); i++)
		usleep(10'000);
	EXPECT_EQ(middleware.daemon_end(plugin("chatty")).value_or("it lives"),
			  "the daemon sh exited with 3; its last output: I was chatty");
}

TEST(Middleware, WhatADaemonSaidBeforeItsLogWasEmptiedIsNotForgotten)
{
	Middleware middleware;
	middleware.surroundings_of(middleware_cell(), plugin("chatty"));
	const pid_t daemon = daemon_pid();
	EXPECT_TRUE(log_is_full(daemon));
	kill(daemon, SIGKILL);
	for (int i = 0; i < 500 && !middleware.daemon_end(plugin("chatty")); i++)
		usleep(10'000);
	const std::string full = middleware.daemon_end(plugin("chatty")).value_or("it lives");
	EXPECT_NE(full.find("its output before the log was full: long"), std::string::npos) << full;
	middleware.empty_logs();
	const std::string emptied = middleware.daemon_end(plugin("chatty")).value_or("it lives");
	EXPECT_NE(emptied.find("its last output: long"), std::string::npos) << emptied;
}

TEST(Middleware, ADaemonThatIsStoppedIsTold)
{
	Middleware middleware;
	middleware.surroundings_of(middleware_cell(), plugin("reads"));
	const pid_t daemon = daemon_pid();
	kill(daemon, SIGSTOP);
	for (int i = 0; i < 500 && !middleware.daemon_end(plugin("reads")); i++)
		usleep(10'000);
	EXPECT_EQ(middleware.daemon_end(plugin("reads")).value_or("it runs"),
			  "the daemon sh doesn't run: it is stopped (Stopped (signal))");
	kill(daemon, SIGCONT);
	for (int i = 0; i < 500 && middleware.daemon_end(plugin("reads")); i++)
		usleep(10'000);
	EXPECT_FALSE(middleware.daemon_end(plugin("reads")));
}

TEST(Middleware, ADaemonThatStandsStillGoesOnForTheNextWorkers)
{
	Middleware middleware;
	EXPECT_EQ(middleware.find_daemon(plugin("reads")), nullptr);
	middleware.surroundings_of(middleware_cell(), plugin("reads"));
	WorkerProcess &daemon = *middleware.find_daemon(plugin("reads"))->process();
	daemon.stand_still();
	for (int i = 0; i < 500 && !daemon.has_stopped(); i++)
		usleep(10'000);
	EXPECT_FALSE(middleware.daemon_end(plugin("reads"))) << "icepath itself stopped it";
	middleware.surroundings_of(middleware_cell(), plugin("reads"));
	EXPECT_FALSE(daemon.stands_still());
	EXPECT_FALSE(daemon.has_stopped());
}

TEST(Middleware, ADaemonThatIsNeverReadySaysWhatItSaidLast)
{
	EXPECT_EQ(refusal("ends"), "the daemon sh exited with 3; its last output: oops");
}

TEST(Middleware, ADaemonThatIsMissingNamesItsPackageIfThereIsOne)
{
	EXPECT_EQ(refusal("missing"),
			  "the daemon icepath-no-such-program exited with 3; its last output: icepath-no-such-program "
			  "can't be started: No such file or directory; Debian's package of-another-name brings it");
	EXPECT_EQ(refusal("missing-everywhere"),
			  "the daemon icepath-no-such-program exited with 3; its last output: icepath-no-such-program "
			  "can't be started: No such file or directory");
}

TEST(Middleware, ADaemonIsFoundWhereDaemonsAre)
{
	const char *path = std::getenv("PATH");
	const std::string before = path ? path : "";
	setenv("PATH", "/usr/bin:/bin", 1);
	const std::string sentence = refusal("system");
	setenv("PATH", before.c_str(), 1);
	EXPECT_EQ(sentence.find("can't be started"), std::string::npos) << sentence;
}

} // namespace
} // namespace icepath::run
