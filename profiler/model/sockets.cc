// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/sockets.h"

#include <fmt/format.h>
#include <netinet/in.h>

#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "profiler/model/counters.h"

namespace icepath::model {

void BufferSizes::add(const BufferSizes &more)
{
	low = std::min(low, more.low);
	high = std::max(high, more.high);
}

bool SocketGroup::is_alike(const SocketGroup &other) const
{
	return side == other.side && domain == other.domain && type == other.type && protocol == other.protocol &&
		   buffers_set == other.buffers_set && no_delay == other.no_delay && congestion == other.congestion;
}

std::string SocketGroup::congestion_name() const
{
	return {congestion.data(), strnlen(congestion.data(), congestion.size())};
}

namespace {

std::string internet_name(const SocketGroup &group)
{
	switch (group.protocol) {
	case IPPROTO_TCP:
		return "TCP";
	case IPPROTO_UDP:
		return "UDP";
	case IPPROTO_SCTP:
		return "SCTP";
	case IPPROTO_MPTCP:
		return "MPTCP";
	default:
		return fmt::format("protocol {}", group.protocol);
	}
}

} // namespace

std::string socket_name(const SocketGroup &group)
{
	switch (group.domain) {
	case AF_INET:
		return internet_name(group);
	case AF_INET6:
		return internet_name(group) + " over IPv6";
	case AF_UNIX:
		return group.type == SOCK_STREAM  ? "UNIX stream"
			   : group.type == SOCK_DGRAM ? "UNIX datagram"
										  : "UNIX seqpacket";
	case AF_VSOCK:
		return "vsock";
	case AF_TIPC:
		return "TIPC";
	default:
		return fmt::format("domain {} type {}", group.domain, group.type);
	}
}

KernelCounts counts_between(const KernelCounts &begin, const KernelCounts &end)
{
	KernelCounts between;
	for (const KernelCountField &field : kKernelCountFields)
		if (begin.*field.count != kNotCounted && end.*field.count != kNotCounted)
			between.*field.count = end.*field.count - std::min(begin.*field.count, end.*field.count);
	return between;
}

KernelCounts believable(KernelCounts counts)
{
	for (const KernelCountField &field : kKernelCountFields)
		if (counts.*field.count > kMostCounted)
			counts.*field.count = kNotCounted;
	return counts;
}

void add_counts(const KernelCounts &more, KernelCounts &sum)
{
	for (const KernelCountField &field : kKernelCountFields)
		if (more.*field.count != kNotCounted)
			sum.*field.count = (sum.*field.count == kNotCounted ? 0 : sum.*field.count) + more.*field.count;
}

uint64_t BlockSockets::dropped() const
{
	uint64_t sum = 0;
	for (const SocketGroup &group : groups)
		sum += group.dropped;
	return sum;
}

uint64_t BlockSockets::retransmitted() const
{
	uint64_t sum = 0;
	for (const SocketGroup &group : groups)
		sum += group.retransmitted;
	return sum;
}

bool can_be_true(const SocketGroup &group)
{
	const auto are_sizes = [](const BufferSizes &sizes) {
		return sizes.low <= sizes.high && sizes.high <= kMostBufferBytes;
	};
	const auto is_of_name = [](char c) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
	};
	return group.count > 0 && group.count <= kMostSockets && are_sizes(group.send_buffer) &&
		   are_sizes(group.receive_buffer) && group.buffers_set <= (kSendBufferSet | kReceiveBufferSet) &&
		   group.no_delay <= 1 && std::ranges::all_of(group.congestion_name(), is_of_name) &&
		   group.dropped <= kMostCounted && group.retransmitted <= kMostCounted;
}

} // namespace icepath::model
