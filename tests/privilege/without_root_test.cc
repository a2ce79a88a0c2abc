// SPDX-License-Identifier: Apache-2.0
// The helper with file capabilities, started by a user who wants more than to measure: it takes nothing from its
// caller, and watches nobody but that user.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>
#include <iterator>
#include <set>

#include "ebpf/records.h"
#include "profiler/failure.h"
#include "profiler/privilege/file_capabilities.h"
#include "tests/privilege/member.h"
#include "tests/privilege/raw_helper.h"
#include "tests/privilege/roots_folder.h"

namespace icepath::privilege {
namespace {

namespace fs = std::filesystem;

constexpr const char *kCapabilities = "000000c000000000"; // CAP_PERFMON and CAP_BPF

void wait_to_be_killed()
{
	for (;;)
		pause();
}

class WithoutRoot : public WithHelperForMembers {
protected:
	void expect_served(Member &member)
	{
		ASSERT_TRUE(member.beginning()) << "the helper has ended";
		ASSERT_EQ(*member.beginning(), "");
	}
	void load(Member &member)
	{
		expect_served(member);
		for (const HelperRequest &request : {claim_of(0), load_of(0)}) {
			const auto reply = member.ask(request);
			ASSERT_TRUE(reply);
			ASSERT_EQ(reply->exit_code, 0) << sentence(*reply);
		}
	}
	void expect_refused(Member &member, HelperRequestKind kind, int fd, const std::string &says)
	{
		HelperRequest request = request_of(kind);
		request.key = kind == HelperRequestKind::AddSocket ? 1 : 0;
		const auto reply = member.ask(request, {fd});
		ASSERT_TRUE(reply) << "the helper is gone";
		EXPECT_NE(reply->exit_code, 0) << "it took it";
		EXPECT_NE(sentence(*reply).find(says), std::string::npos) << sentence(*reply);
	}
	// A program that sleeps, with these rights.
	fs::path sleeper(const std::string &name, mode_t mode, const std::string &capabilities = "") const
	{
		const fs::path program = folder / name;
		fs::copy_file("/bin/sleep", program);
		EXPECT_EQ(chown(program.c_str(), 0, kStranger) | chmod(program.c_str(), mode), 0);
		if (!capabilities.empty()) {
			EXPECT_EQ(setxattr(program.c_str(), "security.capability", capabilities.data(), capabilities.size(), 0), 0);
		}
		return program;
	}
};

std::string capabilities_of_ping() { return {"\1\0\0\2\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20}; } // cap_net_raw=ep

TEST_F(WithoutRoot, AMemberIsServedWithTwoCapabilities)
{
	Member member(helper, {.workers = {wait_to_be_killed}});
	expect_served(member);
	HelperRequest large = load_of(0);
	large.records_per_slot = (1u << 16) + 1;
	const auto refused = member.ask(large);
	ASSERT_TRUE(refused);
	EXPECT_NE(refused->exit_code, 0) << "more of the kernel's memory than a run needs";
	load(member);
	const Fd worker = pidfd_of(member.worker(0));
	const auto reply = member.ask(request_of(HelperRequestKind::AddWorker), {worker.get()});
	ASSERT_TRUE(reply);
	EXPECT_EQ(reply->exit_code, 0) << sentence(*reply);
	const pid_t pid = member.helper();
	for (const char *set : {"CapPrm", "CapEff"})
		EXPECT_EQ(proc_line(pid, set), kCapabilities) << set;
	for (const char *set : {"CapInh", "CapAmb"})
		EXPECT_EQ(proc_line(pid, set), "0000000000000000") << set;
	EXPECT_EQ(proc_line(pid, "Uid"), "61001\t61001\t61001\t61001");
	EXPECT_EQ(proc_line(pid, "NoNewPrivs"), "1");
	EXPECT_EQ(proc_line(pid, "Seccomp"), "2");
	EXPECT_EQ(fs::read_symlink(fmt::format("/proc/{}/cwd", pid)), "/");
}

TEST_F(WithoutRoot, NobodyElseMayExecuteIt)
{
	Member stranger(helper, {.user = kStranger, .is_member = false});
	EXPECT_FALSE(stranger.beginning());
	EXPECT_EQ(WEXITSTATUS(stranger.helper_status()), 127);
}

// Its user may end it, and no more.
TEST_F(WithoutRoot, ItsUserCannotEnterIt)
{
	int target[2], results[2];
	ASSERT_EQ(pipe2(target, O_CLOEXEC) | pipe2(results, O_CLOEXEC), 0);
	using Errors = std::array<int, 4>;
	Start start;
	start.workers = {[&] { // another process of the user's
		pid_t pid = -1;
		if (read(target[0], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		const Fd pidfd = pidfd_of(pid);
		const auto opened = [&](const char *file, int how) {
			return open(fmt::format("/proc/{}/{}", pid, file).c_str(), how) >= 0 ? 0 : errno;
		};
		const Errors errors = {ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0 ? 0 : errno,
							   syscall(SYS_pidfd_getfd, pidfd.get(), kSocketOfProgram, 0) >= 0 ? 0 : errno,
							   opened("mem", O_RDWR), opened("auxv", O_RDONLY)};
		(void)!write(results[1], errors.data(), sizeof(errors));
		wait_to_be_killed();
	}};
	Member member(helper, start);
	load(member);
	const pid_t pid = member.helper();
	ASSERT_EQ(write(target[1], &pid, sizeof(pid)), static_cast<ssize_t>(sizeof(pid)));
	Errors errors{};
	ASSERT_EQ(read(results[0], errors.data(), sizeof(errors)), static_cast<ssize_t>(sizeof(errors)));
	EXPECT_EQ(errors, (Errors{EPERM, EPERM, EACCES, EACCES}));
	for (const int end : {target[0], target[1], results[0], results[1]})
		close(end);
}

TEST_F(WithoutRoot, ItWatchesOnlyItsUsersOwnChildren)
{
	const fs::path set_uid = sleeper("set-uid", 04755), set_gid = sleeper("set-gid", 02755),
				   capable = sleeper("capable", 0755, capabilities_of_ping()), plain = sleeper("plain", 0755);
	Start start;
	for (const fs::path &program : {set_uid, set_gid, capable, plain})
		start.workers.emplace_back([program] { execl(program.c_str(), "sleep", "60", nullptr); });
	start.workers.emplace_back([] { // a grandchild of icepath
		if (const pid_t pid = fork(); pid != 0)
			waitpid(pid, nullptr, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		wait_to_be_killed();
	});
	Member member(helper, start);
	load(member);
	for (size_t i = 0; i < 4; i++)
		while (fs::read_symlink(fmt::format("/proc/{}/exe", member.worker(i))).parent_path() != folder)
			usleep(1000);
	std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", member.worker(4)));
	pid_t grandchild = -1;
	for (int i = 0; i < 1000 && !(children >> grandchild); i++) {
		usleep(1000);
		children = std::ifstream(fmt::format("/proc/{0}/task/{0}/children", member.worker(4)));
	}
	ASSERT_GT(grandchild, 0);
	const Child of_root, of_stranger(kStranger);
	for (const auto kind : {HelperRequestKind::AddWorker, HelperRequestKind::Follow}) {
		for (const pid_t other : {1, getpid(), member.icepath(), grandchild, of_root.pid(), of_stranger.pid(),
								  member.worker(0), member.worker(1)}) {
			SCOPED_TRACE(other);
			expect_refused(member, kind, pidfd_of(other).get(), "touches only workers");
		}
		for (const pid_t other : {member.worker(2), member.helper()})
			expect_refused(member, kind, pidfd_of(other).get(), "more rights than its user has");
		const auto own = member.ask(request_of(kind), {pidfd_of(member.worker(3)).get()});
		ASSERT_TRUE(own);
		EXPECT_EQ(own->exit_code, 0) << sentence(*own);
	}
	kill(grandchild, SIGKILL);
}

uint64_t now_ns()
{
	timespec now{};
	clock_gettime(CLOCK_MONOTONIC, &now);
	return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// How many sleeps of a worker a block has, that executes a program after it was marked.
size_t sleeps_seen(const fs::path &helper, const fs::path &program, HelperRequestKind kind)
{
	constexpr uint64_t kSleepNs = 200'000'000;
	int go[2];
	EXPECT_EQ(pipe(go), 0);
	Member member(helper, {.workers = {[&] {
							   char byte = 0;
							   (void)!read(go[0], &byte, 1);
							   execl(program.c_str(), "sleep", "0.3", nullptr);
						   }}});
	EXPECT_TRUE(member.ask(claim_of(0)));
	HelperRequest load = load_of(0);
	load.records_per_slot = 1u << 16;
	const auto loaded = member.ask(load);
	EXPECT_TRUE(loaded && loaded->exit_code == 0) << (loaded ? sentence(*loaded) : "it is gone");
	if (!loaded || loaded->exit_code != 0 || member.received.empty())
		return SIZE_MAX;
	const Fd slots = std::move(member.received.front());
	const Fd worker = pidfd_of(member.worker(0));
	const auto marked = member.ask(request_of(kind), {worker.get()});
	EXPECT_TRUE(marked && marked->exit_code == 0) << sentence(*marked);
	HelperRequest attach = request_of(HelperRequestKind::Attach);
	attach.probes = capture::bit(capture::number_of("sched_switch")) |
					capture::bit(capture::number_of("sched_waking")) | capture::bit(capture::number_of("sched_wakeup"));
	EXPECT_TRUE(member.ask(attach));
	HelperRequest block = request_of(HelperRequestKind::BeginBlock);
	if (kind == HelperRequestKind::AddWorker)
		block.worker_count = 1; // number 0
	else {
		block.family_count = 1;
		block.families[0] = marked->worker;
	}
	EXPECT_TRUE(member.ask(block));
	const uint64_t begin_ns = now_ns();
	EXPECT_EQ(write(go[1], "g", 1), 1);
	while (now_ns() < begin_ns + 3 * kSleepNs)
		usleep(10'000);
	EXPECT_TRUE(member.ask(request_of(HelperRequestKind::EndBlock)));
	close(go[0]);
	close(go[1]);
	void *memory =
		mmap(nullptr, size_t{loaded->slot_bytes} * loaded->slot_count, PROT_READ, MAP_SHARED, slots.get(), 0);
	EXPECT_NE(memory, MAP_FAILED);
	size_t sleeps = 0;
	for (uint32_t i = 0; memory != MAP_FAILED && i < loaded->slot_count; i++) {
		const auto *slot =
			reinterpret_cast<const icepath_slot *>(static_cast<const char *>(memory) + size_t{i} * loaded->slot_bytes);
		const auto *records = reinterpret_cast<const icepath_record *>(slot + 1);
		EXPECT_LE(slot->position, slot->capacity) << "the log was too short";
		for (uint32_t r = 0; r < std::min(slot->position, slot->capacity); r++)
			sleeps += records[r].type == ICEPATH_RECORD_OFF_CPU &&
					  records[r].tid == static_cast<uint32_t>(member.worker(0)) && records[r].off.out_ns > begin_ns &&
					  records[r].end_ns - records[r].off.out_ns > kSleepNs;
	}
	return sleeps;
}

TEST_F(WithoutRoot, AWorkerIsNotWatchedOnceItExecutesAProgramWithMoreRights)
{
	for (const auto kind : {HelperRequestKind::AddWorker, HelperRequestKind::Follow}) {
		SCOPED_TRACE(static_cast<int>(kind));
		folder = roots_folder();
		give_capabilities(helper, kMembers);
		EXPECT_GE(sleeps_seen(helper, sleeper("plain", 0755), kind), 1u) << "of its user's own";
		EXPECT_EQ(sleeps_seen(helper, sleeper("set-uid", 04755), kind), 0u);
		EXPECT_EQ(sleeps_seen(helper, sleeper("set-gid", 02755), kind), 0u);
		EXPECT_EQ(sleeps_seen(helper, sleeper("capable", 0755, capabilities_of_ping()), kind), 0u);
	}
}

TEST_F(WithoutRoot, ItMarksOnlySocketsOfItsUser)
{
	Member member(helper, {});
	load(member);
	const Fd foreign(socket(AF_UNIX, SOCK_DGRAM, 0)), own(socket(AF_UNIX, SOCK_DGRAM, 0));
	ASSERT_EQ(fchown(own.get(), kMember, kMember), 0);
	expect_refused(member, HelperRequestKind::AddSocket, foreign.get(), "marks only sockets of its user");
	HelperRequest request = request_of(HelperRequestKind::AddSocket);
	request.key = 1;
	const auto reply = member.ask(request, {own.get()});
	ASSERT_TRUE(reply);
	EXPECT_EQ(reply->exit_code, 0) << sentence(*reply);
}

// A package that replaces the helper's file leaves the old one to who holds it open.
TEST_F(WithoutRoot, HeldOpenItHasNoCapabilitiesOnceTheyAreTakenBack)
{
	constexpr int kBeyondTheSocket = 40;
	const auto open_helper = [&] {
		const Fd file(open(helper.c_str(), O_RDONLY | O_CLOEXEC));
		return Fd(fcntl(file.get(), F_DUPFD_CLOEXEC, kBeyondTheSocket));
	};
	const auto why_not_served = [&](const Fd &held) {
		Start start;
		start.prepare_helper = [&] {
			const std::string user = std::to_string(kMember), parent = std::to_string(getppid());
			const char *const words[] = {kHelperName, ICEPATH_HELPER_VERSION, user.c_str(), parent.c_str(), nullptr};
			char *const none[] = {nullptr};
			syscall(SYS_execveat, held.get(), "", words, none, AT_EMPTY_PATH);
			_exit(126); // not the file that took its place
		};
		Member member(helper, start);
		return member.beginning().value_or("it has ended");
	};
	const auto replace = [&] {
		fs::copy_file(helper, folder / "new");
		fs::rename(folder / "new", helper);
	};
	const Fd before = open_helper();
	ASSERT_TRUE(take_capabilities_back(helper));
	replace();
	EXPECT_NE(why_not_served(before).find("its file has none"), std::string::npos);
	give_capabilities(helper, kMembers);
	const Fd late = open_helper();
	replace();
	EXPECT_EQ(why_not_served(late), "") << "taken back too late: this is what a package must prevent";
}

TEST_F(WithoutRoot, AStrangeDescriptorEndsIt)
{
	Member member(helper, {});
	load(member);
	const Fd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
	EXPECT_FALSE(member.ask(request_of(HelperRequestKind::EndBlock), {file.get()}));
	EXPECT_EQ(member.helper_status(), 0);
}

std::string maps_of(pid_t pid)
{
	std::ifstream file(fmt::format("/proc/{}/maps", pid));
	return {std::istreambuf_iterator<char>(file), {}};
}

// A library that the helper uses: its path.
fs::path a_library_of(pid_t pid)
{
	std::ifstream file(fmt::format("/proc/{}/maps", pid));
	for (std::string line; std::getline(file, line);)
		if (const size_t at = line.find('/'); at != std::string::npos && line.find("/libfmt.so") != std::string::npos)
			return line.substr(at);
	return {};
}

TEST_F(WithoutRoot, ItsLibrariesAreTheSystems)
{
	fs::path library;
	{
		Member member(helper, {});
		expect_served(member);
		library = a_library_of(member.helper());
	}
	ASSERT_FALSE(library.empty());
	const fs::path hostile = folder / "hostile";
	fs::create_directory(hostile);
	fs::copy_file(library, hostile / library.filename());
	const fs::path plain = sleeper("plain", 0755);
	const std::vector<std::string> environment = {
		"LD_LIBRARY_PATH=" + hostile.string(), "LD_PRELOAD=" + (hostile / library.filename()).string(),
		"LD_AUDIT=" + (hostile / library.filename()).string(), "GLIBC_TUNABLES=glibc.malloc.check=3"};
	Start start;
	start.environment = environment;
	start.workers = {[&] {
		execle(plain.c_str(), "sleep", "60", nullptr,
			   std::array{const_cast<char *>(environment[1].c_str()), static_cast<char *>(nullptr)}.data());
	}};
	Member member(helper, start);
	load(member);
	EXPECT_EQ(maps_of(member.helper()).find("/hostile/"), std::string::npos);
	while (fs::read_symlink(fmt::format("/proc/{}/exe", member.worker(0))) != plain)
		usleep(1000);
	for (int i = 0; i < 1000 && maps_of(member.worker(0)).find("/hostile/") == std::string::npos; i++)
		usleep(1000);
	EXPECT_NE(maps_of(member.worker(0)).find("/hostile/"), std::string::npos) << "the environment has no effect at all";
}

TEST_F(WithoutRoot, NothingThatItInheritsIsLeft)
{
	Start start;
	start.prepare_helper = [] {
		for (int fd = 0; fd <= STDERR_FILENO; fd++)
			close(fd);
		constexpr int kSomewhere = 40;
		dup2(kSocketOfProgram, kSomewhere);
		umask(0);
		sigset_t all;
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, nullptr);
		struct {
			void *handler;
			unsigned long flags;
			void *restorer;
			uint64_t mask;
		} ignored{reinterpret_cast<void *>(SIG_IGN), 0, nullptr,
				  0}; // signal(3) leaves the C library's own signals alone
		for (int number = 1; number < NSIG; number++)
			syscall(SYS_rt_sigaction, number, &ignored, nullptr, sizeof(ignored.mask));
		alarm(3600);
		(void)!chdir("/tmp");
		constexpr size_t kFew = 1u << 20;
		const rlimit core{kFew, kFew};
		setrlimit(RLIMIT_CORE, &core);
	};
	Member member(helper, start);
	load(member);
	const pid_t pid = member.helper();
	std::set<std::string> open;
	for (const auto &fd : fs::directory_iterator(fmt::format("/proc/{}/fd", pid))) {
		const int number = std::stoi(fd.path().filename());
		const std::string what = fs::read_symlink(fd.path());
		if (number <= STDERR_FILENO) {
			EXPECT_TRUE(what == "/dev/null" || what == "/dev/full") << number << ": " << what; // full: the C library's
		}
		EXPECT_TRUE(number == kSocketOfProgram || !what.starts_with("socket:")) << number;
		open.insert(fd.path().filename());
	}
	for (const char *standard : {"0", "1", "2"})
		EXPECT_TRUE(open.contains(standard)) << standard;
	EXPECT_EQ(proc_line(pid, "Umask"), "0077");
	EXPECT_EQ(proc_line(pid, "SigBlk"), "0000000000000000");
	EXPECT_EQ(proc_line(pid, "SigIgn"), "0000000000005003") << "HUP, INT, PIPE, TERM";
	EXPECT_EQ(fs::read_symlink(fmt::format("/proc/{}/cwd", pid)), "/");
	std::ifstream limits(fmt::format("/proc/{}/limits", pid));
	const std::string text{std::istreambuf_iterator<char>(limits), {}};
	EXPECT_NE(text.find("Max core file size        0 "), std::string::npos) << text;
}

TEST_F(WithoutRoot, HostileArgumentsAreRefused)
{
	const std::string user = std::to_string(kMember);
	for (const std::vector<std::string> &words : std::vector<std::vector<std::string>>{
			 {},
			 {kHelperName},
			 {kHelperName, ICEPATH_HELPER_VERSION, "0", "PARENT"},
			 {kHelperName, ICEPATH_HELPER_VERSION, std::to_string(kStranger), "PARENT"},
			 {kHelperName, ICEPATH_HELPER_VERSION, "4294967295", "PARENT"},
			 {kHelperName, ICEPATH_HELPER_VERSION, user, "1"},
			 {kHelperName, ICEPATH_HELPER_VERSION, user, "PARENT", "PARENT"},
			 {kHelperName, std::string(100'000, '%'), "%n", "PARENT"}}) {
		Start start;
		start.arguments = words;
		start.prepare_helper = [] { close(STDERR_FILENO); };
		Member member(helper, start);
		EXPECT_FALSE(member.beginning());
		const int status = member.helper_status();
		EXPECT_TRUE(WIFEXITED(status)) << status;
		EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ExitCode::Usage));
	}
	Start start;
	start.arguments = {kHelperName, std::string(100'000, 'v'), user, "PARENT"};
	Member member(helper, start);
	ASSERT_TRUE(member.beginning());
	EXPECT_TRUE(member.beginning()->starts_with("it is of version ")) << *member.beginning();
}

TEST_F(WithoutRoot, WhyItHasNoCapabilitiesIsTold)
{
	const auto expect = [&](const Start &start, const std::string &says) {
		Member member(helper, start);
		ASSERT_TRUE(member.beginning()) << says;
		EXPECT_NE(member.beginning()->find(says), std::string::npos) << *member.beginning();
	};
	expect({.prepare_helper = [] { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }}, "no_new_privs is set");
	expect({.prepare_helper =
				[] {
					unshare(CLONE_NEWUSER);
					std::ofstream("/proc/self/uid_map") << fmt::format("{0} {0} 1", kMember);
				}},
		   "in a user namespace");
	ASSERT_TRUE(take_capabilities_back(helper));
	expect({}, "its file has none (sudo icepath setup --caps)");
}

} // namespace
} // namespace icepath::privilege
