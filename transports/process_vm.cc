// SPDX-License-Identifier: Apache-2.0
// The receiver reads the message out of the sender's memory (process_vm_readv): one copy, made by the kernel. The
// sender announces where it lies over a UNIX socket, which also reports the peer's death, can be waited for in every
// way, and shows the kernel's own time of arrival. An eventfd carries no address.
//
// The sender's buffer is the caller's, which may write to it once send() returns. So send() waits, after its last
// stamp, until the receiver has read: a rendezvous, as in MPI's and UCX's transfers by this call. The receiver confirms
// with a counter in shared memory, and makes a futex call only if the sender sleeps.
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/ring_wait.h"
#include "plugin_kit/shared_mapping.h"

using namespace icepath::plugin_kit;

namespace {

// Written by the receiver of one direction.
struct Receipts {
	SharedBell bell;
	alignas(64) std::atomic<uint32_t> read; // messages, wraps
};

struct Notice {
	uint64_t address, bytes;
};

} // namespace

struct icepath_endpoint : SharedMemoryEnd {
	using SharedMemoryEnd::SharedMemoryEnd;
	~icepath_endpoint() { close_all({socket, epoll}); }
	int socket = -1, epoll = -1;
	pid_t peer = -1;
	Receipts *in = nullptr, *out = nullptr;
	Bell in_bell, out_bell;
	uint32_t sent = 0;
	bool refused = false;

	uint64_t memory_bytes() const { return 2 * sizeof(Receipts); }
	void lay_out(uint8_t *first)
	{
		auto *receipts = reinterpret_cast<Receipts *>(first);
		out = receipts + side;
		in = receipts + 1 - side;
		out_bell.hang(BellMake::Futex, out->bell, -1);
		in_bell.hang(BellMake::Futex, in->bell, -1);
	}
};

namespace {

constexpr uint64_t kLargest = 1024 * kMiB;

// NULL, or why no process may read another's memory here.
const char *reading_refused()
{
	char from = 1, to = 0;
	const iovec local{&to, 1}, remote{&from, 1};
	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != 1)
		return "process_vm_readv is refused: the kernel lacks CONFIG_CROSS_MEMORY_ATTACH, or a seccomp filter forbids "
			   "it";
	// yama_ptrace_access_check: below 2, PR_SET_PTRACER suffices.
	const uint64_t scope = kernel_limit("/proc/sys/kernel/yama/ptrace_scope", 0);
	if (scope == 3)
		return "kernel.yama.ptrace_scope is 3: no process may attach to another until the next boot";
	if (scope == 2 && geteuid() != 0)
		return "kernel.yama.ptrace_scope is 2: sysctl kernel.yama.ptrace_scope=1";
	return nullptr;
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target process_vm = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "process-vm";
		it.summary = "process_vm_readv: the receiver reads the sender's memory; a UNIX socket says where";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
		it.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_SKB_COPY; // of the notice
		it.capabilities = ICEPATH_IS_RENDEZVOUS;
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "icepath's own limit: the call has none";
		it.why_not = reading_refused();
		return it;
	}();
	return n == 0 ? &process_vm : nullptr;
}

// The address: this process's id; from side 0 also memory and socket.
int set_up(icepath_endpoint &end)
{
	const pid_t mine = getpid();
	std::memcpy(end.given.bytes, &mine, sizeof(mine));
	end.given.bytes_used = sizeof(mine);
	if (const int status = set_up_memory(end); status != ICEPATH_OK || end.side == 1)
		return status;
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return end.failed("socketpair");
	end.socket = pair[0];
	end.give(pair[1]);
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address, set_up);
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->side == 0 ? 0 : 2); status != ICEPATH_OK)
		return status;
	if (end->side == 1) {
		end->memory_fd = peer->fds[0];
		end->socket = peer->fds[1];
		if (const int status = map_own_memory(*end); status != ICEPATH_OK)
			return status;
	}
	if (peer->bytes_used != sizeof(end->peer))
		return end->sentence.tell(ICEPATH_FAILED, "process-vm: the peer's address has no process id");
	std::memcpy(&end->peer, peer->bytes, sizeof(end->peer));
	// EINVAL without Yama.
	if (prctl(PR_SET_PTRACER, static_cast<unsigned long>(end->peer), 0, 0, 0) && errno != EINVAL)
		return end->failed("prctl(PR_SET_PTRACER)");
	if (end->wait == ICEPATH_WAIT_EPOLL && (end->epoll = open_epoll(end->socket)) < 0)
		return end->failed("epoll");
	return ICEPATH_OK;
}

int await_receipt(icepath_endpoint *end)
{
	const auto is_read = [end] { return end->out->read.load(std::memory_order_acquire) == end->sent; };
	while (!is_read()) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		if (end->wait == ICEPATH_WAIT_POLL)
			pause_spin();
		else
			end->out_bell.sleep_unless(is_read);
	}
	return ICEPATH_OK;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	const int flags = MSG_NOSIGNAL | (end->wait == ICEPATH_WAIT_POLL ? MSG_DONTWAIT : 0);
	const int status = send_by_calls(*end, *message, "send", [=](const void *data, size_t bytes) -> ssize_t {
		const Notice notice{reinterpret_cast<uintptr_t>(data), bytes};
		return send(end->socket, &notice, sizeof(notice), flags) < 0 ? -1 : static_cast<ssize_t>(bytes);
	});
	if (status != ICEPATH_OK)
		return status;
	end->sent++;
	return await_receipt(end);
}

// Reads the announced number of bytes; 0 at the end of the socket.
ssize_t read_from_peer(icepath_endpoint *end, void *data, size_t bytes, int flags)
{
	Notice notice{};
	if (const ssize_t moved = recv(end->socket, &notice, sizeof(notice), flags); moved <= 0)
		return moved;
	const size_t wanted = std::min<size_t>(bytes, notice.bytes);
	for (size_t got = 0; got < wanted;) {
		const iovec local{static_cast<uint8_t *>(data) + got, wanted - got};
		const iovec remote{reinterpret_cast<void *>(notice.address + got), wanted - got};
		const ssize_t moved = process_vm_readv(end->peer, &local, 1, &remote, 1, 0);
		if (moved <= 0) {
			end->refused = moved < 0 && errno == EPERM;
			return -1;
		}
		got += static_cast<size_t>(moved);
	}
	return static_cast<ssize_t>(wanted);
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	const int flags = end->wait == ICEPATH_WAIT_BLOCK ? 0 : MSG_DONTWAIT;
	const int status =
		recv_by_calls<Boundary::Message>(*end, *message, "process_vm_readv", end->epoll, [=](void *data, size_t bytes) {
			return read_from_peer(end, data, bytes, flags);
		});
	if (end->refused)
		return end->sentence.tell(
			ICEPATH_FAILED,
			"process-vm: this process may not read the memory of process %d (EPERM): it may not be "
			"of the same user, or not dumpable",
			end->peer);
	if (status != ICEPATH_OK)
		return status;
	end->in->read.fetch_add(1, std::memory_order_release);
	if (end->wait != ICEPATH_WAIT_POLL && end->in_bell.is_awaited()) {
		end->in_bell.ring();
		message->take_return_ns = icepath_now_ns(); // the receipt follows the taking, and is a call of its own
	}
	return ICEPATH_OK;
}

uint32_t sockets(const icepath_endpoint *end, int *fds, uint32_t capacity)
{
	return list_sockets({end->socket}, fds, capacity);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("process-vm", target, open_end, connect_end, send_message, recv_message);
		table.sockets = sockets;
		return table;
	}();
	return &plugin;
}
