// SPDX-License-Identifier: Apache-2.0
// The reader against any bytes: it returns blocks or throws Failure(Usage), nothing else. Built with clang's
// -fsanitize=fuzzer this file is a fuzzer; within the tests a bounded loop of changed containers runs through it.
#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/failure.h"
#include "tests/rundir/damage.h"
#include "tests/rundir/example_run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("icepath-fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size))
		abort();
	try {
		icepath::rundir::Reader reader("/proc/self/fd/" + std::to_string(fd));
		while (reader.next())
			;
	} catch (const icepath::Failure &failure) {
		if (failure.code() != icepath::ExitCode::Usage)
			abort();
	}
	close(fd);
	return 0;
}

namespace icepath::rundir {
namespace {

TEST(ContainerFuzz, ChangedContainersAreReadOrRefused)
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
	for (int i = 0; i < 4000; ++i) {
		const std::string changed = damaged(bytes, random);
		LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(changed.data()), changed.size());
	}
}

} // namespace
} // namespace icepath::rundir
