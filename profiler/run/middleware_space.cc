// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/middleware_space.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <net/route.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "profiler/failure.h"

namespace icepath::run {
namespace {

namespace fs = std::filesystem;

constexpr const char *kEmptied[] = {"/tmp", "/dev/shm"};

// Of the child that makes the namespaces: what failed.
struct Refusal {
	int error;
	char what[96];
};

class Failed {
public:
	explicit Failed(const std::string &what) : refusal_{errno, {}}
	{
		what.copy(refusal_.what, sizeof(refusal_.what) - 1);
	}
	const Refusal &refusal() const { return refusal_; }

private:
	Refusal refusal_;
};

void check(bool done, const std::string &what)
{
	if (!done)
		throw Failed(what);
}

void write_file(const char *path, const std::string &text)
{
	std::ofstream file(path);
	file << text << std::flush;
	check(file.good(), fmt::format("writing {}", path));
}

// Whoever one is outside, one is inside.
void map_user(uid_t user, gid_t group)
{
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", fmt::format("{0} {0} 1", user));
	write_file("/proc/self/gid_map", fmt::format("{0} {0} 1", group));
}

void empty_folders(const std::vector<std::string> &kept)
{
	check(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "making mounts private");
	for (const std::string folder : kEmptied) {
		std::vector<std::pair<std::string, Fd>> below;
		for (const std::string &one : kept)
			if (one.starts_with(folder + "/"))
				below.emplace_back(one, Fd(open(one.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
		check(mount("icepath", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0,
			  "mounting an empty " + folder);
		for (const auto &[path, outside] : below) {
			std::error_code none;
			fs::create_directories(path, none);
			check(mount(fmt::format("/proc/self/fd/{}", outside.get()).c_str(), path.c_str(), nullptr, MS_BIND | MS_REC,
						nullptr) == 0,
				  "keeping " + path);
		}
	}
}

// Nobody beyond the namespace hears what is sent to a group, so the loopback device may take it.
void raise_loopback()
{
	const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	ifreq device{};
	std::strcpy(device.ifr_name, "lo");
	device.ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK | IFF_MULTICAST;
	check(ioctl(socket.get(), SIOCSIFFLAGS, &device) == 0, "raising the loopback device");
	rtentry route{};
	const auto address = [](sockaddr &where, uint32_t number) {
		sockaddr_in it{};
		it.sin_family = AF_INET;
		it.sin_addr.s_addr = htonl(number);
		std::memcpy(&where, &it, sizeof(it));
	};
	address(route.rt_dst, 0xe0000000); // 224.0.0.0/4
	address(route.rt_genmask, 0xf0000000);
	route.rt_flags = RTF_UP;
	route.rt_dev = device.ifr_name;
	check(ioctl(socket.get(), SIOCADDRT, &route) == 0, "routing multicast to the loopback device");
}

void close_all_but(int kept)
{
	const auto first = static_cast<unsigned>(STDERR_FILENO + 1), number = static_cast<unsigned>(kept);
	check((number == first || close_range(first, number - 1, 0) == 0) && close_range(number + 1, ~0u, 0) == 0,
		  "closing descriptors");
}

// In a child, whose namespaces live on in the descriptors that it sends.
void make_namespaces(int socket, const std::vector<std::string> &kept)
{
	Refusal none{};
	try {
		const uid_t user = geteuid();
		const gid_t group = getegid();
		check(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) == 0, "unshare");
		// Who changed its user, as icepath did under sudo, has its /proc/self files owned by root until it says otherwise.
		// Then its other descriptors, the root helper's socket among them, could be had by any process of the same user
		// (pidfd_getfd(2)): they are closed first.
		close_all_but(socket);
		prctl(PR_SET_DUMPABLE, 1);
		map_user(user, group);
		empty_folders(kept);
		raise_loopback();
		std::vector<Fd> spaces;
		std::vector<int> numbers;
		for (const char *path : {"/proc/self/ns/user", "/proc/self/ns/mnt", "/proc/self/ns/net"}) {
			spaces.emplace_back(open(path, O_RDONLY | O_CLOEXEC));
			check(static_cast<bool>(spaces.back()), fmt::format("opening {}", path));
			numbers.push_back(spaces.back().get());
		}
		channel::send(socket, &none, sizeof(none), numbers);
	} catch (const Failed &failed) {
		channel::send(socket, &failed.refusal(), sizeof(Refusal));
	}
}

} // namespace

MiddlewareSpace::MiddlewareSpace(const std::vector<std::string> &kept)
{
	auto [ours, theirs] = channel::open_pair();
	const pid_t child = fork();
	if (child == 0) {
		make_namespaces(theirs.get(), kept);
		_exit(0);
	}
	theirs.reset();
	Refusal refusal{errno, "fork"};
	std::vector<Fd> spaces;
	if (child > 0) {
		if (!channel::receive(ours.get(), &refusal, sizeof(refusal), spaces, 5000))
			refusal = {ETIMEDOUT, "making them"};
		kill(child, SIGKILL); // it has nothing left to do, or hangs
		waitpid(child, nullptr, 0);
	}
	if (spaces.size() != 3)
		throw Failure(
			ExitCode::MachineCannot,
			fmt::format("middleware can't have namespaces of its own: {} failed: {}; unprivileged user namespaces "
						"must be allowed (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
						"kernel.apparmor_restrict_unprivileged_userns)",
						std::string(refusal.what, strnlen(refusal.what, sizeof(refusal.what))),
						std::strerror(refusal.error)));
	user_ = std::move(spaces[0]);
	mount_ = std::move(spaces[1]);
	network_ = std::move(spaces[2]);
}

bool MiddlewareSpace::enter() const
{
	return setns(user_.get(), CLONE_NEWUSER) == 0 && setns(mount_.get(), CLONE_NEWNS) == 0 &&
		   setns(network_.get(), CLONE_NEWNET) == 0;
}

} // namespace icepath::run
