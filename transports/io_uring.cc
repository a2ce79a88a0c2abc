// SPDX-License-Identifier: Apache-2.0
// Stream sockets through io_uring, one request for each send and each receive: plain, zero-copy, with registered
// buffers, and with a kernel thread that submits.
//
// A zero-copy send occupies its buffer until the notification, which over TCP comes with the acknowledgement: in a
// ping-pong, with the answer. A program with a single buffer would wait for that and call it latency, so there are
// several here, and a sender waits only when all are used up. The caller's message is copied into one before the call;
// a program that builds messages in place saves that copy. Whether the kernel copied is known for messages whose
// notifications came during the send.
//
// A send through the kernel thread ends once that thread has sent: then the caller may change its buffer.
#include <sys/mman.h>

#include <array>

#include "plugin_kit/plugin_table.h"
#include "plugin_kit/uring_socket.h"

using namespace icepath::plugin_kit;

namespace {

enum class Way : uint8_t { Plain, ZeroCopy, Fixed, SqThread };

struct Kind {
	icepath_target target;
	Way way;
	bool tcp;
};

constexpr unsigned kReportUsage = 1u << 3; // IORING_SEND_ZC_REPORT_USAGE, Linux 6.2; liburing 2.3 doesn't name it
constexpr int kRegistered = 0; // the index of a ring's registered memory
// Registered buffers count against RLIMIT_MEMLOCK, together with those of the user's other processes.
constexpr uint64_t kFixedBytes = 64 * 1024;
constexpr uint64_t kZeroCopyBytes = 256 * 1024;
constexpr unsigned kZeroCopyBuffers = 8;

} // namespace

struct icepath_endpoint : UringSocketEnd {
	using UringSocketEnd::UringSocketEnd;
	~icepath_endpoint()
	{
		if (send_buffer)
			munmap(send_buffer, send_buffers() * part_bytes);
		if (receive_buffer)
			munmap(receive_buffer, part_bytes);
	}
	const Kind *kind = nullptr;
	unsigned send_buffers() const { return kind->way == Way::ZeroCopy ? kZeroCopyBuffers : 1; }
	uint8_t *send_buffer = nullptr, *receive_buffer = nullptr; // registered with `out` and `in`
};

