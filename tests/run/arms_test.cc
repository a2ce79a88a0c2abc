// SPDX-License-Identifier: Apache-2.0
// What an arm's folders and variables are found to be, and which files a worker has loaded.
#include "profiler/run/arms.h"
#include "profiler/run/loaded_files.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "profiler/failure.h"

namespace icepath::run {
namespace {

namespace fs = std::filesystem;

class ArmsFound : public testing::Test {
protected:
	void SetUp() override
	{
		char made[] = "/tmp/icepath-arms-XXXXXX";
		ASSERT_NE(mkdtemp(made), nullptr);
		folder = made;
		chmod(made, 0755);
	}
	void TearDown() override { fs::remove_all(folder); }
	std::string complaint(const model::Arm &arm) const
	{
		try {
			found(arm);
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), ExitCode::Usage);
			return failure.what();
		}
		return "";
	}
	fs::path folder;
};

std::string value_of(const Environment &environment, const std::string &name)
{
	const auto one = std::ranges::find(environment, name, &Environment::value_type::first);
	return one == environment.end() ? "(none)" : one->second;
}

TEST_F(ArmsFound, HaveNoLinksOnTheirWay)
{
	fs::create_directories(folder / "real/lib");
	std::ofstream(folder / "real/config.xml") << "<x/>";
	fs::create_symlink(folder / "real", folder / "link");
	const model::Arm arm = found({.name = "a",
								  .plugins = folder / "link/lib",
								  .library_path = folder / "link/lib/../lib",
								  .config = folder / "link/config.xml"});
	EXPECT_EQ(arm.plugins, folder / "real/lib");
	EXPECT_EQ(arm.library_path, folder / "real/lib");
	EXPECT_EQ(arm.config, folder / "real/config.xml");
	const std::vector<std::string> folders = folders_of(arm);
	EXPECT_NE(std::ranges::find(folders, (folder / "real/lib").string()), folders.end());
	EXPECT_NE(std::ranges::find(folders, (folder / "real").string()), folders.end()) << "the configuration's";
}

bool has(const std::vector<std::string> &folders, const fs::path &folder)
{
	return std::ranges::find(folders, folder.string()) != folders.end();
}

// Where middleware runs /tmp is empty, so each link on the way to a library must be there as well.
TEST_F(ArmsFound, KeepWhereTheirLinksLead)
{
	for (const char *name : {"lib", "first", "second"})
		fs::create_directory(folder / name);
	std::ofstream(folder / "second/liba.so.1.2") << "x";
	fs::create_symlink("../second/liba.so.1.2", folder / "first/liba.so.1");
	fs::create_symlink(folder / "first/liba.so.1", folder / "lib/liba.so");
	fs::create_symlink("liba.so", folder / "lib/libb.so");
	const std::vector<std::string> folders = folders_of({.name = "a", .library_path = folder / "lib"});
	EXPECT_TRUE(has(folders, folder / "lib"));
	EXPECT_TRUE(has(folders, folder / "first"));
	EXPECT_TRUE(has(folders, folder / "second"));
}

TEST_F(ArmsFound, AreRefusedIfALinkWouldBeGone)
{
	const uid_t caller = geteuid(); // root loads nothing over such links
	if (caller == 0) {
		ASSERT_TRUE(chown(folder.c_str(), 65534, 65534) == 0 && seteuid(65534) == 0);
	}
	fs::create_directories(folder / "lib");
	fs::create_directories(folder / "build");
	std::ofstream(folder / "build/liba.so") << "x";
	fs::create_symlink("build", folder / "current");
	fs::create_symlink(folder / "current/liba.so", folder / "lib/liba.so");
	const model::Arm arm{.name = "a", .library_path = folder / "lib"};
	EXPECT_NE(complaint(arm).find("the link " + (folder / "lib/liba.so").string() +
								  ": the way there is over the link " + (folder / "current").string()),
			  std::string::npos)
		<< complaint(arm);
	const fs::path in_tmp = "/tmp/" + folder.filename().string() + ".so";
	std::ofstream(in_tmp) << "x";
	fs::remove(folder / "lib/liba.so");
	fs::create_symlink(in_tmp, folder / "lib/liba.so");
	EXPECT_NE(complaint(arm).find("/tmp itself is empty where middleware runs"), std::string::npos) << complaint(arm);
	const model::Arm named{.name = "a", .environment = {{"URI", "file://" + in_tmp.string()}}};
	EXPECT_NE(complaint(named).find("/tmp itself is empty where middleware runs"), std::string::npos)
		<< complaint(named);
	fs::remove(in_tmp);
	EXPECT_EQ(complaint(named), "") << "it isn't there anywhere";
	ASSERT_EQ(seteuid(caller), 0);
}

