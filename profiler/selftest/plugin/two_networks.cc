// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/plugin/two_networks.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "profiler/selftest/plugin/netlink.h"

namespace icepath::selftest {
namespace {

constexpr uint32_t kFirst = 0x0a4d0001, kSecond = 0x0a4d0002; // 10.77.0.1 and 2, in networks that nobody else sees
constexpr uint16_t kPort = 7001, kSinkPort = 7002;
// On the device, after headers of Ethernet, IPv4 and UDP.
constexpr uint32_t kIpBytes = 20 + 8, kEthernetBytes = 14;
// After sending one filling, the queue is empty and has no tokens left.
constexpr uint32_t kMtu = kFillingBytes + kIpBytes, kBurst = kMtu + kEthernetBytes;

struct Made {
	char failed[64]; // the failed step; empty: made
	int error;
};

bool write_file(const char *path, const std::string &text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	const bool written = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
	const int error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return written;
}

bool enter_user_namespace()
{
	const std::string user = std::to_string(geteuid()), group = std::to_string(getegid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0 &&
		   write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/uid_map", user + " " + user + " 1") &&
		   write_file("/proc/self/gid_map", group + " " + group + " 1");
}

sockaddr_in at(uint32_t address, uint16_t port)
{
	sockaddr_in it{};
	it.sin_family = AF_INET;
	it.sin_addr.s_addr = htonl(address);
	it.sin_port = htons(port);
	return it;
}

// -1 with errno set. Port 0: no port of its own, but connected to `peer`.
int udp_socket(uint16_t port, uint16_t peer)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const sockaddr_in address = port ? at(kSecond, port) : at(kSecond, peer);
	const auto *general = reinterpret_cast<const sockaddr *>(&address);
	if (fd >= 0 && (port ? bind(fd, general, sizeof(address)) : connect(fd, general, sizeof(address))) == 0)
		return fd;
	close(fd);
	return -1;
}

// In a child. Returns the failed step, or NULL.
const char *make(uint64_t wait_ns, std::array<int, 4> &sockets)
{
	constexpr uint64_t kBytes = kDatagramBytes + kIpBytes + kEthernetBytes;
	if (!enter_user_namespace())
		return "namespaces of a user and a network";
	const int first = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (first < 0 || unshare(CLONE_NEWNET))
		return "a second network namespace";
	if (!make_veth("second", "first", first, kMtu))
		return "a pair of virtual Ethernet devices (veth)";
	if (!raise_with_address("second", kSecond))
		return "an address";
	sockets[2] = udp_socket(kPort, 0);
	sockets[3] = udp_socket(kSinkPort, 0);
	if (setns(first, CLONE_NEWNET))
		return "the first network namespace again";
	if (!limit_queue("first", static_cast<uint32_t>(kBytes * 1'000'000'000 / wait_ns), kBurst))
		return "a queue with a token bucket (sch_tbf)";
	if (!raise_with_address("first", kFirst))
		return "an address";
	sockets[0] = udp_socket(0, kPort);
	sockets[1] = udp_socket(0, kSinkPort);
	for (const int socket : sockets)
		if (socket < 0)
			return "UDP sockets";
	return nullptr;
}

// A message with descriptors, or without them if `made` reports a failure.
struct Letter {
	Made made{};
	alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
	iovec text{&made, sizeof(made)};
	msghdr head{};
	Letter()
	{
		head.msg_iov = &text;
		head.msg_iovlen = 1;
		head.msg_control = control.data();
		head.msg_controllen = control.size();
	}
};

[[noreturn]] void make_and_send(uint64_t wait_ns, int socket)
{
	std::array<int, 4> sockets{-1, -1, -1, -1};
	Letter letter;
	if (const char *failed = make(wait_ns, sockets)) {
		letter.made.error = errno;
		std::strncpy(letter.made.failed, failed, sizeof(letter.made.failed) - 1);
		letter.head.msg_controllen = 0;
	} else {
		cmsghdr *control = CMSG_FIRSTHDR(&letter.head);
		control->cmsg_level = SOL_SOCKET;
		control->cmsg_type = SCM_RIGHTS;
		control->cmsg_len = CMSG_LEN(sizeof(sockets));
		std::memcpy(CMSG_DATA(control), sockets.data(), sizeof(sockets));
	}
	sendmsg(socket, &letter.head, MSG_NOSIGNAL);
	_exit(0);
}

} // namespace

TwoNetworks make_two_networks(uint64_t wait_ns)
{
	TwoNetworks networks;
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		networks.why_not = std::string("socketpair: ") + std::strerror(errno);
		return networks;
	}
	const pid_t child = fork(); // only a single-threaded process can enter a user namespace
	if (child == 0)
		make_and_send(wait_ns, pair[1]);
	close(pair[1]);
	Letter letter;
	const ssize_t got = child < 0 ? -1 : recvmsg(pair[0], &letter.head, MSG_CMSG_CLOEXEC);
	const cmsghdr *control = CMSG_FIRSTHDR(&letter.head);
	if (got == sizeof(Made) && letter.made.failed[0] == 0 && control &&
		control->cmsg_len == CMSG_LEN(4 * sizeof(int))) {
		std::array<int, 4> sockets;
		std::memcpy(sockets.data(), CMSG_DATA(control), sizeof(sockets));
		networks = {sockets[0], sockets[1], sockets[2], sockets[3], ""};
	} else {
		networks.why_not = got == sizeof(Made) ? std::string(letter.made.failed) +
													 " can't be had here: " + std::strerror(letter.made.error)
											   : "two network namespaces can't be made here";
	}
	close(pair[0]);
	if (child > 0)
		waitpid(child, nullptr, 0);
	return networks;
}

} // namespace icepath::selftest
