// SPDX-License-Identifier: Apache-2.0
// The user who asked for the run, from variables that anybody may set, and that nothing of root remains afterwards.
#include "profiler/privilege/identity.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "profiler/failure.h"

namespace icepath::privilege {
namespace {

constexpr uid_t kNobodyUid = 65534;
constexpr const char *kNoCapabilities = "0000000000000000";

class OfRoot : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		if (!getpwuid(kNobodyUid))
			GTEST_SKIP() << "this machine has no user nobody";
		unset();
	}
	void TearDown() override { unset(); }
	static void unset()
	{
		unsetenv("SUDO_UID");
		unsetenv("PKEXEC_UID");
		unsetenv("DOAS_USER");
	}
};

TEST_F(OfRoot, DoasNamesTheUserByName)
{
	setenv("DOAS_USER", "nobody", 1);
	EXPECT_EQ(invoking_user().uid, kNobodyUid);
	setenv("DOAS_USER", "nobody of this name", 1);
	EXPECT_THROW(invoking_user(), Failure);
	setenv("SUDO_UID", "0", 1); // doas within sudo, or the reverse: sudo's user id is exact
	EXPECT_EQ(invoking_user().uid, 0u);
}

TEST_F(OfRoot, PlainRootReadsARunAsItsOwner)
{
	char folder[] = "/tmp/icepath-reader-XXXXXX";
	ASSERT_NE(mkdtemp(folder), nullptr);
	EXPECT_TRUE(reader_of(folder, invoking_user()).stays_root) << "root's own";
	ASSERT_EQ(chown(folder, kNobodyUid, kNobodyUid), 0);
	const Identity reader = reader_of(folder, invoking_user());
	EXPECT_EQ(reader.uid, kNobodyUid);
	EXPECT_FALSE(reader.stays_root);
	setenv("SUDO_UID", "65534", 1);
	EXPECT_EQ(reader_of("/", invoking_user()).uid, kNobodyUid) << "who came by sudo stays who he is";
	rmdir(folder);
}

TEST_F(OfRoot, PlainRootStaysRoot)
{
	const Identity user = invoking_user();
	EXPECT_EQ(user.uid, 0u);
	EXPECT_EQ(user.gid, 0u);
	EXPECT_TRUE(user.was_root);
	EXPECT_TRUE(user.stays_root);
}

TEST_F(OfRoot, SudoAndPkexecNameTheUser)
{
	for (const char *variable : {"SUDO_UID", "PKEXEC_UID"}) {
		unset();
		setenv(variable, "65534", 1);
		const Identity user = invoking_user();
		EXPECT_EQ(user.uid, kNobodyUid) << variable;
		EXPECT_EQ(user.gid, getpwuid(kNobodyUid)->pw_gid) << variable;
		EXPECT_EQ(user.name, getpwuid(kNobodyUid)->pw_name) << variable;
		EXPECT_TRUE(user.was_root) << variable;
		EXPECT_FALSE(user.stays_root) << variable;
	}
}

// The group follows from the user, so a variable can't grant one.
TEST_F(OfRoot, NoVariableNamesTheGroup)
{
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "0", 1);
	EXPECT_EQ(invoking_user().gid, getpwuid(kNobodyUid)->pw_gid);
	unsetenv("SUDO_GID");
}

TEST_F(OfRoot, SudoGoesBeforePkexec)
{
	setenv("SUDO_UID", "65534", 1);
	setenv("PKEXEC_UID", "0", 1);
	EXPECT_EQ(invoking_user().uid, kNobodyUid);
}

TEST_F(OfRoot, RootThroughSudoStaysRoot)
{
	setenv("SUDO_UID", "0", 1);
	EXPECT_TRUE(invoking_user().stays_root);
}

TEST_F(OfRoot, WhatIsNoUserNumberIsRefused)
{
	for (const char *text : {"", " ", "-1", "+1", "root", "1000x", " 1000", "1000 ", "0x10", "1e3", "1.0", "4294967296",
							 "99999999999999999999999", "0\n", "\xff"}) {
		setenv("SUDO_UID", text, 1);
		try {
			const Identity user = invoking_user();
			ADD_FAILURE() << '"' << text << "\" became user " << user.uid;
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), ExitCode::Usage) << text;
			EXPECT_EQ(std::string(failure.what()).find("SUDO_UID"), 0u) << failure.what();
		}
	}
}

