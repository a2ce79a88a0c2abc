// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/sockets_watch.h"

#include <dirent.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "profiler/worker/kernel_counts.h"

namespace icepath::worker {
namespace {

// uapi/asm-generic/socket.h; Debian 12's libc doesn't have them all.
constexpr int kSoMeminfo = 55, kSoBufLock = 72;

std::optional<int> option(int socket, int level, int name)
{
	int value = 0;
	socklen_t size = sizeof(value);
	return getsockopt(socket, level, name, &value, &size) == 0 ? std::optional(value) : std::nullopt;
}

std::optional<uint64_t> inode_of(int fd)
{
	struct stat status{};
	return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) ? std::optional<uint64_t>(status.st_ino) : std::nullopt;
}

bool is_of_internet(const model::SocketGroup &group) { return group.domain == AF_INET || group.domain == AF_INET6; }

bool is_tcp(const model::SocketGroup &group)
{
	return is_of_internet(group) && group.type == SOCK_STREAM &&
		   (group.protocol == IPPROTO_TCP || group.protocol == IPPROTO_MPTCP);
}

// sk_get_meminfo()
uint64_t dropped_at(int socket)
{
	std::array<uint32_t, SK_MEMINFO_VARS> memory{};
	socklen_t size = sizeof(memory);
	return getsockopt(socket, SOL_SOCKET, kSoMeminfo, memory.data(), &size) == 0 ? memory[SK_MEMINFO_DROPS] : 0;
}

uint64_t retransmitted_by(int socket)
{
	tcp_info info{};
	socklen_t size = sizeof(info);
	return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_total_retrans : 0;
}

// Nothing: it isn't one that carries messages.
std::optional<model::SocketGroup> options_of(int socket)
{
	const auto domain = option(socket, SOL_SOCKET, SO_DOMAIN), type = option(socket, SOL_SOCKET, SO_TYPE);
	if (!domain || !type || *domain == AF_NETLINK || option(socket, SOL_SOCKET, SO_ACCEPTCONN).value_or(0) != 0)
		return std::nullopt;
	const auto bytes = [&](int name) {
		const auto size = static_cast<uint64_t>(std::max(0, option(socket, SOL_SOCKET, name).value_or(0)));
		return model::BufferSizes{size, size};
	};
	model::SocketGroup group;
	group.domain = static_cast<uint32_t>(*domain);
	group.type = static_cast<uint32_t>(*type);
	group.protocol = static_cast<uint32_t>(option(socket, SOL_SOCKET, SO_PROTOCOL).value_or(0));
	group.count = 1;
	group.send_buffer = bytes(SO_SNDBUF);
	group.receive_buffer = bytes(SO_RCVBUF);
	group.buffers_set = static_cast<uint32_t>(option(socket, SOL_SOCKET, kSoBufLock).value_or(0)) &
						(model::kSendBufferSet | model::kReceiveBufferSet);
	if (is_tcp(group)) {
		group.no_delay = option(socket, IPPROTO_TCP, TCP_NODELAY).value_or(0) != 0;
		socklen_t size = group.congestion.size();
		if (getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, group.congestion.data(), &size) != 0)
			group.congestion.fill(0);
	}
	return group;
}

uint64_t mtu_of_loopback(int socket)
{
	ifreq request{};
	std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
	return ioctl(socket, SIOCGIFMTU, &request) == 0 && request.ifr_mtu > 0 ? static_cast<uint64_t>(request.ifr_mtu) : 0;
}

} // namespace

SocketsWatch::SocketsWatch(const std::vector<int> &controls)
{
	for (const int control : controls)
		if (const auto inode = inode_of(control))
			left_out_.insert(*inode);
}

void SocketsWatch::add(int socket, uint64_t inode, SocketsReply &reply)
{
	auto group = options_of(socket);
	if (!group)
		return;
	const Counted counted{dropped_at(socket), is_tcp(*group) ? retransmitted_by(socket) : 0};
	now_[inode] = counted;
	const auto before = before_.find(inode);
	const auto since = [&](uint64_t Counted::*count) {
		return counted.*count - std::min(counted.*count, before == before_.end() ? 0 : before->second.*count);
	};
	group->dropped = since(&Counted::dropped);
	group->retransmitted = since(&Counted::retransmitted);
	if (is_of_internet(*group) && reply.has_counts == 0) {
		reply.has_counts = 1;
		reply.loopback_mtu = mtu_of_loopback(socket);
	}
	const auto groups = reply.groups.begin(), end = groups + reply.groups_used;
	const auto alike = std::find_if(groups, end, [&](const auto &one) { return one.is_alike(*group); });
	if (alike != end) {
		alike->count++;
		alike->send_buffer.add(group->send_buffer);
		alike->receive_buffer.add(group->receive_buffer);
		alike->dropped += group->dropped;
		alike->retransmitted += group->retransmitted;
	} else if (reply.groups_used < reply.groups.size()) {
		reply.groups[reply.groups_used++] = *group;
	}
}

SocketsReply SocketsWatch::look()
{
	SocketsReply reply{};
	const std::unique_ptr<DIR, int (*)(DIR *)> folder(opendir("/proc/self/fd"), closedir);
	now_.clear();
	std::set<uint64_t> seen; // a socket may have several descriptors
	for (const dirent *entry = nullptr; folder && (entry = readdir(folder.get()));) {
		int fd = -1;
		const std::string_view name = entry->d_name;
		if (std::from_chars(name.data(), name.data() + name.size(), fd).ec != std::errc() || fd == dirfd(folder.get()))
			continue;
		if (const auto inode = inode_of(fd); inode && !left_out_.contains(*inode) && seen.insert(*inode).second)
			add(fd, *inode, reply);
	}
	before_ = now_;
	if (reply.has_counts != 0)
		reply.counts = kernel_counts();
	return reply;
}

} // namespace icepath::worker
