// SPDX-License-Identifier: Apache-2.0
// A full pipe refers to as many of the sender's pages as it can: none may be rewritten before it was read.
#include "plugin_kit/page_ring.h"

#include <gtest/gtest.h>
#include <sys/uio.h>

#include <algorithm>
#include <vector>

namespace icepath::plugin_kit {
namespace {

using Bytes = std::vector<uint8_t>;

enum class By { Memory, File };

struct Pipe {
	Pipe()
	{
		if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
			ADD_FAILURE() << std::strerror(errno);
	}
	~Pipe() { close_all({ends[0], ends[1]}); }
	int ends[2] = {-1, -1};
};

class PageRingOf : public testing::TestWithParam<std::tuple<By, uint64_t>> {
protected:
	// Returns the bytes that went in; 0: full.
	size_t put(const uint8_t *data, size_t bytes)
	{
		off_t offset = ring.offset_of(data);
		const iovec piece{const_cast<uint8_t *>(data), bytes};
		const ssize_t moved = std::get<By>(GetParam()) == By::Memory
								  ? vmsplice(pipe.ends[1], &piece, 1, SPLICE_F_NONBLOCK)
								  : splice(ring.fd(), &offset, pipe.ends[1], nullptr, bytes, SPLICE_F_NONBLOCK);
		EXPECT_TRUE(moved > 0 || errno == EAGAIN) << std::strerror(errno);
		return moved > 0 ? static_cast<size_t>(moved) : 0;
	}

	// The next bytes of the stream: message k consists of bytes k.
	void expect_next(size_t most)
	{
		Bytes got(most);
		const ssize_t bytes = read(pipe.ends[0], got.data(), most);
		ASSERT_GT(bytes, 0);
		for (ssize_t i = 0; i < bytes; i++)
			ASSERT_EQ(got[static_cast<size_t>(i)], static_cast<uint8_t>((seen + static_cast<uint64_t>(i)) / size))
				<< "byte " << seen + static_cast<uint64_t>(i);
		seen += static_cast<uint64_t>(bytes);
	}

	const uint64_t size = std::get<uint64_t>(GetParam());
	Pipe pipe;
	PageRing ring;
	Sentence sentence;
	uint64_t seen = 0;
};

TEST_P(PageRingOf, WritesNoPageThatThePipeStillRefersTo)
{
	ASSERT_EQ(ring.make(pipe.ends[1], size, sentence), ICEPATH_OK) << sentence.text();
	constexpr uint64_t kMessages = 200;
	for (uint64_t k = 0; k < kMessages; k++) {
		uint8_t *next = ring.next();
		std::fill_n(next, size, static_cast<uint8_t>(k));
		for (uint64_t in = 0; in < size;) {
			const size_t moved = put(next + in, size - in);
			in += moved;
			// The least that makes room, in pieces that end within pages.
			if (moved == 0) {
				ASSERT_NO_FATAL_FAILURE(expect_next(std::min<size_t>(size, 1000)));
			}
		}
	}
	while (seen < kMessages * size)
		ASSERT_NO_FATAL_FAILURE(expect_next(size));
}

INSTANTIATE_TEST_SUITE_P(Sizes, PageRingOf,
						 testing::Combine(testing::Values(By::Memory, By::File),
										  testing::Values(1u, 64u, 4096u, 5000u, 65536u, 300'001u)),
						 [](const auto &which) {
							 return std::string(std::get<0>(which.param) == By::Memory ? "Memory" : "File") +
									std::to_string(std::get<1>(which.param));
						 });

} // namespace
} // namespace icepath::plugin_kit
