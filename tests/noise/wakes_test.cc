// SPDX-License-Identifier: Apache-2.0
// How late a CPU wakes is measured where icepath itself may not run, as in a partition for its children.
#include "profiler/machine/wakes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "profiler/failure.h"

namespace icepath::machine {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kFirst = 0, kSecond = 1;

// The id of the process that a pidfd names.
std::string pid_behind(int pidfd)
{
	std::ifstream info(fmt::format("/proc/self/fdinfo/{}", pidfd));
	for (std::string key, value; info >> key && std::getline(info, value);)
		if (key == "Pid:")
			return value;
	return "";
}

TEST(Wakes, AreMeasuredOnEachCpuOnce)
{
	size_t admitted = 0;
	const auto wakes = measure_wakes({kFirst, kFirst}, [&](int) { admitted++; });
	EXPECT_EQ(admitted, 1u);
	ASSERT_EQ(wakes.size(), 1u);
	EXPECT_EQ(wakes[0].cpu, kFirst);
	EXPECT_GT(wakes[0].p50_ns, 0u);
	EXPECT_GE(wakes[0].p90_ns, wakes[0].p50_ns);
	EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
}

TEST(Wakes, ThatNobodyMayMeasureAreLeftOut)
{
	constexpr uint32_t kNoCpu = 4000;
	EXPECT_TRUE(measure_wakes({kNoCpu}).empty());
	const auto refuse = [](int) { throw Failure(ExitCode::MachineCannot, "not admitted"); };
	EXPECT_EQ(measure_wakes({kFirst, kNoCpu}, refuse).size(), 1u) << "it may run there all the same";
}

// By cgroup v1, whose cpusets keep a process off CPUs as a partition of v2 does.
class OtherCpuset : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		if (std::thread::hardware_concurrency() < 2 || !fs::exists(top / "cpuset.cpus"))
			GTEST_SKIP() << "needs two CPUs and cpusets of cgroup v1";
		ASSERT_TRUE(fs::create_directory(own));
		write(own / "cpuset.mems", first_line(top / "cpuset.mems"));
		write(own / "cpuset.cpus", std::to_string(kFirst));
	}
	void TearDown() override
	{
		std::error_code none;
		fs::remove(own, none);
	}
	static std::string first_line(const fs::path &file)
	{
		std::string line;
		std::ifstream in(file);
		std::getline(in, line);
		return line;
	}
	static void write(const fs::path &file, const std::string &text)
	{
		std::ofstream out(file);
		out << text;
		EXPECT_TRUE(out.flush()) << file;
	}

	const fs::path top = "/sys/fs/cgroup/cpuset", own = top / fmt::format("icepath-wakes-{}", getpid());
};

TEST_F(OtherCpuset, IsEnteredByThoseThatAreAdmitted)
{
	const pid_t icepath = fork();
	if (icepath == 0) {
		write(own / "cgroup.procs", std::to_string(getpid()));
		const auto admit = [&](int pidfd) { write(top / "cgroup.procs", pid_behind(pidfd)); };
		EXPECT_TRUE(measure_wakes({kSecond}).empty()) << "icepath may not run there";
		EXPECT_EQ(measure_wakes({kFirst, kSecond}, admit).size(), 2u);
		_exit(HasFailure() ? 1 : 0);
	}
	int status = -1;
	ASSERT_EQ(waitpid(icepath, &status, 0), icepath);
	EXPECT_EQ(status, 0);
}

} // namespace
} // namespace icepath::machine