TEST_F(ArmsFound, KeepFoldersOfTheirVariables)
{
	for (const char *name : {"one", "two", "three"})
		fs::create_directory(folder / name);
	std::ofstream(folder / "one/a.xml") << "<x/>";
	const std::string one = folder / "one/a.xml", two = folder / "two", three = folder / "three";
	const model::Arm arm{
		.name = "a", .environment = {{"URI", "file://" + one + ",<X/>"}, {"PATHS", "/usr:" + two + ":/var" + three}}};
	const std::vector<std::string> folders = folders_of(arm);
	EXPECT_TRUE(has(folders, folder / "one"));
	EXPECT_TRUE(has(folders, two));
	EXPECT_FALSE(has(folders, three)) << "/var/tmp is another";
	EXPECT_EQ(complaint(arm), "");
}

TEST_F(ArmsFound, AreRefusedWithTheReason)
{
	std::ofstream(folder / "file") << "x";
	fs::create_directory(folder / "with:colon");
	const std::string file = folder / "file", nowhere = folder / "nowhere";
	EXPECT_EQ(complaint({.name = "a", .plugins = nowhere}),
			  "--arm a: plugins=" + nowhere + ": No such file or directory");
	EXPECT_EQ(complaint({.name = "a", .library_path = file}), "--arm a: lib=" + file + " isn't a folder");
	EXPECT_EQ(complaint({.name = "a", .config = folder}), "--arm a: config=" + folder.string() + " isn't a file");
	EXPECT_NE(complaint({.name = "a", .library_path = folder / "with:colon"}).find("':'"), std::string::npos);
	EXPECT_NE(complaint({.name = "a", .library_path = "/tmp"}).find("/tmp itself is empty where middleware runs"),
			  std::string::npos);
}

TEST_F(ArmsFound, BelongToRootAloneIfRootRuns)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	fs::create_directory(folder / "lib");
	std::ofstream(folder / "lib/liba.so") << "x";
	std::ofstream(folder / "config.xml") << "<x/>";
	const model::Arm lib{.name = "a", .library_path = folder / "lib"},
		config{.name = "a", .config = folder / "config.xml"};
	EXPECT_EQ(complaint(lib), "");
	EXPECT_EQ(complaint(config), "");
	ASSERT_EQ(chown((folder / "lib/liba.so").c_str(), 65534, 65534), 0);
	ASSERT_EQ(chmod((folder / "config.xml").c_str(), 0666), 0);
	EXPECT_NE(complaint(lib).find("others can change " + (folder / "lib/liba.so").string()), std::string::npos);
	EXPECT_NE(complaint(config).find("root loads no configuration from"), std::string::npos);
	fs::remove(folder / "lib/liba.so");
	std::ofstream(folder / "elsewhere") << "x";
	ASSERT_EQ(chown((folder / "elsewhere").c_str(), 65534, 65534), 0);
	const auto leads_away = [&] {
		return complaint(lib).find("the link " + (folder / "lib/liba.so").string() + " doesn't lead") !=
			   std::string::npos;
	};
	for (const fs::path &to : {folder / "elsewhere", folder / "nowhere", folder / "lib/inner"}) {
		fs::create_directories(folder / "lib/inner");
		fs::create_symlink(to, folder / "lib/liba.so");
		EXPECT_TRUE(leads_away()) << to;
		fs::remove(folder / "lib/liba.so");
	}
	std::ofstream(folder / "lib/liba.so.1") << "x";
	fs::create_symlink("liba.so.1", folder / "lib/liba.so");
	EXPECT_EQ(complaint(lib), "");
	ASSERT_EQ(chmod((folder / "lib/inner").c_str(), 01777), 0);
	EXPECT_NE(complaint(lib).find("others can change " + (folder / "lib/inner").string()), std::string::npos)
		<< "others could add libraries to it";
}

TEST(ArmsEnvironment, NamesFoldersFilesAndVariables)
{
	setenv("LD_LIBRARY_PATH", "/before", 1);
	const Environment both = environment_of({.name = "a", .library_path = "/lib", .config = "/c.xml"});
	unsetenv("LD_LIBRARY_PATH");
	EXPECT_EQ(value_of(both, "LD_LIBRARY_PATH"), "/lib:/before") << "the arm's comes first";
	EXPECT_EQ(value_of(both, "CYCLONEDDS_URI"), "file:///c.xml");
	EXPECT_EQ(value_of(both, "FASTRTPS_DEFAULT_PROFILES_FILE"), "/c.xml");
	const Environment own =
		environment_of({.name = "a", .config = "/c.xml", .environment = {{"CYCLONEDDS_URI", "<x/>"}, {"A", "1"}}});
	EXPECT_EQ(value_of(own, "CYCLONEDDS_URI"), "<x/>") << "what is named itself counts";
	EXPECT_EQ(value_of(own, "ICEPATH_ARM_VARIABLES"),
			  "FASTRTPS_DEFAULT_PROFILES_FILE:FASTDDS_DEFAULT_PROFILES_FILE:CYCLONEDDS_URI:A");
	EXPECT_TRUE(environment_of({.name = "default"}).empty());
}