// 4294967295 is (uid_t)-1, which setresuid(2) treats as "leave unchanged": the process would stay root.
TEST_F(OfRoot, AUserThatDoesNotExistIsRefused)
{
	for (const char *text : {"4294967295", "4294967294", "3999999999"}) {
		setenv("PKEXEC_UID", text, 1);
		try {
			const Identity user = invoking_user();
			ADD_FAILURE() << text << " became user " << user.name;
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), ExitCode::Usage) << text;
			EXPECT_NE(std::string(failure.what()).find(text), std::string::npos) << failure.what();
		}
	}
}

std::string status_field(const std::string &name)
{
	std::ifstream status("/proc/self/status");
	for (std::string line; std::getline(status, line);)
		if (line.starts_with(name + ":"))
			return line.substr(line.find_first_not_of(" \t", name.size() + 1));
	return "none";
}

// Ends the process: 0 if all hold.
[[noreturn]] void exit_if_all(std::initializer_list<std::pair<const char *, bool>> facts)
{
	for (const auto &[what, holds] : facts) {
		if (!holds) {
			std::fprintf(stderr, "not so: %s\n", what);
			_exit(1);
		}
	}
	_exit(0);
}

// As root without an invoking user, with groups that `nobody` lacks.
[[noreturn]] void become_nobody()
{
	const gid_t groups[] = {0, 4};
	setgroups(2, groups);
	become(invoking_user());
	uid_t real = 0, effective = 0, saved = 0;
	gid_t real_group = 0, effective_group = 0, saved_group = 0;
	getresuid(&real, &effective, &saved);
	getresgid(&real_group, &effective_group, &saved_group);
	const gid_t own = getpwuid(kNobodyUid)->pw_gid;
	gid_t rest[64] = {};
	const int count = getgroups(64, rest);
	const bool kept_a_group = std::any_of(rest, rest + count, [](gid_t group) { return group == 0 || group == 4; });
	exit_if_all({{"uid", real == kNobodyUid && effective == kNobodyUid && saved == kNobodyUid},
				 {"gid", real_group == own && effective_group == own && saved_group == own},
				 {"groups", count >= 0 && !kept_a_group},
				 {"CapEff", status_field("CapEff") == kNoCapabilities},
				 {"CapPrm", status_field("CapPrm") == kNoCapabilities},
				 {"CapAmb", status_field("CapAmb") == kNoCapabilities},
				 {"no way back", setuid(0) != 0 && setgid(0) != 0 && setgroups(1, groups) != 0},
				 {"no_new_privs", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1},
				 {"HOME", std::string(getenv("HOME")) == getpwuid(kNobodyUid)->pw_dir},
				 {"USER", std::string(getenv("USER")) == getpwuid(kNobodyUid)->pw_name}});
}

[[noreturn]] void become_plain_root()
{
	become(invoking_user());
	exit_if_all({{"uid", geteuid() == 0}, {"CapEff", status_field("CapEff") != kNoCapabilities}});
}

[[noreturn]] void become_oneself()
{
	if (geteuid() == 0 &&
		(setresgid(kNobodyUid, kNobodyUid, kNobodyUid) || setresuid(kNobodyUid, kNobodyUid, kNobodyUid)))
		_exit(2);
	setenv("SUDO_UID", "0", 1);
	setenv("PKEXEC_UID", "garbage", 1);
	const Identity user = invoking_user();
	become(user);
	exit_if_all({{"uid", user.uid == getuid()},
				 {"was_root", !user.was_root},
				 {"stays_root", !user.stays_root},
				 {"no_new_privs", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0}});
}

TEST_F(OfRoot, BecomingTheUserLeavesNothingOfRoot)
{
	setenv("SUDO_UID", "65534", 1);
	EXPECT_EXIT(become_nobody(), testing::ExitedWithCode(0), "");
}

TEST_F(OfRoot, PlainRootBecomesNobodyElse) { EXPECT_EXIT(become_plain_root(), testing::ExitedWithCode(0), ""); }

// The variables matter only to root, and there is nothing to give up.
TEST(OfAUser, TheVariablesSayNothing) { EXPECT_EXIT(become_oneself(), testing::ExitedWithCode(0), ""); }

} // namespace
} // namespace icepath::privilege
