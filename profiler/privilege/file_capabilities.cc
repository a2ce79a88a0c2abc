// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/file_capabilities.h"

#include <endian.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>

#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/privilege/rights.h"

namespace icepath::privilege {
namespace {

constexpr const char *kCapabilities = "security.capability"; // capabilities(7)
constexpr const char *kBefore = "trusted.icepath.before"; // a FileRights as text
constexpr mode_t kModeBits = 07777, kOthersWrite = S_IWGRP | S_IWOTH;
constexpr size_t kLongest = 256; // of these attributes

struct FileRights {
	uid_t owner = 0;
	gid_t group = 0;
	mode_t mode = 0;
	std::string capabilities; // as the kernel stores them; empty: none
	bool operator==(const FileRights &) const = default;
};

Failure at_fault(const std::string &path, const std::string &what)
{
	return Failure(ExitCode::MachineCannot, fmt::format("{} {}", path, what));
}

Failure not_done(const std::string &path, const char *what)
{
	return at_fault(path, fmt::format("can't be changed ({}: {})", what, std::strerror(errno)));
}

Fd open_file(const std::string &path)
{
	Fd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
	if (!file)
		throw at_fault(path, fmt::format("can't be opened ({})", std::strerror(errno)));
	return file;
}

// Nothing: the file has no such attribute.
std::optional<std::string> attribute(int file, const std::string &path, const char *name)
{
	std::array<char, kLongest> bytes{};
	const ssize_t size = fgetxattr(file, name, bytes.data(), bytes.size());
	if (size < 0 && errno != ENODATA)
		throw not_done(path, name);
	return size < 0 ? std::nullopt : std::optional(std::string(bytes.data(), static_cast<size_t>(size)));
}

FileRights rights_of(int file, const std::string &path)
{
	struct stat its{};
	if (fstat(file, &its))
		throw not_done(path, "fstat");
	return {its.st_uid, its.st_gid, its.st_mode & kModeBits, attribute(file, path, kCapabilities).value_or("")};
}

// Permitted only: the helper makes them effective once it has left what its caller chose. So root can still execute it
// where a container's bounding set lacks one (execve(2), EPERM).
std::string with(const Capabilities &capabilities)
{
	vfs_cap_data data{};
	data.magic_etc = htole32(VFS_CAP_REVISION_2);
	for (const int capability : capabilities)
		data.data[CAP_TO_INDEX(capability)].permitted |= htole32(CAP_TO_MASK(capability));
	return {reinterpret_cast<const char *>(&data), XATTR_CAPS_SZ_2};
}

// The file is never executable for more users than before while it has capabilities: chown(2) removes them.
void make(int file, const std::string &path, const FileRights &wanted)
{
	if (fremovexattr(file, kCapabilities) && errno != ENODATA)
		throw not_done(path, kCapabilities);
	if (fchown(file, wanted.owner, wanted.group))
		throw not_done(path, "chown");
	if (fchmod(file, wanted.mode))
		throw not_done(path, "chmod");
	if (!wanted.capabilities.empty() &&
		fsetxattr(file, kCapabilities, wanted.capabilities.data(), wanted.capabilities.size(), 0))
		throw not_done(path, kCapabilities);
	if (rights_of(file, path) != wanted)
		throw at_fault(path, "doesn't keep what it is given: another program changes it, or its file system can't");
}

std::string to_text(const FileRights &rights)
{
	std::string text = fmt::format("1 {} {} {:o} ", rights.owner, rights.group, rights.mode);
	for (const char byte : rights.capabilities)
		text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
	return text;
}

FileRights from_text(const std::string &text, const std::string &path)
{
	FileRights rights;
	int at = 0;
	if (std::sscanf(text.c_str(), "1 %u %u %o %n", &rights.owner, &rights.group, &rights.mode, &at) != 3 || at == 0)
		throw at_fault(path, fmt::format("has an attribute {} that another version of icepath wrote", kBefore));
	unsigned byte = 0;
	for (auto digit = static_cast<size_t>(at); std::sscanf(text.c_str() + digit, "%2x", &byte) == 1; digit += 2)
		rights.capabilities += static_cast<char>(byte);
	return rights;
}

// Does all steps. If one fails, undoes them and throws that step's sentence.
void change(int file, const std::string &path, const std::function<void()> &steps)
{
	const FileRights now = rights_of(file, path);
	const auto before = attribute(file, path, kBefore);
	try {
		steps();
	} catch (const Failure &failure) {
		try {
			make(file, path, now);
			if (before ? fsetxattr(file, kBefore, before->data(), before->size(), 0) != 0
					   : fremovexattr(file, kBefore) != 0 && errno != ENODATA)
				throw not_done(path, kBefore);
		} catch (const Failure &again) {
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("{}; restoring it failed too: {}", failure.what(), again.what()));
		}
		throw;
	}
}

std::string name_of(const char *name, unsigned number) { return name ? name : std::to_string(number); }

void check_is_only_roots(const std::string &path, const struct stat &its)
{
	if (its.st_uid != 0)
		throw at_fault(path, "isn't owned by root, so another user could choose what runs with capabilities");
	if ((its.st_mode & kOthersWrite) != 0)
		throw at_fault(path, "may be written to by others than root, so what is executed with capabilities would be "
							 "their choice");
}

} // namespace

