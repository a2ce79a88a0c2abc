// SPDX-License-Identifier: Apache-2.0
// Memory is made in spite of signals meanwhile.
#include "plugin_kit/shared_mapping.h"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <csignal>

namespace icepath::plugin_kit {
namespace {

TEST(SharedMapping, IsMadeThoughASignalInterrupts)
{
	constexpr uint64_t kBytes = 128 << 20; // takes milliseconds
	struct sigaction ignorant{}, before{};
	ignorant.sa_handler = [](int) {};
	sigaction(SIGALRM, &ignorant, &before);
	const itimerval soon{{0, 0}, {0, 1000}};
	setitimer(ITIMER_REAL, &soon, nullptr);
	const int fd = make_shared_memory(kBytes);
	EXPECT_GE(fd, 0) << std::strerror(errno);
	close(fd);
	sigaction(SIGALRM, &before, nullptr);
}

} // namespace
} // namespace icepath::plugin_kit
