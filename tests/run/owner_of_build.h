// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tests need root for probes, and are all run as root, also where the build is an ordinary user's, in a home that
// others can't enter. Middleware has a user namespace, in which root is nobody in such a home. icepath itself would
// become that user, or refuse what isn't root's.
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace icepath::test {

// For good: from root to the user whose this program is. Returns whether this is now that user, or was before.
inline bool become_owner_of_build()
{
	struct stat program{};
	if (geteuid() != 0 || stat("/proc/self/exe", &program) != 0 || program.st_uid == 0)
		return true;
	const passwd *const user = getpwuid(program.st_uid);
	return user && initgroups(user->pw_name, user->pw_gid) == 0 &&
		   setresgid(user->pw_gid, user->pw_gid, user->pw_gid) == 0 && setenv("HOME", user->pw_dir, 1) == 0 &&
		   setresuid(user->pw_uid, user->pw_uid, user->pw_uid) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0;
}

} // namespace icepath::test
