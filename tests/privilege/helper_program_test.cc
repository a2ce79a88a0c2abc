// SPDX-License-Identifier: Apache-2.0
// The helper's program: who may start it, and which file icepath executes as root.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "profiler/failure.h"
#include "tests/privilege/raw_helper.h"

namespace icepath::privilege {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;
constexpr unsigned kLongestS = 15;

fs::path program() { return fs::read_symlink("/proc/self/exe").replace_filename(kHelperName); }

struct Ended {
	int status = -1; // as of waitpid(2)
	std::string err;
};

// Executes a program in a child, whose descriptors `prepare` arranges.
Ended execute(const fs::path &path, std::vector<std::string> words, const std::function<void()> &prepare)
{
	const Fd err(memfd_create("err", MFD_CLOEXEC));
	const pid_t child = fork();
	if (child == 0) {
		prepare();
		dup2(err.get(), STDERR_FILENO);
		dup2(err.get(), STDOUT_FILENO);
		std::vector<char *> argv;
		words.insert(words.begin(), path);
		for (std::string &word : words)
			argv.push_back(word.data());
		argv.push_back(nullptr);
		alarm(kLongestS); // a helper that isn't refused waits for requests
		execv(path.c_str(), argv.data());
		_exit(127);
	}
	Ended ended;
	waitpid(child, &ended.status, 0);
	std::array<char, 4096> text{};
	const ssize_t bytes = pread(err.get(), text.data(), text.size(), 0);
	ended.err.assign(text.data(), static_cast<size_t>(std::max<ssize_t>(bytes, 0)));
	return ended;
}

void refused(const std::vector<std::string> &words, const std::function<void()> &prepare)
{
	const Ended ended = execute(program(), words, prepare);
	EXPECT_TRUE(WIFEXITED(ended.status)) << ended.status;
	EXPECT_EQ(WEXITSTATUS(ended.status), static_cast<int>(ExitCode::Usage));
	EXPECT_EQ(ended.err, "icepath-helper is started by icepath alone\n");
}

TEST(HelperProgram, IsStartedByIcepathAlone)
{
	const std::string own = std::to_string(getpid());
	const std::vector<std::string> words = {ICEPATH_HELPER_VERSION, "65534", own};
	const auto with = [](int fd) { return [fd] { dup2(fd, kSocketOfProgram); }; };
	const auto [ours, theirs] = channel::open_pair(); // of this process: as it should be
	const Fd file(open("/dev/null", O_RDWR | O_CLOEXEC));
	int ends[2], streams[2];
	ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, streams), 0);
	const Fd pipe_end(ends[0]), other_end(ends[1]), stream(streams[0]), other_stream(streams[1]);
	const Fd lone(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	refused(words, [] { close(kSocketOfProgram); });
	for (const Fd *fd : {&file, &pipe_end, &stream, &lone})
		refused(words, with(fd->get()));
	// A pair that the child itself has made isn't its parent's.
	refused(words, [] {
		int pair[2];
		(void)!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair);
		dup2(pair[0], kSocketOfProgram);
	});
	for (const std::vector<std::string> &wrong :
		 std::vector<std::vector<std::string>>{{},
											   {"--help"},
											   {ICEPATH_HELPER_VERSION, "65534"},
											   {ICEPATH_HELPER_VERSION, "65534", "1"},
											   {ICEPATH_HELPER_VERSION, "nobody", own},
											   {ICEPATH_HELPER_VERSION, "-1", own},
											   {ICEPATH_HELPER_VERSION, "99999999999", own},
											   {ICEPATH_HELPER_VERSION, "65534", own, "more"}})
		refused(wrong, with(theirs.get()));
}

class HelperFile : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		std::string name = fs::temp_directory_path() / "icepath-helper-XXXXXX";
		ASSERT_NE(mkdtemp(name.data()), nullptr);
		folder = name;
		fs::copy_file("/proc/self/exe", folder / "icepath");
		fs::copy_file(program(), helper());
		for (const fs::path &file : {folder / "icepath", helper()})
			ASSERT_EQ(chown(file.c_str(), 0, 0) | chmod(file.c_str(), 0755), 0);
	}
	void TearDown() override
	{
		if (!folder.empty())
			fs::remove_all(folder);
	}
	fs::path helper() const { return folder / kHelperName; }
	// What icepath says as it starts its helper: icepath is a copy of this program, with another test of it.
	std::string said() const
	{
		const Ended ended = execute(folder / "icepath", {"--gtest_filter=HelperOfIcepath.PassesItsSentencesOn"}, [] {});
		EXPECT_TRUE(WIFEXITED(ended.status)) << ended.status;
		return ended.err;
	}
	void expect_started(const std::string &because = "") const
	{
		const std::string text = said();
		EXPECT_NE(text.find("[  PASSED  ] 1 test."), std::string::npos) << because << ": " << text;
	}
	void expect_refused(const std::string &why) const
	{
		const std::string text = said();
		EXPECT_NE(text.find(why), std::string::npos) << text;
		EXPECT_EQ(text.find("[  PASSED  ] 1 test."), std::string::npos) << text;
	}

	fs::path folder;
};

