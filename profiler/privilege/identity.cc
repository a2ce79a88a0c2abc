// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/identity.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "profiler/failure.h"
#include "profiler/privilege/rights.h"

namespace icepath::privilege {
namespace {

uid_t number_in(const char *variable, const char *text)
{
	uid_t number = 0;
	const char *end = text + std::strlen(text);
	const auto parsed = std::from_chars(text, end, number);
	if (parsed.ec != std::errc() || parsed.ptr != end)
		throw Failure(ExitCode::Usage, fmt::format("{}=\"{}\" isn't a user id: run through sudo or pkexec, or unset it",
												   variable, text));
	return number;
}

// doas(1) passes only the name.
uid_t user_named(const char *variable, const char *name)
{
	const passwd *entry = getpwnam(name);
	if (!entry)
		throw Failure(ExitCode::Usage, fmt::format("{}=\"{}\" isn't a user of this machine: unset it", variable, name));
	return entry->pw_uid;
}

void describe(const passwd &entry, Identity &user)
{
	user.gid = entry.pw_gid;
	user.name = entry.pw_name;
	user.home = entry.pw_dir;
	int count = 0;
	getgrouplist(user.name.c_str(), user.gid, nullptr, &count);
	user.groups.resize(static_cast<size_t>(count));
	if (count > 0 && getgrouplist(user.name.c_str(), user.gid, user.groups.data(), &count) < 0)
		user.groups = {user.gid};
}

} // namespace

Identity invoking_user()
{
	Identity user;
	user.was_root = geteuid() == 0;
	user.uid = getuid();
	if (user.was_root) {
		const char *variable = std::getenv("SUDO_UID") ? "SUDO_UID" : "PKEXEC_UID";
		if (const char *text = std::getenv(variable))
			user.uid = number_in(variable, text);
		else if (const char *name = std::getenv("DOAS_USER"))
			user.uid = user_named("DOAS_USER", name);
	}
	user.stays_root = user.was_root && user.uid == 0;
	const passwd *entry = getpwuid(user.uid);
	if (!entry && user.was_root && !user.stays_root)
		throw Failure(
			ExitCode::Usage,
			fmt::format("user {} doesn't exist: cannot run the benchmark as the user who asked for it", user.uid));
	user.gid = getgid();
	user.name = std::to_string(user.uid);
	if (entry)
		describe(*entry, user);
	return user;
}

Identity reader_of(const std::string &path, const Identity &user)
{
	struct stat status{};
	if (!user.stays_root || stat(path.c_str(), &status) || status.st_uid == 0)
		return user;
	constexpr gid_t kNogroup = 65534;
	const passwd *entry = getpwuid(status.st_uid);
	Identity owner;
	owner.uid = status.st_uid;
	owner.gid = kNogroup;
	owner.name = std::to_string(status.st_uid);
	owner.was_root = true;
	if (entry)
		describe(*entry, owner);
	return owner;
}

void become(const Identity &user)
{
	if (!user.was_root || user.stays_root)
		return;
	const auto must = [](bool done, const char *what) {
		if (!done)
			throw Failure(ExitCode::Internal, fmt::format("cannot give up root ({}): {}", what, std::strerror(errno)));
	};
	must(setgroups(user.groups.size(), user.groups.data()) == 0, "setgroups");
	must(setresgid(user.gid, user.gid, user.gid) == 0, "setresgid");
	must(setresuid(user.uid, user.uid, user.uid) == 0, "setresuid");
	limit_capabilities({}); // capabilities go only with a change from 0: capabilities(7)
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
	if (setresuid(0, 0, 0) == 0)
		throw Failure(ExitCode::Internal, "root could be regained after giving it up: refusing to run");
	describe_in_environment(user);
}

void describe_in_environment(const Identity &user)
{
	setenv("HOME", user.home.empty() ? "/" : user.home.c_str(), 1);
	setenv("USER", user.name.c_str(), 1);
	setenv("LOGNAME", user.name.c_str(), 1);
}

} // namespace icepath::privilege
