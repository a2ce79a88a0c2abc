// SPDX-License-Identifier: Apache-2.0
// `icepath explain` on a run beside a hog of this test's own, and on one without it.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr const char *kHog = "tail-hog";

uint64_t now_ns()
{
	timespec now{};
	clock_gettime(CLOCK_MONOTONIC, &now);
	return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Has CPU 1 for 0.3 of every ms. What sleeps on that CPU can't preempt it.
class Hog {
public:
	Hog() : pid_(fork())
	{
		if (pid_ == 0)
			compute();
	}
	~Hog()
	{
		kill(pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}
	Hog(const Hog &) = delete;
	Hog &operator=(const Hog &) = delete;

private:
	[[noreturn]] static void compute()
	{
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, kHog);
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(1, &one);
		const sched_param first{1};
		if (sched_setaffinity(0, sizeof one, &one) != 0 ||
			(sched_setscheduler(0, SCHED_FIFO, &first) != 0 && setpriority(PRIO_PROCESS, 0, -20) != 0))
			_exit(1);
		for (;;) {
			const uint64_t begin_ns = now_ns();
			while (now_ns() - begin_ns < 300'000)
				;
			const timespec rest{0, 700'000};
			nanosleep(&rest, nullptr);
		}
	}
	const pid_t pid_;
};

// Of a run that is long enough: on a busy machine few messages fit into a short one.
Json tail_of(const Folder &folder, const std::string &name)
{
	Json tail;
	for (const std::string seconds : {"8", "32"}) {
		const std::string out = name + seconds;
		const Outcome measured = run({icepath_program(), "run", "-q", "-t", "uds-stream", "-s", "64", "--patterns",
									  "pingpong", "--cpus", "0,1", "-d", seconds, "-o", out},
									 folder.path(), 120s);
		EXPECT_EQ(measured.exit_code, 0) << measured.err;
		const Outcome told = run({icepath_program(), "explain", out, "--tail", "99", "--json"}, folder.path());
		EXPECT_TRUE(told.exit_code == 0 || told.exit_code == 4) << told.err; // 4: too few
		tail = Json::parse(told.out).at("cells").at(0);
		if (tail.at("verdict") != "too few")
			break;
	}
	return tail;
}

const Json *cause_named(const Json &tail, const std::string &name)
{
	for (const Json &cause : tail.at("causes"))
		if (cause.at("name") == name)
			return &cause;
	return nullptr;
}

class Explain : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
			GTEST_SKIP() << "needs two CPUs";
	}
	const Folder folder;
};

TEST_F(Explain, NamesTheHogThatMakesTheTail)
{
	Json tail;
	{
		const Hog hog;
		tail = tail_of(folder, "beside-a-hog");
	}
	EXPECT_EQ(tail.at("verdict"), "explained") << tail.dump(1);
	ASSERT_FALSE(tail.at("causes").empty()) << tail.dump(1);
	const Json &first = tail.at("causes")[0];
	EXPECT_EQ(first.at("name"), kHog) << tail.dump(1);
	EXPECT_TRUE(first.at("lift").is_null() || first.at("lift") > 10) << first.dump();
	ASSERT_FALSE(tail.at("next").empty());
	EXPECT_EQ(tail.at("next")[0].at("cause"), "task");
}

TEST_F(Explain, InventsNone)
{
	const Json tail = tail_of(folder, "quiet");
	ASSERT_NE(tail.at("verdict"), "too few") << tail.dump(1);
	EXPECT_EQ(cause_named(tail, kHog), nullptr);
	// Whatever it names has taken time from messages of the tail, and all of it not more than there is.
	double named_ns = 0;
	for (const Json &cause : tail.at("causes")) {
		EXPECT_NE(cause.at("name"), "");
		EXPECT_GT(cause.at("messages"), 0);
		named_ns += std::max(0.0, cause.at("growth_ns").get<double>());
	}
	EXPECT_LE(named_ns, tail.at("growth").at("a_ns").get<double>()) << tail.dump(1);
}

} // namespace
} // namespace icepath::end_to_end