namespace {

const char *zero_copy_missing()
{
	if (const char *why = uring_missing())
		return why;
	// Without a socket, the request fails with EBADF; an unknown flag fails earlier with EINVAL (io_send_zc_prep).
	Uring ring;
	if (ring.open())
		return "io_uring_setup fails here";
	io_uring_prep_send_zc(ring.request(), -1, nullptr, 0, 0, kReportUsage);
	if (!ring.submit(true) || !ring.has_completion() || ring.take().res != -EBADF)
		return "send_zc can't report what it copied: Linux 6.2 can";
	return nullptr;
}

constexpr uint32_t kKinds = 5;

const Kind *kinds()
{
	static const auto all = [] {
		std::array<Kind, kKinds> kinds{};
		kinds[0] = {uring_socket_target("io-uring/uds", "send and recv through io_uring on a UNIX stream socket"),
					Way::Plain, false};
		kinds[1] = {uring_socket_target("io-uring/tcp", "send and recv through io_uring on TCP over loopback"),
					Way::Plain, true};
		kinds[2] = {uring_socket_target("io-uring/tcp-send-zc",
										"io_uring's zero-copy send on TCP; the kernel tells whether it copied"),
					Way::ZeroCopy, true};
		kinds[3] = {
			uring_socket_target("io-uring/fixed", "registered buffers: write_fixed, read_fixed on a UNIX socket"),
			Way::Fixed, false};
		kinds[4] = {uring_socket_target("io-uring/sqpoll", "a kernel thread that polls submits the sends; UNIX socket"),
					Way::SqThread, false};
		for (Kind &kind : kinds)
			if (kind.tcp) {
				kind.target.mechanisms |= ICEPATH_USES_NETDEV;
				if (!kind.target.why_not)
					kind.target.why_not = loopback_missing();
			}
		if (!kinds[2].target.why_not)
			kinds[2].target.why_not = zero_copy_missing();
		kinds[2].target.max_part_bytes = kZeroCopyBytes;
		kinds[3].target.max_part_bytes = kFixedBytes;
		// read_fixed has no IORING_RECVSEND_POLL_FIRST: it would take a message before the readiness wait.
		kinds[3].target.waits &= ~static_cast<uint32_t>(ICEPATH_WAIT_EPOLL);
		return kinds;
	}();
	return all.data();
}

const icepath_target *target(uint32_t n) { return n < kKinds ? &kinds()[n].target : nullptr; }

void prepare_send(icepath_endpoint *end, io_uring_sqe *request, const void *data, size_t bytes, unsigned buffer)
{
	if (end->kind->way == Way::Plain || end->kind->way == Way::SqThread)
		return io_uring_prep_send(request, end->socket, data, bytes, MSG_NOSIGNAL);
	uint8_t *copy = end->send_buffer + buffer * end->part_bytes;
	std::memcpy(copy, data, bytes);
	if (end->kind->way == Way::ZeroCopy)
		io_uring_prep_send_zc_fixed(request, end->socket, copy, bytes, MSG_NOSIGNAL, kReportUsage, kRegistered);
	else
		io_uring_prep_write_fixed(request, end->socket, copy, static_cast<unsigned>(bytes), 0, kRegistered);
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	return end->send_by_requests(*message, end->send_buffers(),
								 [=](io_uring_sqe *request, const void *data, size_t bytes, unsigned buffer) {
									 prepare_send(end, request, data, bytes, buffer);
								 });
}

void prepare_receive(icepath_endpoint *end, io_uring_sqe *request, void *data, size_t bytes)
{
	if (end->kind->way == Way::Fixed) {
		io_uring_prep_read_fixed(request, end->socket, end->receive_buffer,
								 static_cast<unsigned>(std::min(bytes, end->part_bytes)), 0, kRegistered);
		return;
	}
	io_uring_prep_recv(request, end->socket, data, bytes, 0);
	if (end->wait == ICEPATH_WAIT_EPOLL)
		request->ioprio |= IORING_RECVSEND_POLL_FIRST;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	while (message->bytes < end->payload_bytes) {
		uint8_t *next = static_cast<uint8_t *>(message->data) + message->bytes;
		io_uring_sqe *request = end->in.request();
		prepare_receive(end, request, next, end->payload_bytes - message->bytes);
		io_uring_sqe_set_data64(request, end->kReceiving);
		if (const int status = end->await(*message); status != ICEPATH_OK) {
			end->in.withdraw(end->kReceiving);
			return status;
		}
		const int moved = end->in.take().res;
		if (moved == 0)
			return end->sentence.tell(ICEPATH_CLOSED, "the other end of %s is closed (recv: end of file)", end->target);
		if (moved < 0) {
			if (const int status = judge(*end, -moved, "recv"); status != ICEPATH_OK)
				return status;
			continue;
		}
		if (end->kind->way == Way::Fixed)
			std::memcpy(next, end->receive_buffer, static_cast<size_t>(moved));
		message->bytes += static_cast<uint64_t>(moved);
	}
	return ICEPATH_OK;
}

int register_memory(icepath_endpoint *end, Uring &ring, uint64_t bytes, uint8_t *&mapped)
{
	void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		return end->failed("mmap");
	mapped = static_cast<uint8_t *>(memory);
	const iovec all{memory, bytes};
	if ((errno = -io_uring_register_buffers(ring.raw(), &all, 1)) != 0)
		return end->failed("registering buffers (they count to RLIMIT_MEMLOCK, ulimit -l)");
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	for (const Kind *kind = kinds(); kind < kinds() + kKinds; kind++)
		if (std::strcmp(kind->target.name, how->target) == 0)
			return open_endpoint(how, kind->target, endpoint, address, [=](icepath_endpoint &end) {
				end.kind = kind;
				return kind->tcp ? set_up_tcp(end) : set_up_pair(end);
			});
	*endpoint = nullptr;
	return open_error().tell(ICEPATH_UNSUPPORTED, "icepath-io-uring.so has no target %.31s", how->target);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->kind->tcp ? connect_tcp(end, peer) : connect_pair(end, peer); status != ICEPATH_OK)
		return status;
	const bool by_thread = end->kind->way == Way::SqThread;
	if (const int status = end->open_rings(by_thread ? Uring::Submission::BySqThread : Uring::Submission::ByCall);
		status != ICEPATH_OK)
		return status;
	const bool has_buffers = end->kind->way == Way::Fixed || end->kind->way == Way::ZeroCopy;
	int status = ICEPATH_OK;
	if (has_buffers && end->sends)
		status = register_memory(end, end->out, end->send_buffers() * end->part_bytes, end->send_buffer);
	if (status == ICEPATH_OK && end->kind->way == Way::Fixed && end->receives)
		status = register_memory(end, end->in, end->part_bytes, end->receive_buffer);
	return status;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("io-uring", target, open_end, connect_end, send_message, recv_message);
		table.sockets = [](const icepath_endpoint *end, int *fds, uint32_t capacity) {
			return list_sockets({end->socket}, fds, capacity);
		};
		return table;
	}();
	return &plugin;
}
