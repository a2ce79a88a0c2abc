// SPDX-License-Identifier: Apache-2.0
// On this machine: what takes the CPU from a spinning thread has its name, by the probes that ship.
#include "profiler/noise/cpu_noise.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "icepath/plugin.h"
#include "profiler/machine/wakes.h"
#include "profiler/privilege/identity.h"

namespace icepath::noise {
namespace {

// Runs for `busy_ns` of every 10 ms on a CPU, until it is destroyed.
class Hog {
public:
	explicit Hog(uint32_t cpu, uint64_t busy_ns)
	{
		pid_ = fork();
		if (pid_ != 0)
			return;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "the-hog");
		machine::stay_on(cpu);
		for (;;) {
			for (const uint64_t until_ns = icepath_now_ns() + busy_ns; icepath_now_ns() < until_ns;) {
			}
			usleep(static_cast<useconds_t>((10'000'000 - busy_ns) / 1000));
		}
	}
	~Hog()
	{
		kill(pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}

private:
	pid_t pid_ = -1;
};

TEST(Noise, OfATaskHasItsName)
{
	constexpr uint32_t kCpu = 0;
	constexpr uint64_t kBusyNs = 3'000'000, kForNs = 1'500'000'000;
	const privilege::Identity user = privilege::invoking_user();
	privilege::Helper helper(user);
	privilege::Helper::Loaded loaded = helper.load({kCpu}, 1 << 16);
	const privilege::SlotsView slots(loaded, {kCpu});
	helper.attach(needed_probes());
	const Capture capture{helper, slots};
	const Hog hog(kCpu, kBusyNs);
	size_t admitted = 0;
	const auto noise = measure({kCpu, kCpu}, kForNs, &capture, [&](int) { admitted++; });
	EXPECT_EQ(admitted, 1u);
	ASSERT_EQ(noise.size(), 1u);
	EXPECT_EQ(noise[0].cpu, kCpu);
	EXPECT_GE(noise[0].of_ns, kForNs);
	const auto of_hog = std::ranges::find(noise[0].sources, "the-hog", &model::NoiseSource::name);
	ASSERT_NE(of_hog, noise[0].sources.end());
	// It wants 3 of 10 ms, and the scheduler may give it half of the CPU at most.
	EXPECT_GE(of_hog->ns, kForNs / 10);
	EXPECT_LE(of_hog->ns, kForNs * 6 / 10);
	uint64_t sum_ns = 0, gaps = 0;
	for (const model::NoiseSource &source : noise[0].sources) {
		sum_ns += source.ns;
		gaps += source.gaps;
	}
	EXPECT_EQ(sum_ns, noise[0].ns) << "each gap counts once";
	EXPECT_EQ(gaps, noise[0].gaps);
}

TEST(Noise, WithoutACaptureHasNoNames)
{
	const auto noise = measure({0}, 50'000'000, nullptr, {});
	ASSERT_EQ(noise.size(), 1u);
	EXPECT_GE(noise[0].of_ns, 50'000'000u);
	EXPECT_TRUE(noise[0].sources.empty());
}

TEST(Noise, IsMeasuredNoLongerThanWanted)
{
	constexpr uint64_t kAnHourNs = 3'600'000'000'000;
	int windows = 0;
	const auto noise = measure({0}, kAnHourNs, nullptr, {}, [&] { return windows++ == 1; });
	ASSERT_EQ(noise.size(), 1u);
	EXPECT_GE(noise[0].of_ns, 1'000'000'000u) << "of its one window";
	EXPECT_EQ(windows, 2);
}

TEST(Noise, IsntMeasuredWhereIcepathMayNotRun)
{
	constexpr uint32_t kNoCpu = 4000;
	EXPECT_TRUE(measure({kNoCpu}, 1'000'000, nullptr, {}).empty());
}

} // namespace
} // namespace icepath::noise
