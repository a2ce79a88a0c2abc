// SPDX-License-Identifier: Apache-2.0
// What the injecting process keeps of root, what an attacker could do with it, and that it doesn't outlive icepath.
#include "profiler/selftest/injector_rights.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "profiler/selftest/injector_filter.h"
#include "profiler/selftest/network_injection.h"
#include "tests/privilege/inside.h"
#include "tests/privilege/taken_over.h"
#include "tests/selftest/raw_injector.h"

namespace icepath::selftest {
namespace {

namespace fs = std::filesystem;

class InjectorRights : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
};

uint64_t bit(int capability) { return uint64_t{1} << capability; }

void expect_nothing_of_the_user(pid_t process)
{
	const fs::path folder = "/proc/" + std::to_string(process);
	std::ifstream environment(folder / "environ");
	std::string text{std::istreambuf_iterator<char>(environment), {}};
	std::erase(text, '\0');
	EXPECT_EQ(text, "");
	EXPECT_EQ(fs::read_symlink(folder / "cwd"), "/");
	EXPECT_EQ(field_of(process, "NoNewPrivs"), "1");
	EXPECT_EQ(field_of(process, "Seccomp"), "2");
	EXPECT_NE(getsid(process), getsid(0));
	std::ifstream limits(folder / "limits");
	const std::string all{std::istreambuf_iterator<char>(limits), {}};
	EXPECT_NE(all.find("Max core file size        0                    0 "), std::string::npos) << all;
	for (const char *standard : {"fd/0", "fd/1", "fd/2"})
		EXPECT_EQ(fs::read_symlink(folder / standard), "/dev/null");
}

void expect_capabilities(pid_t process, uint64_t kept)
{
	for (const char *set : {"CapPrm", "CapEff", "CapBnd"})
		EXPECT_EQ(std::stoull(field_of(process, set), nullptr, 16), kept) << set;
	for (const char *set : {"CapInh", "CapAmb"})
		EXPECT_EQ(std::stoull(field_of(process, set), nullptr, 16), 0u) << set;
}

std::vector<std::string> descriptors_of(pid_t process)
{
	std::vector<std::string> open;
	for (const auto &entry : fs::directory_iterator("/proc/" + std::to_string(process) + "/fd"))
		open.push_back(fs::read_symlink(entry.path()).string());
	return open;
}

size_t count_beginning(const std::vector<std::string> &all, const std::string &beginning)
{
	return static_cast<size_t>(
		std::ranges::count_if(all, [&](const std::string &one) { return one.starts_with(beginning); }));
}

TEST_F(InjectorRights, AreThoseOfInjectingAndNoOthers)
{
	const Fd held(memfd_create("icepath-held", 0)), socket_of_another(socket(AF_UNIX, SOCK_STREAM, 0));
	RawInjector injector;
	ASSERT_TRUE(injector.is_well());
	expect_nothing_of_the_user(injector.pid());
	expect_capabilities(injector.pid(), bit(CAP_SYS_ADMIN) | bit(CAP_SYS_NICE) | bit(CAP_SYS_PTRACE) |
											(load_device_delay().takes_a_filter ? bit(CAP_NET_ADMIN) : 0));
	const std::string own = std::to_string(privilege::kOwnGroup + 1 + injector.pid()),
					  group = std::to_string(privilege::kOwnGroup);
	EXPECT_EQ(field_of(injector.pid(), "Uid"), std::to_string(kSomebody.uid) + "\t" + own + "\t" + own + "\t" + own);
	EXPECT_EQ(field_of(injector.pid(), "Gid"), group + "\t" + group + "\t" + group + "\t" + group);
	EXPECT_EQ(field_of(injector.pid(), "Groups"), " ");
	const auto open = descriptors_of(injector.pid());
	EXPECT_EQ(count_beginning(open, "socket:"), 2u) << "to icepath, and to who takes its group away";
	EXPECT_EQ(count_beginning(open, fs::read_symlink("/proc/self/fd/" + std::to_string(socket_of_another.get()))), 0u);
	EXPECT_EQ(count_beginning(open, "/memfd:icepath-held"), 0u);
}

TEST_F(InjectorRights, OfWhoTakesTheGroupAwayAreThoseOfThatAndNoOthers)
{
	const Fd held(memfd_create("icepath-held", 0));
	RawInjector injector;
	ASSERT_TRUE(injector.is_well());
	const auto children = children_of(injector.pid());
	ASSERT_EQ(children.size(), 1u);
	expect_nothing_of_the_user(children[0]);
	expect_capabilities(children[0], bit(CAP_DAC_OVERRIDE));
	const auto open = descriptors_of(children[0]);
	EXPECT_EQ(count_beginning(open, "socket:"), 1u) << "by which it learns of the injector's end";
	EXPECT_EQ(count_beginning(open, "/memfd:icepath-held"), 0u);
}

// Each is harmless if it isn't refused: then it fails for another reason, or not at all.
struct Try {
	const char *what;
	long (*attempt)(); // negative, with errno: refused
};

long load_a_program()
{
	bpf_insn program[2] = {};
	program[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
	program[1].code = BPF_JMP | BPF_EXIT;
	bpf_attr request{};
	request.prog_type = BPF_PROG_TYPE_SCHED_CLS;
	request.insns = reinterpret_cast<uintptr_t>(program);
	request.insn_cnt = 2;
	request.license = reinterpret_cast<uintptr_t>("GPL");
	return syscall(SYS_bpf, BPF_PROG_LOAD, &request, sizeof(request));
}

long make_a_map()
{
	bpf_attr request{};
	request.map_type = BPF_MAP_TYPE_ARRAY;
	request.key_size = request.value_size = 4;
	request.max_entries = 1;
	return syscall(SYS_bpf, BPF_MAP_CREATE, &request, sizeof(request));
}

long connect_to_somebody()
{
	const sockaddr_in where{AF_INET, htons(9), {htonl(INADDR_LOOPBACK)}, {}};
	return connect(99, reinterpret_cast<const sockaddr *>(&where), sizeof(where)); // with any socket that it may have
}

long signal_by_pidfd()
{
	const Fd first = pidfd_of(1);
	return syscall(SYS_pidfd_send_signal, first.get(), 0, nullptr, 0);
}

long map(int protection)
{
	return mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}

long enter_mounts_of_another()
{
	const Fd first(open("/proc/1/ns/mnt", O_RDONLY | O_CLOEXEC));
	return setns(first.get(), CLONE_NEWNS);
}

constexpr Try kTries[] = {
	{"read /etc/shadow", [] { return long{open("/etc/shadow", O_RDONLY | O_CLOEXEC)}; }},
	{"write a file", [] { return long{open("/dev/null", O_WRONLY | O_CLOEXEC)}; }},
	{"make a file", [] { return long{open("/tmp/icepath-nowhere/file", O_RDONLY | O_CREAT | O_CLOEXEC, 0600)}; }},
	{"remove a file", [] { return long{unlink("/tmp/icepath-nothing")}; }},
	{"signal process 1", [] { return long{kill(1, 0)}; }},
	{"signal process 1 by a pidfd", signal_by_pidfd},
	{"run a program", [] { return long{execl("/tmp/icepath-nowhere/program", "program", nullptr)}; }},
	{"open a socket", [] { return long{socket(AF_INET, SOCK_STREAM, 0)}; }},
	{"open a UNIX socket", [] { return long{socket(AF_UNIX, SOCK_STREAM, 0)}; }},
	{"change devices", [] { return long{socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)}; }},
	{"connect", connect_to_somebody},
	{"load a BPF program", load_a_program},
	{"make a BPF map", make_a_map},
	{"map what is written and run", [] { return map(PROT_READ | PROT_WRITE | PROT_EXEC); }},
	{"map what is run", [] { return map(PROT_READ | PROT_EXEC); }},
	{"trace", [] { return ptrace(PTRACE_ATTACH, -1, nullptr, nullptr); }},
	{"take a descriptor", [] { return syscall(SYS_pidfd_getfd, pidfd_of(getppid()).get(), 0, 0); }},
	{"mount", [] { return long{mount("none", "/tmp/icepath-nowhere", "tmpfs", 0, nullptr)}; }},
	{"make a mount namespace", [] { return long{unshare(CLONE_NEWNS)}; }},
	{"make a user namespace", [] { return long{unshare(CLONE_NEWUSER)}; }},
	{"make one by cloning", [] { return syscall(SYS_clone, CLONE_NEWPID | CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0); }},
	{"enter a mount namespace", enter_mounts_of_another},
	{"type into a terminal", [] { return long{ioctl(0, TIOCSTI, "x")}; }},
	{"become root", [] { return long{setresuid(0, 0, 0)}; }},
	{"change the limits of others", [] { return long{prlimit(1, RLIMIT_NOFILE, nullptr, nullptr)}; }},
};

// What a process with these rights and the filter can do.
std::string done_with(bool filters_of_devices)
{
	auto [told, teller] = channel::open_pair();
	const pid_t child = fork();
	if (child == 0) {
		leave_the_users_session();
		keep_rights_for_injecting(filters_of_devices, kSomebody, getppid());
		allow_injecting_calls_only(filters_of_devices);
		std::string done;
		for (const Try &one : kTries)
			if (one.attempt() >= 0 || (errno != EPERM && errno != EACCES))
				done += std::string(one.what) + "; ";
		done.resize(1024);
		channel::send(teller.get(), done.data(), done.size());
		_exit(0);
	}
	std::string done(1024, 0);
	std::vector<Fd> none;
	if (!channel::receive(told.get(), done.data(), done.size(), none, 10'000))
		done = "it told nothing";
	kill(child, SIGKILL);
	waitpid(child, nullptr, 0);
	return done.substr(0, done.find('\0'));
}

TEST_F(InjectorRights, LetWhoTookItOverDoLittle)
{
	ASSERT_TRUE(fs::exists("/etc/shadow"));
	EXPECT_EQ(done_with(false), "");
	EXPECT_EQ(done_with(true), "change devices; ") << "where a filter of a device's takes that";
}

// From inside the live process, as for the helper and icepath-space.
TEST_F(InjectorRights, AreAsThePageSays)
{
	if (const std::string why_not = privilege::why_not_inside(); !why_not.empty())
		GTEST_SKIP() << why_not;
	RawInjector injector;
	ASSERT_TRUE(injector.is_well());
	privilege::expect_as_the_page_says("injector", injector.pid());
}

TEST_F(InjectorRights, EndWithIcepathThoughItsSocketStaysOpen)
{
	auto [told, teller] = channel::open_pair();
	const pid_t icepath = fork();
	if (icepath == 0) {
		RawInjector injector;
		const pid_t pid = injector.is_well() ? injector.pid() : -1;
		channel::send(teller.get(), &pid, sizeof(pid), {injector.socket()});
		for (;;)
			pause();
	}
	pid_t injector = -1;
	std::vector<Fd> its_socket;
	ASSERT_TRUE(channel::receive(told.get(), &injector, sizeof(injector), its_socket, 20'000));
	const Fd pidfd = pidfd_of(injector);
	ASSERT_TRUE(pidfd);
	kill(icepath, SIGKILL);
	waitpid(icepath, nullptr, 0);
	EXPECT_TRUE(ends(pidfd.get())) << "it outlived icepath";
}

} // namespace
} // namespace icepath::selftest