constexpr const char *kNotExecuted = " as root: it must be a file owned by root or by icepath's owner";

TEST_F(HelperFile, IsExecutedIfOnlyRootOrIcepathsOwnerMayWriteToIt)
{
	expect_started();
	for (const fs::path &file : {folder / "icepath", helper()})
		ASSERT_EQ(chown(file.c_str(), kNobody, 0), 0);
	expect_started("as in a user's build folder");
	ASSERT_EQ(chown(helper().c_str(), 1, 0), 0);
	expect_refused(kNotExecuted);
	ASSERT_EQ(chown(helper().c_str(), 0, 0) | chown((folder / "icepath").c_str(), 0, 0), 0);
	for (const mode_t mode : {0775, 0757}) {
		ASSERT_EQ(chmod(helper().c_str(), mode), 0);
		expect_refused(kNotExecuted);
	}
	ASSERT_EQ(chmod(helper().c_str(), 0775) | chmod((folder / "icepath").c_str(), 0775), 0);
	expect_started("who may write to icepath may write to it");
	ASSERT_EQ(chown(helper().c_str(), 0, kNobody), 0);
	expect_refused(kNotExecuted);
}

TEST_F(HelperFile, IsAFileBesideIcepath)
{
	fs::rename(helper(), folder / "other");
	expect_refused("icepath-helper can't be opened (No such file or directory): install icepath again");
	fs::create_symlink("other", helper());
	expect_refused("icepath-helper can't be opened (Too many levels of symbolic links)");
	fs::remove(helper());
	fs::create_directory(helper());
	expect_refused(kNotExecuted);
}

TEST_F(HelperFile, ThatIsNoProgramIsTold)
{
	std::ofstream(helper(), std::ios::trunc) << "no program";
	expect_refused("icepath-helper can't begin: its program can't be executed: Exec format error");
}

TEST_F(HelperFile, OfAnotherVersionIsTold)
{
	auto [ours, theirs] = channel::open_pair();
	const pid_t child = fork();
	if (child == 0) {
		dup2(theirs.get(), kSocketOfProgram);
		execl(program().c_str(), kHelperName, "0.0.1", "65534", std::to_string(getppid()).c_str(), nullptr);
		_exit(127);
	}
	theirs.reset();
	std::array<char, 256> beginning{};
	std::vector<Fd> none;
	EXPECT_TRUE(channel::receive(ours.get(), beginning.data(), beginning.size(), none, 10'000));
	EXPECT_STREQ(beginning.data(), "it is of version " ICEPATH_HELPER_VERSION ", and icepath of 0.0.1");
	ours.reset(); // one that serves ends
	waitpid(child, nullptr, 0);
}

// It is no copy of icepath, and has nothing of what the user gave that.
TEST_F(HelperFile, RunsWithoutIcepathsEnvironment)
{
	ASSERT_EQ(setenv("ICEPATH_SECRET", "of the user", 1), 0);
	const RawHelper raw;
	const std::string proc = fmt::format("/proc/{}/", raw.pid());
	EXPECT_EQ(fs::read_symlink(proc + "exe").filename(), kHelperName);
	std::ifstream environment(proc + "environ", std::ios::binary);
	ASSERT_TRUE(environment);
	EXPECT_EQ(std::string(std::istreambuf_iterator<char>(environment), {}), "");
	std::string name;
	std::ifstream(proc + "comm") >> name;
	EXPECT_EQ(name, kHelperName);
	for (const auto &fd : fs::directory_iterator(proc + "fd"))
		if (std::stoi(fd.path().filename()) > kSocketOfProgram) {
			EXPECT_EQ(fs::read_symlink(fd.path()), "anon_inode:[pidfd]") << "of icepath";
		}
}

} // namespace
} // namespace icepath::privilege
