// SPDX-License-Identifier: Apache-2.0
// A UNIX stream socket through io_uring with one lasting receive request: the kernel picks buffers from a ring of them
// for incoming bytes, and posts a completion for each buffer that it filled.
//
// One call may bring several messages, and a buffer may hold the end of one and the beginning of the next. Later
// messages in a read carry the stamps of the call that brought them.
#include <sys/mman.h>

#include "plugin_kit/plugin_table.h"
#include "plugin_kit/uring_socket.h"

using namespace icepath::plugin_kit;

namespace {

constexpr unsigned kBuffers = 16;
constexpr int kGroup = 0;
constexpr uint64_t kLeastBytes = 4096, kMostBytes = 65536; // of one buffer

} // namespace

struct icepath_endpoint : UringSocketEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: UringSocketEnd(how, what), buffer_bytes(std::clamp(payload_bytes, kLeastBytes, kMostBytes))
	{}
	~icepath_endpoint()
	{
		if (is_posted)
			in.withdraw(kReceiving); // before its buffers go
		if (ring)
			munmap(ring, kBuffers * sizeof(io_uring_buf));
		if (buffers)
			munmap(buffers, kBuffers * buffer_bytes);
	}
	uint8_t *buffer(unsigned id) const { return buffers + id * buffer_bytes; }

	uint64_t buffer_bytes;
	io_uring_buf_ring *ring = nullptr;
	uint8_t *buffers = nullptr;
	bool is_posted = false; // the receive request
	Read read;
	// The unread part of the last buffer.
	unsigned current = 0;
	uint64_t offset = 0, unread = 0;
};

namespace {

const icepath_target *target(uint32_t n)
{
	static const icepath_target multishot = uring_socket_target(
		"io-uring/multishot", "one receive request that stays, with a ring of provided buffers; UNIX stream socket");
	return n == 0 ? &multishot : nullptr;
}

void post(icepath_endpoint *end)
{
	io_uring_sqe *request = end->in.request();
	io_uring_prep_recv_multishot(request, end->socket, nullptr, 0, 0);
	io_uring_sqe_set_flags(request, IOSQE_BUFFER_SELECT);
	request->buf_group = kGroup;
	if (end->wait == ICEPATH_WAIT_EPOLL)
		request->ioprio |= IORING_RECVSEND_POLL_FIRST;
	io_uring_sqe_set_data64(request, end->kReceiving);
	end->is_posted = true;
}

void provide(icepath_endpoint *end, unsigned id)
{
	io_uring_buf_ring_add(end->ring, end->buffer(id), static_cast<unsigned>(end->buffer_bytes),
						  static_cast<unsigned short>(id), io_uring_buf_ring_mask(kBuffers), 0);
	io_uring_buf_ring_advance(end->ring, 1);
}

// Makes the next filled buffer the current one.
int next_buffer(icepath_endpoint *end, icepath_recv *message)
{
	if (!end->in.has_completion()) {
		if (!end->is_posted)
			post(end);
		if (const int status = end->await(*message); status != ICEPATH_OK)
			return status;
		end->read.keep(*message);
	}
	const io_uring_cqe done = end->in.take();
	end->is_posted = (done.flags & IORING_CQE_F_MORE) != 0;
	if (done.res == 0)
		return end->sentence.tell(ICEPATH_CLOSED, "the other end of %s is closed (recv: end of file)", end->target);
	if (done.res < 0)
		return judge(*end, -done.res, "recv"); // ENOBUFS: all were filled, and are free again by now
	end->current = done.flags >> IORING_CQE_BUFFER_SHIFT;
	end->offset = 0;
	end->unread = static_cast<uint64_t>(done.res);
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	if (end->is_cancelled())
		return end->end_of_cancelled();
	while (message->bytes < end->payload_bytes) {
		while (end->unread == 0)
			if (const int status = next_buffer(end, message); status != ICEPATH_OK)
				return status;
		const uint64_t bytes = std::min(end->unread, end->payload_bytes - message->bytes);
		std::memcpy(static_cast<uint8_t *>(message->data) + message->bytes, end->buffer(end->current) + end->offset,
					bytes);
		message->bytes += bytes;
		end->offset += bytes;
		end->unread -= bytes;
		if (end->unread == 0)
			provide(end, end->current);
	}
	end->read.report(*message);
	return ICEPATH_OK;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	return end->send_by_requests(*message, 1, [=](io_uring_sqe *request, const void *data, size_t bytes, unsigned) {
		io_uring_prep_send(request, end->socket, data, bytes, MSG_NOSIGNAL);
	});
}

int provide_buffers(icepath_endpoint *end)
{
	const auto map = [](uint64_t bytes) {
		void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		return memory == MAP_FAILED ? nullptr : memory;
	};
	end->ring = static_cast<io_uring_buf_ring *>(map(kBuffers * sizeof(io_uring_buf)));
	end->buffers = static_cast<uint8_t *>(map(kBuffers * end->buffer_bytes));
	if (!end->ring || !end->buffers)
		return end->failed("mmap");
	io_uring_buf_reg how{};
	how.ring_addr = reinterpret_cast<uint64_t>(end->ring);
	how.ring_entries = kBuffers;
	how.bgid = kGroup;
	io_uring_buf_ring_init(end->ring);
	for (unsigned id = 0; id < kBuffers; id++)
		provide(end, id);
	if ((errno = -io_uring_register_buf_ring(end->in.raw(), &how, 0)) != 0)
		return end->failed("registering the ring of buffers");
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address, set_up_pair<icepath_endpoint>);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	int status = connect_pair(end, peer);
	if (status == ICEPATH_OK)
		status = end->open_rings(Uring::Submission::ByCall);
	if (status == ICEPATH_OK && end->receives)
		status = provide_buffers(end);
	return status;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table =
			plugin_table("io-uring-multishot", target, open_end, connect_end, send_message, recv_message);
		table.sockets = [](const icepath_endpoint *end, int *fds, uint32_t capacity) {
			return list_sockets({end->socket}, fds, capacity);
		};
		return table;
	}();
	return &plugin;
}
