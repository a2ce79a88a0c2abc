// SPDX-License-Identifier: Apache-2.0
#include "plugin_kit/zerocopy.h"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <boost/interprocess/anonymous_shared_memory.hpp>
#include <vector>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/kernel_limit.h"

namespace icepath::plugin_kit {
namespace {

constexpr uint64_t kMostPerCall = 512 * 1024;
constexpr uint64_t kPoolBytes = 4 * kMiB;
constexpr uint64_t kMostBuffers = 16;
constexpr uint64_t kPage = 4096;

// A call's pinned pages count against RLIMIT_MEMLOCK (mm_account_pinned_pages), together with those of the user's other
// processes. A longer message takes several calls.
uint64_t bytes_per_call()
{
	rlimit limit{};
	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return kMostPerCall;
	return std::clamp<uint64_t>(limit.rlim_cur / 4 / kPage * kPage, kPage, kMostPerCall);
}

} // namespace

struct ZerocopySender::Pool {
	// The kernel numbers a socket's successful calls; those of one buffer are consecutive.
	struct Buffer {
		uint32_t first = 0, calls = 0, completed = 0;
		bool is_free() const { return calls == completed; }
	};

	int socket = -1;
	boost::interprocess::mapped_region memory;
	uint64_t stride = 0;
	std::vector<Buffer> buffers;
	uint32_t next_call = 0;
	uint64_t per_call = kMostPerCall;
	bool datagrams = false; // each sent by one call
	bool copied = false; // according to the last completion
	bool fell_back = false; // to copying, for part of this message

	uint8_t *at(size_t n) { return static_cast<uint8_t *>(memory.get_address()) + n * stride; }

	void complete(uint32_t call)
	{
		for (Buffer &buffer : buffers)
			if (call - buffer.first < buffer.calls)
				buffer.completed++;
	}
	void reap();
	void await(ChannelEnd &end);
	ssize_t send(Buffer &buffer, const void *data, size_t bytes, int flags);
};

void ZerocopySender::Pool::reap()
{
	for (;;) {
		alignas(cmsghdr) char control[128];
		msghdr message{};
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		if (recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return;
		for (cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
			if (head->cmsg_level != SOL_IP || head->cmsg_type != IP_RECVERR)
				continue;
			sock_extended_err completion{};
			std::memcpy(&completion, CMSG_DATA(head), sizeof(completion));
			if (completion.ee_origin != SO_EE_ORIGIN_ZEROCOPY)
				continue;
			copied = (completion.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0;
			// One completion covers a range of calls, both ends included; the numbers wrap.
			for (uint32_t call = completion.ee_info;; call++) {
				complete(call);
				if (call == completion.ee_data)
					break;
			}
		}
	}
}

// Waits for a completion or a signal; a poller only looks.
void ZerocopySender::Pool::await(ChannelEnd &end)
{
	if (end.wait != ICEPATH_WAIT_POLL) {
		pollfd error_queue{socket, 0, 0}; // POLLERR is always reported
		poll(&error_queue, 1, -1);
	}
	reap();
}

ssize_t ZerocopySender::Pool::send(Buffer &buffer, const void *data, size_t bytes, int flags)
{
	const ssize_t moved =
		::send(socket, data, datagrams ? bytes : std::min<size_t>(bytes, per_call), flags | MSG_ZEROCOPY);
	if (moved >= 0) {
		buffer.calls++;
		next_call++;
	} else if (errno == ENOBUFS) { // too much is pinned, or too many completions are pending (sock_omalloc)
		fell_back = true; // as the kernel advises
		return ::send(socket, data, bytes, flags);
	}
	return moved;
}

ZerocopySender::ZerocopySender() : pool_(std::make_unique<Pool>()) {}
ZerocopySender::~ZerocopySender() = default;

const char *ZerocopySender::missing()
{
	const int probe = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const int on = 1;
	const bool works = probe >= 0 && setsockopt(probe, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)) == 0;
	close_all({probe});
	return works ? nullptr : "the kernel has no SO_ZEROCOPY for TCP and UDP: Linux 5.0 has";
}

int ZerocopySender::set_up(ChannelEnd &end, int socket)
{
	const int on = 1;
	if (setsockopt(socket, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)))
		return end.failed("setsockopt(SO_ZEROCOPY)");
	int type = 0;
	socklen_t size = sizeof(type);
	if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size))
		return end.failed("getsockopt(SO_TYPE)");
	pool_->socket = socket;
	pool_->datagrams = type == SOCK_DGRAM;
	pool_->per_call = bytes_per_call();
	pool_->stride = (end.payload_bytes + kPage - 1) / kPage * kPage;
	pool_->buffers.resize(std::clamp<uint64_t>(kPoolBytes / pool_->stride, 2, kMostBuffers));
	try {
		// Shared, so that writing again doesn't replace pages that the kernel refers to.
		boost::interprocess::anonymous_shared_memory(pool_->buffers.size() * pool_->stride).swap(pool_->memory);
	} catch (const std::exception &error) {
		return end.sentence.tell(ICEPATH_FAILED, "%s: no memory for messages: %s", end.target, error.what());
	}
	std::memset(pool_->memory.get_address(), 0, pool_->memory.get_size());
	return ICEPATH_OK;
}

int ZerocopySender::send(ChannelEnd &end, icepath_send &message, int flags)
{
	auto &buffers = pool_->buffers;
	auto buffer = std::ranges::find_if(buffers, &Pool::Buffer::is_free);
	for (; buffer == buffers.end(); buffer = std::ranges::find_if(buffers, &Pool::Buffer::is_free)) {
		if (end.is_cancelled())
			return end.end_of_cancelled();
		pool_->await(end);
	}
	*buffer = {pool_->next_call, 0, 0};
	pool_->fell_back = false;
	const void *const given = message.data;
	message.data = std::memcpy(pool_->at(static_cast<size_t>(buffer - buffers.begin())), given, message.bytes);
	const int status = send_by_calls(end, message, "send(MSG_ZEROCOPY)", [&](const void *data, size_t bytes) {
		return pool_->send(*buffer, data, bytes, flags);
	});
	message.data = given;
	pool_->reap();
	// Over UDP about this message; over TCP, which keeps messages until they are acknowledged, about a recent one.
	if (pool_->copied || pool_->fell_back)
		message.flags |= ICEPATH_SEND_COPIED;
	return status;
}

void ZerocopySender::reap() { pool_->reap(); }

} // namespace icepath::plugin_kit
