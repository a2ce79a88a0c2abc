// SPDX-License-Identifier: Apache-2.0
// What `icepath setup` does to a file: all or nothing, undone exactly, and only where nobody but root may write.
#include "profiler/privilege/file_capabilities.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "profiler/failure.h"
#include "profiler/privilege/root_helper.h"
#include "tests/privilege/roots_folder.h"

namespace icepath::privilege {
namespace {

namespace fs = std::filesystem;

constexpr gid_t kGroup = 61003;
constexpr uid_t kSomebody = 61001;

// As capabilities(7) has them in version 2: CAP_PERFMON (38) and CAP_BPF (39) are permitted, no more.
const std::string kGiven("\0\0\0\2\0\0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 20);
const std::string kOfPing("\1\0\0\2\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20); // cap_net_raw=ep

std::string attribute(const fs::path &file, const char *name)
{
	std::array<char, 256> bytes{};
	const ssize_t size = lgetxattr(file.c_str(), name, bytes.data(), bytes.size());
	return size < 0 ? "none" : std::string(bytes.data(), static_cast<size_t>(size));
}

// Owner, group, mode, and every attribute that is in question.
using State = std::tuple<uid_t, gid_t, mode_t, std::string, std::string>;

State state_of(const fs::path &file)
{
	struct stat its{};
	EXPECT_EQ(lstat(file.c_str(), &its), 0);
	return {its.st_uid, its.st_gid, its.st_mode, attribute(file, "security.capability"),
			attribute(file, "trusted.icepath.before")};
}

class FileCapabilities : public testing::Test {
protected:
	void SetUp() override
	{
		if (const std::string why = why_no_roots_folder(); !why.empty())
			GTEST_SKIP() << why;
		folder = roots_folder();
		file = folder / kHelperName;
	}
	void expect_refused(const std::string &says, const std::string &whose = "")
	{
		const State before = state_of(file);
		try {
			give_capabilities(whose.empty() ? file.string() : whose, kGroup);
			ADD_FAILURE() << "it has capabilities now, although: " << says;
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), ExitCode::MachineCannot);
			EXPECT_NE(std::string(failure.what()).find(says), std::string::npos) << failure.what();
		}
		EXPECT_EQ(state_of(file), before);
	}

	fs::path folder, file;
};

TEST_F(FileCapabilities, AreGivenToTheGroupAlone)
{
	give_capabilities(file, kGroup);
	const auto [owner, group, mode, capabilities, before] = state_of(file);
	EXPECT_EQ(owner, 0u);
	EXPECT_EQ(group, kGroup);
	EXPECT_EQ(mode, S_IFREG | 0750u);
	EXPECT_EQ(capabilities, kGiven);
	EXPECT_EQ(describe_rights(file), "root:61003 0750, cap_perfmon,cap_bpf=p");
}

TEST_F(FileCapabilities, AreTakenBackExactly)
{
	for (const auto &[group, mode, capabilities] :
		 {std::tuple{gid_t{0}, mode_t{0755}, std::string()}, {7, 0751, ""}, {0, 0700, kOfPing}, {0, 01555, ""}}) {
		ASSERT_EQ(chown(file.c_str(), 0, group) | chmod(file.c_str(), mode), 0);
		if (!capabilities.empty()) {
			ASSERT_EQ(setxattr(file.c_str(), "security.capability", capabilities.data(), capabilities.size(), 0), 0);
		}
		const State before = state_of(file);
		EXPECT_FALSE(take_capabilities_back(file));
		EXPECT_EQ(state_of(file), before);
		give_capabilities(file, kGroup);
		give_capabilities(file, kGroup + 1);
		EXPECT_EQ(std::get<1>(state_of(file)), kGroup + 1);
		EXPECT_TRUE(take_capabilities_back(file));
		EXPECT_EQ(state_of(file), before);
		EXPECT_FALSE(take_capabilities_back(file));
		EXPECT_EQ(state_of(file), before);
	}
}

// chown(2) takes -1 for "as it is", so the group isn't the one that was wanted.
TEST_F(FileCapabilities, AreNotLeftBehindByAStepThatFails)
{
	const auto fails = [&] {
		try {
			give_capabilities(file, static_cast<gid_t>(-1));
			ADD_FAILURE() << "it succeeded";
		} catch (const Failure &failure) {
			EXPECT_NE(std::string(failure.what()).find("doesn't keep what it is given"), std::string::npos)
				<< failure.what();
		}
	};
	const State before = state_of(file);
	fails();
	EXPECT_EQ(state_of(file), before);
	give_capabilities(file, kGroup);
	const State given = state_of(file);
	fails();
	EXPECT_EQ(state_of(file), given);
	EXPECT_TRUE(take_capabilities_back(file));
	EXPECT_EQ(state_of(file), before);
}

TEST_F(FileCapabilities, OfAnotherVersionsAttributeAreLeft)
{
	ASSERT_EQ(setxattr(file.c_str(), "trusted.icepath.before", "2 0", 3, 0), 0);
	const State before = state_of(file);
	EXPECT_THROW(take_capabilities_back(file), Failure);
	EXPECT_EQ(state_of(file), before);
}

TEST_F(FileCapabilities, AreRefusedWhereOthersMayWrite)
{
	ASSERT_EQ(chown(file.c_str(), kSomebody, 0), 0);
	expect_refused("isn't owned by root");
	for (const mode_t mode : {0775, 0757}) {
		ASSERT_EQ(chown(file.c_str(), 0, 0) | chmod(file.c_str(), mode), 0);
		expect_refused("may be written to by others");
	}
	ASSERT_EQ(chmod(file.c_str(), 0755), 0);
	for (const mode_t mode : {0775, 0757, 01777}) {
		ASSERT_EQ(chmod(folder.c_str(), mode), 0);
		expect_refused(folder.string() + " may be written to by others");
	}
	ASSERT_EQ(chmod(folder.c_str(), 0755) | chown(folder.c_str(), kSomebody, 0), 0);
	expect_refused(folder.string() + " isn't owned by root");
	ASSERT_EQ(chown(folder.c_str(), 0, 0) | chmod(folder.parent_path().c_str(), 0777), 0);
	expect_refused(folder.parent_path().string() + " may be written to by others");
	ASSERT_EQ(chmod(folder.parent_path().c_str(), 0755), 0);
	give_capabilities(file, kGroup);
}

TEST_F(FileCapabilities, AreRefusedToWhatIsNoPlainProgram)
{
	fs::create_symlink(kHelperName, folder / "link");
	expect_refused("isn't a file", folder / "link");
	expect_refused("isn't a file", folder);
	expect_refused("can't be found", folder / "missing");
	for (const mode_t mode : {04755, 02755}) {
		ASSERT_EQ(chmod(file.c_str(), mode), 0);
		expect_refused("is a set-uid or set-gid program");
	}
	ASSERT_EQ(chmod(file.c_str(), 0755), 0);
	fs::create_hard_link(file, folder / "other");
	expect_refused("has other names as well");
}

TEST_F(FileCapabilities, AreRefusedWhereTheyHaveNoEffect)
{
	ASSERT_EQ(mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID, "mode=0755"), 0);
	std::ofstream(file) << "a program";
	ASSERT_EQ(chmod(file.c_str(), 0755), 0);
	expect_refused("mounted with nosuid");
	EXPECT_EQ(umount(folder.c_str()), 0);
}

} // namespace
} // namespace icepath::privilege
