// SPDX-License-Identifier: Apache-2.0
// The worker as it reads requests: each is answered, or refused with a sentence, and the worker goes on. Plug-in,
// deadline and payload size are forced into their ranges, because a worker trusts icepath in these. No request makes it
// a daemon.
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "profiler/worker/service.h"

namespace {

using namespace icepath;
using worker::Request, worker::RequestKind;

constexpr size_t kMostRequests = 8; // as many as a socket holds with their replies

Request possible(Request request)
{
	if (request.kind == RequestKind::BecomeDaemon)
		request.kind = RequestKind::DescribeDaemon;
	const bool is_plugin = request.plugin[0] % 8 != 0;
	std::memset(request.plugin, 0, sizeof(request.plugin));
	std::strcpy(request.plugin, is_plugin ? NULL_PLUGIN : "/nowhere/icepath-none.so");
	request.open.payload_bytes %= 1u << 16;
	request.block.deadline_ns = request.block.cancel_ns = 0;
	return request;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int memory = [] {
		signal(SIGPIPE, SIG_IGN);
		const int fd = memfd_create("icepath-fuzz", MFD_CLOEXEC);
		if (ftruncate(fd, 1 << 20))
			std::abort();
		return fd;
	}();
	auto [ours, its] = channel::open_pair();
	size_t sent = 0;
	for (; size > 0 && sent < kMostRequests; sent++) {
		Request request{};
		const size_t bytes = std::min(size, sizeof(request));
		std::memcpy(static_cast<void *>(&request), data, bytes);
		data += bytes;
		size -= bytes;
		request = possible(request);
		const std::vector<int> fds(request.index % 3, memory);
		if (!channel::send(ours.get(), &request, sizeof(request), fds))
			std::abort();
	}
	shutdown(ours.get(), SHUT_WR);
	worker::Service(its.get()).run();
	its.reset();
	for (worker::Reply reply{}; sent > 0; sent--) {
		std::vector<Fd> fds;
		if (!channel::receive(ours.get(), &reply, sizeof(reply), fds))
			break; // a request to close
		if (reply.status != worker::ReplyStatus::Done &&
			(reply.message[0] == 0 || strnlen(reply.message, sizeof(reply.message)) == sizeof(reply.message)))
			std::abort();
	}
	return 0;
}
