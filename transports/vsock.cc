// SPDX-License-Identifier: Apache-2.0
// A stream of AF_VSOCK to this machine itself (VMADDR_CID_LOCAL, Linux 5.6). Side 0 listens on a port that the kernel
// chooses and accepts only the socket that side 1 bound before.
//
// A kernel worker carries sent bytes to the receiver (vsock_loopback_work), not the sender's own call.
#include <sys/socket.h> // vm_sockets.h needs it, and doesn't include it

#include <linux/vm_sockets.h>
#include <poll.h>

#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/socket_channel.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 1024 * kMiB;
constexpr int kAcceptMs = 5000;
constexpr int kBacklog = 8;

sockaddr_vm local(unsigned port)
{
	sockaddr_vm address{};
	address.svm_family = AF_VSOCK;
	address.svm_cid = VMADDR_CID_LOCAL;
	address.svm_port = port;
	return address;
}

// False with errno set.
bool bind_locally(int socket, sockaddr_vm &bound)
{
	bound = local(VMADDR_PORT_ANY);
	socklen_t size = sizeof(bound);
	return bind(socket, reinterpret_cast<const sockaddr *>(&bound), size) == 0 &&
		   getsockname(socket, reinterpret_cast<sockaddr *>(&bound), &size) == 0;
}

// Binding reports at once; connecting would wait for an answer that never comes.
const char *loopback_missing()
{
	const int probe = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (probe < 0)
		return "the kernel has no AF_VSOCK: modprobe vsock vsock_loopback (CONFIG_VSOCKETS)";
	sockaddr_vm unused{};
	const bool works = bind_locally(probe, unused);
	close(probe);
	return works ? nullptr : "the kernel has no vsock loopback: modprobe vsock_loopback (CONFIG_VSOCKETS_LOOPBACK)";
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target vsock = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "vsock";
		it.summary = "AF_VSOCK to this machine itself: a byte stream, framed by the known size";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
		// The function that copies the message out depends on the kernel's version.
		it.mechanisms = ICEPATH_USES_SOCKET | ICEPATH_USES_BYTE_STREAM | ICEPATH_USES_KERNEL_THREAD;
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "icepath's own limit: a byte stream has none";
		it.why_not = loopback_missing();
		return it;
	}();
	return n == 0 ? &vsock : nullptr;
}

int set_up(icepath_endpoint &end)
{
	end.stream = true;
	int &mine = end.side == 0 ? end.listener : end.socket;
	mine = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (mine < 0)
		return end.failed("socket");
	sockaddr_vm bound{};
	if (!bind_locally(mine, bound))
		return end.failed("bind to VMADDR_CID_LOCAL");
	if (end.side == 0 && listen(mine, kBacklog))
		return end.failed("listen");
	std::memcpy(end.given.bytes, &bound.svm_port, sizeof(bound.svm_port));
	end.given.bytes_used = sizeof(bound.svm_port);
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address, set_up);
}

int accept_from(icepath_endpoint *end, unsigned port)
{
	for (;;) {
		pollfd wait{end->listener, POLLIN, 0};
		if (poll(&wait, 1, kAcceptMs) <= 0)
			return end->sentence.tell(ICEPATH_FAILED, "vsock: the peer did not connect");
		sockaddr_vm from{};
		socklen_t size = sizeof(from);
		const int accepted = accept4(end->listener, reinterpret_cast<sockaddr *>(&from), &size, SOCK_CLOEXEC);
		if (accepted >= 0 && from.svm_cid == VMADDR_CID_LOCAL && from.svm_port == port) {
			end->socket = accepted;
			close(end->listener);
			end->listener = -1;
			return ICEPATH_OK;
		}
		close_all({accepted}); // another process
	}
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	unsigned port = 0;
	if (peer->bytes_used != sizeof(port))
		return end->sentence.tell(ICEPATH_FAILED, "vsock: the peer's address isn't a port");
	std::memcpy(&port, peer->bytes, sizeof(port));
	if (end->side == 0) {
		if (const int status = accept_from(end, port); status != ICEPATH_OK)
			return status;
	} else {
		const sockaddr_vm other = local(port);
		if (connect(end->socket, reinterpret_cast<const sockaddr *>(&other), sizeof(other)))
			return end->failed("connect to VMADDR_CID_LOCAL");
	}
	return watch_socket(end);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = socket_table("vsock", target, open_end, connect_end);
	return &plugin;
}
