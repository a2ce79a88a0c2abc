// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/noise_lines.h"

#include <gtest/gtest.h>

#include <functional>

namespace icepath::text {
namespace {

const model::CpuNoise kNoise{
	1, 200'000'000, 51, 420'000, 40'000, {{"timer interrupt", 50, 370'000, 12'000}, {"hog", 1, 38'000, 38'000}}, "hog"};

std::string page_of(const std::function<void(Page &)> &add)
{
	Page page({false, true}, 1000);
	add(page);
	return page.take();
}

TEST(NoiseText, NamesTheCauseOfTheLongestGap)
{
	EXPECT_EQ(noise_text(kNoise), "51 gaps, 420 µs of 200 ms, longest 40.0 µs (hog)");
	EXPECT_EQ(noise_text({1, 200'000'000, 1, 2'000, 2'000, {}, ""}), "1 gap, 2.00 µs of 200 ms, longest 2.00 µs");
	EXPECT_EQ(noise_text({1, 200'000'000, 0, 0, 0, {}, ""}), "no gap in 200 ms");
}

TEST(NoiseOfCpus, HasHeadingsOverItsColumns)
{
	EXPECT_EQ(page_of([](Page &page) { add_noise_of_cpus(page, {kNoise, {2, 200'000'000, 0, 0, 0, {}, ""}}); }),
			  "CPU 1     51 gaps, 420 µs of 200 ms, longest 40.0 µs (hog)\n"
			  "  what took it         gaps    in all   longest\n"
			  "  timer interrupt        50    370 µs   12.0 µs\n"
			  "  hog                     1   38.0 µs   38.0 µs\n"
			  "CPU 2     no gap in 200 ms\n");
}

TEST(Quiet, ComparesWithBeforeTheCpuWasIsolated)
{
	model::Head head;
	EXPECT_EQ(page_of([&](Page &page) { add_quiet(page, head); }), "");
	head.noise = {{1, 200'000'000, 0, 0, 0, {}, ""}};
	head.noise_before = {kNoise};
	EXPECT_EQ(page_of([&](Page &page) { add_quiet(page, head); }),
			  "quiet     before the first block: CPU 1: no gap in 200 ms; before it was isolated 51 gaps, 420 µs of "
			  "200 ms, longest 40.0 µs "
			  "(hog)\n");
}

TEST(KeptOff, NamesWhatTookMost)
{
	const std::vector<model::CpuNoise> found = {{0, 3'000'000, 0, 0, 0, {}, ""},
												{1, 3'000'000, 3, 15'000, 5'000, {{"hog", 3, 15'000, 5'000}}, "hog"}};
	EXPECT_EQ(
		page_of([&](Page &page) { add_interference(page, found); }),
		"kept off  workers that could have run, of their time in blocks with probes: CPU 1 15.0 µs of 3.00 ms: hog "
		"15.0 µs in 3 times\n");
	EXPECT_EQ(page_of([&](Page &page) { add_interference(page, {}); }), "");
}

} // namespace
} // namespace icepath::text
