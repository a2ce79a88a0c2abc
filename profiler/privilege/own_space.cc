// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/own_space.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <net/if.h>
#include <net/route.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

// Keeps mounts that are made here invisible outside. In a chroot whose root isn't a mount point, this applies to the
// namespace's own root, to which setns(2) leads.
void make_mounts_private()
{
	if (make_all_private())
		return;
	const Fd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)), here(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)),
		space(open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
	must(setns(space.get(), CLONE_NEWNS) == 0 && make_all_private(), "making mounts private");
	must(fchdir(root.get()) == 0 && chroot(".") == 0 && fchdir(here.get()) == 0, "going back to the root folder");
}

bool is_within(const fs::path &path, const fs::path &other)
{
	return path.native().size() > other.native().size() && path.native().starts_with(other.native() + "/");
}

bool below_emptied(const fs::path &path)
{
	return std::ranges::any_of(kEmptied, [&](const char *folder) { return is_within(path, folder); });
}

// Makes the folder within an emptied one, where nobody else could put a link.
Fd make_place(const fs::path &path)
{
	const auto *const emptied =
		std::ranges::find_if(kEmptied, [&](const char *folder) { return is_within(path, folder); });
	Fd place(open(*emptied, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	must(static_cast<bool>(place), fmt::format("opening the empty {}", *emptied));
	for (const fs::path &component : path.lexically_relative(*emptied)) {
		must(mkdirat(place.get(), component.c_str(), 0755) == 0 || errno == EEXIST, "making " + path.string());
		place = Fd(openat(place.get(), component.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
		must(static_cast<bool>(place), "opening " + path.string());
	}
	return place;
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
	std::vector<fs::path> paths;
	for (const std::string &one : folders) {
		std::error_code error;
		const fs::path path = fs::canonical(one, error);
		errno = error.value();
		must(!error || errno == ENOENT, "opening " + one);
		if (!error && below_emptied(path) && std::ranges::find(paths, path) == paths.end())
			paths.push_back(path);
	}
	std::vector<Kept> kept;
	for (const fs::path &path : paths) {
		if (std::ranges::any_of(paths, [&](const fs::path &other) { return is_within(path, other); }))
			continue;
		// Refuses a link that was put there since.
		open_how how{};
		how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
		how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
		Fd folder(static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof(how))));
		must(static_cast<bool>(folder), "opening " + path.string());
		kept.push_back({path, std::move(folder)});
	}
	return kept;
}

std::vector<Kept> cloned(const std::vector<Kept> &opened)
{
	std::vector<Kept> clones;
	for (const auto &[path, folder] : opened) {
		errno = EINVAL;
		must(below_emptied(path) && fs::path(path).lexically_normal().native() == path && path.back() != '/' &&
				 std::ranges::none_of(opened, [&](const Kept &other) { return is_within(path, other.path); }),
			 "keeping " + path);
		Fd clone(open_tree(folder.get(), "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
		must(static_cast<bool>(clone), "cloning " + path);
		mount_attr attributes{};
		attributes.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
		attributes.propagation = MS_PRIVATE;
		must(mount_setattr(clone.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof(attributes)) == 0,
			 "limiting " + path);
		clones.push_back({path, std::move(clone)});
	}
	return clones;
}

void empty_folders(const std::vector<Kept> &cloned)
{
	make_mounts_private();
	for (const std::string folder : kEmptied)
		must(mount("icepath", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0,
			 "mounting an empty " + folder);
	for (const auto &[path, clone] : cloned) {
		const Fd place = make_place(path);
		must(move_mount(clone.get(), "", place.get(), "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0,
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
