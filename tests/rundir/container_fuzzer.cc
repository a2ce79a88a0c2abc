// SPDX-License-Identifier: Apache-2.0
// The reader against any bytes: it returns blocks or throws Failure(Usage), nothing else. Built with clang's
// -fsanitize=fuzzer this file is a fuzzer; within the tests a bounded loop of changed containers runs through it.
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

#include "profiler/failure.h"
#include "profiler/rundir/chunk.h"
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

// Most random changes stop at the checksum; this gives each whole chunk a fitting one, so that they get behind it.
void mend_checksums(std::string &bytes)
{
	for (size_t at = sizeof kMagic; at + sizeof(ChunkHeader) <= bytes.size();) {
		ChunkHeader header;
		std::memcpy(&header, bytes.data() + at, sizeof header);
		const size_t body = at + sizeof header;
		if (header.stored_bytes > bytes.size() - body)
			return;
		header.crc32 = chunk_crc32(header, std::as_bytes(std::span(bytes).subspan(body, header.stored_bytes)));
		std::memcpy(bytes.data() + at, &header, sizeof header);
		at = body + header.stored_bytes;
	}
}

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
	const std::string characters = "0123456789-.e\"[]{},:ntf\\ \xff";
	for (int i = 0; i < 4000; ++i) {
		std::string changed = bytes;
		for (unsigned n = 1 + random() % 4; n > 0; --n) {
			const size_t at = random() % changed.size();
			switch (random() % 4) {
			case 0:
				changed[at] = static_cast<char>(random());
				break;
			case 1:
				changed[at] = characters[random() % characters.size()];
				break;
			case 2:
				changed.erase(at, 1 + random() % 16);
				break;
			default:
				changed.insert(at, changed.substr(random() % changed.size(), 1 + random() % 16));
				break;
			}
		}
		mend_checksums(changed);
		LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(changed.data()), changed.size());
	}
}

} // namespace
} // namespace icepath::rundir
