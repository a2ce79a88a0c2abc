// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/cpu_claim.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "profiler/failure.h"

namespace icepath::privilege {
namespace {

// Numbers that no machine has, and others than those of such a test beside this one.
uint32_t first_cpu() { return 1100 + static_cast<uint32_t>(getpid()) % 880 * 10; }

constexpr uint32_t kCpu = 3, kLastId = INT32_MAX - 1; // the kernel's last for a map: then they begin again with 1

Claim made_as(uint32_t map, uint32_t cpu = kCpu) { return {map, cpu, 4711}; }

// By which the map `own` is refused the CPU; 0: none.
uint32_t earlier_than(uint32_t own, std::vector<Claim> others, const std::vector<Claim> &before = {})
{
	others.push_back(made_as(own));
	const std::optional<Claim> earlier = earlier_claim(others, kCpu, own, before);
	return earlier ? earlier->map : 0;
}

TEST(EarlierClaim, IsNeverTheOwn)
{
	for (const uint32_t own : {1u, 2u, kLastId / 2, kLastId})
		EXPECT_EQ(earlier_than(own, {}), 0u) << own;
}

TEST(EarlierClaim, IsTheOneThatWasMadeFirst)
{
	EXPECT_EQ(earlier_than(8, {made_as(7)}), 7u);
	EXPECT_EQ(earlier_than(7, {made_as(8)}), 0u);
	EXPECT_EQ(earlier_than(8, {made_as(9), made_as(7)}), 7u);
}

TEST(EarlierClaim, IsOfTheSameCpu) { EXPECT_EQ(earlier_than(8, {made_as(7, kCpu + 1)}), 0u); }

TEST(EarlierClaim, IsTheSameWhereIdsBeginAgain)
{
	EXPECT_EQ(earlier_than(1, {made_as(kLastId)}), kLastId);
	EXPECT_EQ(earlier_than(kLastId, {made_as(1)}), 0u);
	EXPECT_EQ(earlier_than(5, {made_as(kLastId - 5)}), kLastId - 5);
	EXPECT_EQ(earlier_than(kLastId - 5, {made_as(5)}), 0u);
}

// As of a run that has lasted while other programs made maps.
TEST(EarlierClaim, IsAnyThatWasThereBefore)
{
	constexpr uint32_t own = 7, long_ago = own + (1u << 29);
	EXPECT_EQ(earlier_than(own, {made_as(long_ago)}), 0u);
	EXPECT_EQ(earlier_than(own, {made_as(long_ago)}, {made_as(long_ago)}), long_ago);
	EXPECT_EQ(earlier_than(own, {}, {made_as(long_ago)}), 0u) << "it has ended since";
}

class CpuClaims : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		try {
			const CpuClaim trial({a}, getpid());
		} catch (const NoClaims &none) {
			GTEST_SKIP() << none.what();
		}
	}

	static std::string refusal(const std::vector<uint32_t> &cpus)
	{
		try {
			const CpuClaim claim(cpus, getpid());
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), ExitCode::MachineCannot);
			return failure.what();
		}
		return "";
	}
	static std::string pid_in_sentence(pid_t pid) { return fmt::format("(pid {})", pid); }

	const uint32_t a = first_cpu(), b = a + 1, c = a + 2, d = a + 3;
};

// Claims these CPUs after `prepare`, until it is killed.
class OtherIcepath {
public:
	template <class Prepare> OtherIcepath(const std::vector<uint32_t> &cpus, const Prepare &prepare)
	{
		int ready[2];
		EXPECT_EQ(pipe(ready), 0);
		pid_ = fork();
		if (pid_ == 0) {
			prepare();
			const CpuClaim held(cpus, getpid());
			if (write(ready[1], "x", 1) == 1)
				pause();
			_exit(1);
		}
		close(ready[1]);
		char byte = 0;
		EXPECT_EQ(read(ready[0], &byte, 1), 1) << "it claims nothing";
		close(ready[0]);
	}
	explicit OtherIcepath(const std::vector<uint32_t> &cpus) : OtherIcepath(cpus, [] {}) {}
	OtherIcepath(const OtherIcepath &) = delete;
	OtherIcepath &operator=(const OtherIcepath &) = delete;
	~OtherIcepath() { end(); }
	void end()
	{
		if (pid_ > 0) {
			kill(pid_, SIGKILL);
			waitpid(pid_, nullptr, 0);
		}
		pid_ = -1;
	}
	pid_t pid() const { return pid_; }

private:
	pid_t pid_ = -1;
};

TEST_F(CpuClaims, RefusesACpuThatAnotherRunHasAndNamesBoth)
{
	const CpuClaim held({a, b}, getpid());
	const std::string sentence = refusal({b, c});
	EXPECT_NE(sentence.find(pid_in_sentence(getpid())), std::string::npos) << sentence;
	EXPECT_NE(sentence.find(fmt::format("CPU {},", b)), std::string::npos) << sentence;
	EXPECT_NE(sentence.find("--cpus"), std::string::npos) << sentence;
}

TEST_F(CpuClaims, CanBeReadByAnybodyWhoMayMakeThem)
{
	const auto is_own = [](const Claim &claim) { return claim.holder == getpid(); };
	EXPECT_TRUE(std::ranges::none_of(read_claims(), is_own));
	const CpuClaim own({a}, getpid());
	const std::vector<Claim> all = read_claims();
	const auto found = std::ranges::find_if(all, is_own);
	ASSERT_NE(found, all.end());
	EXPECT_EQ(found->cpu, a);
}

TEST_F(CpuClaims, AllowsOtherCpus)
{
	const CpuClaim held({a, b}, getpid());
	EXPECT_EQ(refusal({c, d}), "");
}

