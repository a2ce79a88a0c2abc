// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/own_space.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <net/route.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace icepath::privilege {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char *, 2> kEmptied = {"/tmp", "/dev/shm"};

bool make_all_private() { return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0; }

// So that nobody outside sees what is mounted here. In a chroot whose root is no mount that is said of the namespace's own root, to which
// setns(2) leads.
void make_mounts_private()
{
	if (make_all_private())
		return;
	const Fd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)), here(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)),
		space(open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
	must(setns(space.get(), CLONE_NEWNS) == 0 && make_all_private(), "making mounts private");
	must(fchdir(root.get()) == 0 && chroot(".") == 0 && fchdir(here.get()) == 0, "going back to the root folder");
}

} // namespace

Refused::Refused(const std::string &what) : refusal_{errno, {}} { what.copy(refusal_.what, sizeof(refusal_.what) - 1); }

void must(bool done, const std::string &what)
{
	if (!done)
		throw Refused(what);
}

std::vector<Kept> open_kept(const std::vector<std::string> &folders)
{
	std::vector<Kept> kept;
	for (const std::string &one : folders) {
		const fs::path path = fs::path(one).lexically_normal();
		if (std::ranges::any_of(kEmptied,
								[&](const std::string folder) { return path.native().starts_with(folder + "/"); }))
			kept.push_back({path, Fd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))});
	}
	return kept;
}

void empty_folders(const std::vector<Kept> &kept)
{
	make_mounts_private();
	for (const std::string folder : kEmptied)
		must(mount("icepath", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0,
			 "mounting an empty " + folder);
	for (const auto &[path, outside] : kept) {
		std::error_code none;
		fs::create_directories(path, none);
		must(mount(fmt::format("/proc/self/fd/{}", outside.get()).c_str(), path.c_str(), nullptr, MS_BIND | MS_REC,
				   nullptr) == 0,
			 "keeping " + path);
	}
}

void raise_loopback()
{
	const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	ifreq device{};
	std::strcpy(device.ifr_name, "lo");
	device.ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK | IFF_MULTICAST;
	must(ioctl(socket.get(), SIOCSIFFLAGS, &device) == 0, "raising the loopback device");
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
	must(ioctl(socket.get(), SIOCADDRT, &route) == 0, "routing multicast to the loopback device");
}

} // namespace icepath::privilege