TEST(ArmsConfigs, AreForAdaptersThatReadThem)
{
	const std::vector<model::Arm> arms = {{.name = "a", .config = "/c.xml"}, {.name = "b"}};
	plan::Plan plan;
	plan.cells.resize(2);
	plan.cells[0].target = "cyclonedds/udp";
	plan.cells[0].arm = "a";
	plan.cells[1].target = "zeromq/tcp";
	plan.cells[1].arm = "b";
	EXPECT_NO_THROW(check_configs(arms, plan));
	plan.cells[1].arm = "a";
	EXPECT_THROW(check_configs(arms, plan), Failure);
}

TEST(LoadedFiles, AreOfThisProcessAndHaveBuildIds)
{
	const auto files = loaded_files(getpid(), "t", fs::canonical("/proc/self/exe"), "1.2");
	const auto own = std::ranges::find(files, fs::canonical("/proc/self/exe").string(), &model::LoadedFile::path);
	ASSERT_NE(own, files.end());
	EXPECT_EQ(own->version, "1.2");
	EXPECT_EQ(own->target, "t");
	const auto libc = std::ranges::find_if(files, [](const auto &file) { return file.path.ends_with("libc.so.6"); });
	ASSERT_NE(libc, files.end());
	EXPECT_EQ(libc->version, "");
	EXPECT_EQ(libc->build_id.size(), 40u) << "Debian's has a SHA-1";
	EXPECT_TRUE(loaded_files(0, "t", "", "").empty());
}

// Any user may make such a file.
TEST(BuildId, OfAFileThatIsNoneOrLiesIsNone)
{
	Elf64_Ehdr head{};
	std::memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_phoff = sizeof(head);
	head.e_phnum = 1;
	Elf64_Phdr segment{};
	segment.p_type = PT_NOTE;
	segment.p_offset = sizeof(head) + sizeof(segment);
	const Elf64_Nhdr note{sizeof(ELF_NOTE_GNU), 2, NT_GNU_BUILD_ID};
	const auto file_of = [&](const Elf64_Ehdr &its_head, Elf64_Phdr its_segment, const Elf64_Nhdr &its_note) {
		std::vector<std::byte> file(sizeof(head) + sizeof(segment) + sizeof(note) + 8);
		its_segment.p_filesz = its_segment.p_filesz ? its_segment.p_filesz : sizeof(note) + 8;
		std::memcpy(file.data(), &its_head, sizeof(head));
		std::memcpy(file.data() + sizeof(head), &its_segment, sizeof(segment));
		std::memcpy(file.data() + segment.p_offset, &its_note, sizeof(note));
		std::memcpy(file.data() + segment.p_offset + sizeof(note), "GNU\0\xab\xcd", 6);
		return file;
	};
	EXPECT_EQ(build_id_of(file_of(head, segment, note)), "abcd");
	for (const Elf64_Nhdr &bad :
		 {Elf64_Nhdr{4, 3000, NT_GNU_BUILD_ID}, Elf64_Nhdr{4, 60, NT_GNU_BUILD_ID},
		  Elf64_Nhdr{UINT32_MAX, 2, NT_GNU_BUILD_ID}, Elf64_Nhdr{4, UINT32_MAX, NT_GNU_BUILD_ID},
		  Elf64_Nhdr{0, 2, NT_GNU_BUILD_ID}, Elf64_Nhdr{4, 2, 1}})
		EXPECT_EQ(build_id_of(file_of(head, segment, bad)), "");
	Elf64_Phdr beyond = segment;
	beyond.p_offset = UINT64_MAX - 4;
	EXPECT_EQ(build_id_of(file_of(head, beyond, note)), "");
	beyond = segment;
	beyond.p_filesz = UINT64_MAX;
	EXPECT_EQ(build_id_of(file_of(head, beyond, note)), "");
	Elf64_Ehdr far = head;
	far.e_phoff = UINT64_MAX - 8;
	far.e_phnum = UINT16_MAX;
	EXPECT_EQ(build_id_of(file_of(far, segment, note)), "");
	EXPECT_EQ(build_id_of({}), "");
}

} // namespace
} // namespace icepath::run
