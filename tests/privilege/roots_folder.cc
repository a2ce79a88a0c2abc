// SPDX-License-Identifier: Apache-2.0
#include "tests/privilege/roots_folder.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "profiler/privilege/root_helper.h"

namespace icepath::privilege {
namespace {

namespace fs = std::filesystem;

constexpr const char *kMount = "/mnt";

std::string failed(const char *what) { return std::string(what) + ": " + std::strerror(errno); }

std::string mount_once()
{
	if (geteuid() != 0)
		return "needs root";
	if (unshare(CLONE_NEWNS) || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr))
		return failed("a mount namespace");
	if (mount("tmpfs", kMount, "tmpfs", 0, "mode=0755,size=256m"))
		return failed("a file system");
	if (setxattr(kMount, "trusted.icepath.trial", "", 0, 0))
		return failed("attributes of files in memory");
	return {};
}

} // namespace

std::string why_no_roots_folder()
{
	static const std::string why = mount_once();
	return why;
}

fs::path roots_folder()
{
	fs::path folder = fs::path(kMount) / "bin";
	fs::remove_all(folder);
	fs::create_directory(folder);
	chmod(folder.c_str(), 0755);
	fs::copy_file(helper_path(), folder / kHelperName);
	if (chown((folder / kHelperName).c_str(), 0, 0) || chmod((folder / kHelperName).c_str(), 0755))
		return {};
	return folder;
}

} // namespace icepath::privilege
