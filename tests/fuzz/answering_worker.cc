// SPDX-License-Identifier: Apache-2.0
// A worker that answers any request with the replies that the fuzzer has put into shared memory.
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "profiler/channel.h"
#include "tests/fuzz/replies.h"

int main(int, char **argv)
{
	using namespace icepath;
	const int control = std::atoi(argv[2]), memory = std::atoi(std::getenv(fuzz::kRepliesVariable));
	const auto *replies =
		static_cast<fuzz::Replies *>(mmap(nullptr, sizeof(fuzz::Replies), PROT_READ, MAP_SHARED, memory, 0));
	if (replies == MAP_FAILED)
		return 1;
	uint32_t side = 0;
	uint8_t *stamps = nullptr; // this side's, in the cell's memory
	worker::Request request{};
	for (std::vector<Fd> received; channel::receive(control, &request, sizeof(request), received); received.clear()) {
		std::vector<int> fds;
		if (request.kind == worker::RequestKind::Open) {
			side = request.open.side;
			struct stat file{};
			if (fstat(received.at(0).get(), &file) == 0 &&
				static_cast<uint64_t>(file.st_size) >= worker::cell_memory_bytes(fuzz::kRoom, 1))
				stamps = static_cast<uint8_t *>(mmap(nullptr, worker::cell_memory_bytes(fuzz::kRoom, 1),
													 PROT_READ | PROT_WRITE, MAP_SHARED, received[0].get(), 0)) +
						 worker::stamps_offset(fuzz::kRoom, 0, side);
		}
		if (request.kind == worker::RequestKind::Open || request.kind == worker::RequestKind::Connect)
			fds.assign(std::min<size_t>(replies->fds, channel::kMaxFds), memory);
		if (request.kind == worker::RequestKind::RunBlock && stamps)
			std::memcpy(stamps, replies->stamps.data(), replies->stamps.size());
		channel::send(control, &replies->of_side[side], sizeof(worker::Reply), fds);
	}
	return 0;
}