TEST_F(CpuClaims, OneCpuForBothSidesIsNoConflict) { EXPECT_EQ(refusal({a, a}), ""); }

TEST_F(CpuClaims, ARefusedClaimHoldsNothing)
{
	const CpuClaim held({b}, getpid());
	EXPECT_NE(refusal({a, b}), "");
	EXPECT_EQ(refusal({a}), "");
}

TEST_F(CpuClaims, GoesWithItsProcessEvenIfThatIsKilled)
{
	OtherIcepath other({a});
	EXPECT_NE(refusal({a}).find(pid_in_sentence(other.pid())), std::string::npos);
	other.end();
	EXPECT_EQ(refusal({a}), "");
}

// As in a container.
TEST_F(CpuClaims, AreSeenFromOtherNamespaces)
{
	const OtherIcepath other(
		{a}, [] { EXPECT_EQ(unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP), 0); });
	EXPECT_NE(refusal({a}).find(pid_in_sentence(other.pid())), std::string::npos);
}

// However close together they begin.
TEST_F(CpuClaims, OneOfManyThatBeginAtOnceGetsThem)
{
	constexpr int kRuns = 6;
	for (int round = 0; round < 10; round++) {
		int go[2], told[2];
		ASSERT_EQ(pipe(go) | pipe(told), 0);
		std::vector<pid_t> runs;
		for (int i = 0; i < kRuns; i++) {
			runs.push_back(fork());
			if (runs.back() != 0)
				continue;
			char byte = 0;
			close(go[1]);
			(void)!read(go[0], &byte, 1); // until the test closes the other end
			try {
				const CpuClaim held(i % 2 ? std::vector{a, b} : std::vector{b, a}, getpid());
				(void)!write(told[1], "y", 1);
				pause();
			} catch (const Failure &) {
				(void)!write(told[1], "n", 1);
			}
			_exit(0);
		}
		close(go[0]);
		close(go[1]);
		int got = 0;
		for (int i = 0; i < kRuns; i++) {
			char byte = 0;
			ASSERT_EQ(read(told[0], &byte, 1), 1);
			got += byte == 'y';
		}
		EXPECT_EQ(got, 1) << round;
		for (const pid_t run : runs) {
			kill(run, SIGKILL);
			waitpid(run, nullptr, 0);
		}
		close(told[0]);
		close(told[1]);
	}
}

pid_t an_ended_process()
{
	const pid_t ended = fork();
	if (ended == 0)
		_exit(0);
	waitpid(ended, nullptr, 0);
	return ended;
}

// A helper that is about to end still holds its icepath's CPUs.
TEST_F(CpuClaims, OfAProcessThatHasEndedAreWaitedFor)
{
	const pid_t ended = an_ended_process();
	auto held = std::make_unique<CpuClaim>(std::vector<uint32_t>{a}, ended);
	std::thread helper([&] {
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		held.reset();
	});
	EXPECT_EQ(refusal({a}), "");
	helper.join();
}

size_t open_queues() // maps of claims in this process
{
	size_t queues = 0;
	for (const auto &file : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
		std::ifstream info(file.path());
		for (std::string line; std::getline(info, line);)
			queues += line == fmt::format("map_type:\t{}", static_cast<int>(BPF_MAP_TYPE_QUEUE));
	}
	return queues;
}

// It isn't refused because of one that began later, and will be.
TEST_F(CpuClaims, TheFirstThatWaitsGetsIt)
{
	const pid_t ended = an_ended_process();
	auto before = std::make_unique<CpuClaim>(std::vector<uint32_t>{a}, ended);
	std::string sentence = "not tried";
	std::thread waiting([&] { sentence = refusal({a}); });
	while (open_queues() < 2)
		std::this_thread::yield();
	const Fd later(bpf_map_create(BPF_MAP_TYPE_QUEUE, fmt::format("ice{}_1", a).c_str(), 0, 4, 1, nullptr));
	EXPECT_TRUE(later);
	before.reset();
	waiting.join();
	EXPECT_EQ(sentence, "");
}

TEST_F(CpuClaims, OfAHelperThatStaysAreReported)
{
	const pid_t ended = an_ended_process();
	const CpuClaim held({a}, ended);
	const std::string sentence = refusal({a});
	EXPECT_NE(sentence.find("has ended"), std::string::npos) << sentence;
	EXPECT_NE(sentence.find(pid_in_sentence(ended)), std::string::npos) << sentence;
}

// Maps of a type that a user may make where kernel.unprivileged_bpf_disabled is 0 are no claims, nor are others' maps.
TEST_F(CpuClaims, OtherMapsAreNone)
{
	const std::string name = fmt::format("ice{}_{}", a, getpid());
	const Fd array(bpf_map_create(BPF_MAP_TYPE_ARRAY, name.c_str(), 4, 4, 1, nullptr));
	ASSERT_TRUE(array);
	std::vector<Fd> queues;
	for (const std::string &other : {fmt::format("ice{}", a), fmt::format("ice0{}_1", a), fmt::format("ice{}_1x", a)}) {
		queues.emplace_back(bpf_map_create(BPF_MAP_TYPE_QUEUE, other.c_str(), 0, 4, 1, nullptr));
		ASSERT_TRUE(queues.back()) << other;
	}
	EXPECT_EQ(refusal({a}), "");
}

TEST_F(CpuClaims, AreNotMadeByOtherUsers)
{
	const pid_t user = fork();
	if (user == 0) {
		if (setresuid(65534, 65534, 65534))
			_exit(1);
		_exit(bpf_map_create(BPF_MAP_TYPE_QUEUE, "ice1_1", 0, 4, 1, nullptr) == -EPERM ? 0 : 2);
	}
	int status = 0;
	waitpid(user, &status, 0);
	EXPECT_EQ(status, 0);
}

} // namespace
} // namespace icepath::privilege