std::string describe_rights(const std::string &path)
{
	const Fd file(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
	struct stat its{};
	if (!file || fstat(file.get(), &its))
		throw at_fault(path, fmt::format("can't be found ({})", std::strerror(errno)));
	std::array<char, kLongest> bytes{};
	const ssize_t size = lgetxattr(path.c_str(), kCapabilities, bytes.data(), bytes.size());
	const std::string capabilities(bytes.data(), static_cast<size_t>(size < 0 ? 0 : size));
	const passwd *owner = getpwuid(its.st_uid);
	const group *members = getgrgid(its.st_gid);
	return fmt::format("{}:{} {:04o}, {}", name_of(owner ? owner->pw_name : nullptr, its.st_uid),
					   name_of(members ? members->gr_name : nullptr, its.st_gid), its.st_mode & kModeBits,
					   capabilities.empty()                  ? "no capabilities"
					   : capabilities == with(for_members()) ? "cap_perfmon,cap_bpf=p"
															 : "other capabilities");
}

void check_may_have_capabilities(const std::string &path)
{
	struct stat its{};
	struct statvfs where{};
	if (lstat(path.c_str(), &its) || statvfs(path.c_str(), &where))
		throw at_fault(path, fmt::format("can't be found ({})", std::strerror(errno)));
	if (!S_ISREG(its.st_mode))
		throw at_fault(path, "isn't a file");
	check_is_only_roots(path, its);
	if ((its.st_mode & (S_ISUID | S_ISGID)) != 0)
		throw at_fault(path, "is a set-uid or set-gid program");
	if (its.st_nlink != 1)
		throw at_fault(path, "has other names as well (hard links)");
	if ((where.f_flag & ST_NOSUID) != 0)
		throw at_fault(path, "is on a file system that is mounted with nosuid, where capabilities have no effect");
	for (std::filesystem::path folder = std::filesystem::path(path).parent_path();; folder = folder.parent_path()) {
		if (lstat(folder.c_str(), &its))
			throw at_fault(folder, fmt::format("can't be found ({})", std::strerror(errno)));
		check_is_only_roots(folder, its);
		if (folder == folder.root_path())
			return;
	}
}

void give_capabilities(const std::string &path, gid_t group)
{
	check_may_have_capabilities(path);
	const Fd file = open_file(path);
	change(file.get(), path, [&] {
		if (!attribute(file.get(), path, kBefore)) {
			const std::string before = to_text(rights_of(file.get(), path));
			if (fsetxattr(file.get(), kBefore, before.data(), before.size(), XATTR_CREATE))
				throw not_done(path, kBefore);
		}
		make(file.get(), path, {0, group, 0750, with(for_members())});
	});
}

bool take_capabilities_back(const std::string &path)
{
	const Fd file = open_file(path);
	const auto before = attribute(file.get(), path, kBefore);
	if (!before)
		return false;
	change(file.get(), path, [&] {
		make(file.get(), path, from_text(*before, path));
		if (fremovexattr(file.get(), kBefore))
			throw not_done(path, kBefore);
	});
	return true;
}

} // namespace icepath::privilege
