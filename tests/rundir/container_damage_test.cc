// SPDX-License-Identifier: Apache-2.0
// The reader returns blocks from damaged containers or throws Failure(Usage), nothing else. tests/fuzz searches
// further.
#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/failure.h"
#include "profiler/rundir/container.h"
#include "tests/rundir/damage.h"
#include "tests/rundir/example_run.h"

namespace icepath::rundir {
namespace {

void read_damaged(const std::string &bytes)
{
	const int fd = memfd_create("icepath-damaged", MFD_CLOEXEC);
	ASSERT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
	try {
		Reader reader("/proc/self/fd/" + std::to_string(fd));
		while (reader.next())
			;
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage) << failure.what();
	}
	close(fd);
}

TEST(ContainerDamage, ChangedContainersAreReadOrRefused)
{
	TemporaryDirectory temporary;
	{
		Writer writer(temporary.path("run"), example_head());
		writer.add(example_block(0, false));
		writer.add(example_block(1, true));
		writer.finish(example_tail());
	}
	const std::string bytes = file_bytes(temporary.path("run/capture.icp"));
	std::mt19937 random(20240229);
	for (int i = 0; i < 4000; ++i)
		read_damaged(damaged(bytes, random));
}

} // namespace
} // namespace icepath::rundir
