// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sockets of a cell's processes, as the kernel granted them, and what the kernel counted of them and of their
// network namespace in a block. Plain data, as a worker reports it and the run directory stores it.
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace icepath::model {

// Lowest and highest of several values, in bytes.
struct BufferSizes {
	uint64_t low = 0, high = 0;

	void add(const BufferSizes &more);
	friend bool operator==(const BufferSizes &, const BufferSizes &) = default;
};

// Who chose a socket's buffers (SO_BUF_LOCK, Linux 5.14). TCP changes the size of those that the program didn't set.
inline constexpr uint32_t kSendBufferSet = 1, kReceiveBufferSet = 2;

// The sockets of one process that differ in nothing but the sizes of their buffers. Those that listen aren't in it, nor
// those by which icepath controls its workers.
struct SocketGroup {
	uint32_t side = 0; // the first one of the process
	uint32_t domain = 0, type = 0, protocol = 0; // of socket(2)
	uint32_t count = 0;
	BufferSizes send_buffer, receive_buffer; // as the kernel counts: setsockopt(2) asks for half of it
	uint32_t buffers_set = 0; // kSendBufferSet | kReceiveBufferSet
	uint32_t no_delay = 0; // 1: TCP_NODELAY; TCP only
	std::array<char, 16> congestion{}; // of TCP only: "cubic"
	// Since the look before: packets that the kernel dropped at the sockets (SK_MEMINFO_DROPS), segments that it sent
	// again (tcpi_total_retrans).
	uint64_t dropped = 0, retransmitted = 0;

	bool is_alike(const SocketGroup &other) const; // in all but count, sizes of buffers, and what was counted
	std::string congestion_name() const; // empty: it has none
};

std::string socket_name(const SocketGroup &group); // "TCP", "UDP over IPv6", "UNIX stream", "domain 40 type 1"

inline constexpr uint64_t kNotCounted = UINT64_MAX; // this kernel has no such counter

// Counters of a network namespace, and one of the whole machine (backlog_dropped), as differences over a block. What
// others do in that namespace is in them.
struct KernelCounts {
	uint64_t udp_receive_buffer_full = kNotCounted, udp_send_buffer_full = kNotCounted, udp_no_memory = kNotCounted,
			 udp_no_socket = kNotCounted, fragments_not_joined = kNotCounted, tcp_sent_again = kNotCounted,
			 tcp_timeouts = kNotCounted, tcp_backlog_dropped = kNotCounted, tcp_receive_queue_dropped = kNotCounted,
			 tcp_zero_windows = kNotCounted, loopback_dropped = kNotCounted, backlog_dropped = kNotCounted;
};

// Keys in the run directory and in run.json, and what the number is of.
struct KernelCountField {
	const char *key;
	uint64_t KernelCounts::*count;
	const char *words;
};
inline constexpr KernelCountField kKernelCountFields[] = {
	{"udp_receive_buffer_full", &KernelCounts::udp_receive_buffer_full, "datagrams dropped at full receive buffers"},
	{"udp_send_buffer_full", &KernelCounts::udp_send_buffer_full, "datagrams not sent for want of a buffer"},
	{"udp_no_memory", &KernelCounts::udp_no_memory, "datagrams dropped beyond UDP's memory"},
	{"udp_no_socket", &KernelCounts::udp_no_socket, "datagrams to ports without a socket"},
	{"fragments_not_joined", &KernelCounts::fragments_not_joined, "datagrams whose fragments weren't joined"},
	{"tcp_sent_again", &KernelCounts::tcp_sent_again, "TCP segments sent again"},
	{"tcp_timeouts", &KernelCounts::tcp_timeouts, "TCP retransmission timeouts"},
	{"tcp_backlog_dropped", &KernelCounts::tcp_backlog_dropped, "TCP segments dropped at a socket's backlog"},
	{"tcp_receive_queue_dropped", &KernelCounts::tcp_receive_queue_dropped,
	 "TCP segments dropped at full receive queues"},
	{"tcp_zero_windows", &KernelCounts::tcp_zero_windows, "times that TCP's receive window closed"},
	{"loopback_dropped", &KernelCounts::loopback_dropped, "packets dropped by the loopback device"},
	{"backlog_dropped", &KernelCounts::backlog_dropped, "packets dropped at CPUs' backlogs, in the whole machine"},
};
static_assert(std::size(kKernelCountFields) * sizeof(uint64_t) == sizeof(KernelCounts), "each field has its name");

KernelCounts counts_between(const KernelCounts &begin, const KernelCounts &end);
// Without what can't be true.
KernelCounts believable(KernelCounts counts);
void add_counts(const KernelCounts &more, KernelCounts &sum);

// What was seen of a cell's sockets after a block.
struct BlockSockets {
	std::vector<SocketGroup> groups;
	// Nothing: no process has a socket of the Internet's protocols, or other cells were measured beside.
	std::optional<KernelCounts> counts;
	uint64_t loopback_mtu = 0; // bytes, of the device lo in that namespace; 0: not known

	uint64_t dropped() const; // at all sockets
	uint64_t retransmitted() const;
};

// Bounds of what can be true.
inline constexpr uint64_t kMostBufferBytes = uint64_t{1} << 40;
inline constexpr uint64_t kMostMtu = UINT32_MAX;
inline constexpr size_t kMostSocketGroups = 16; // of one process
inline constexpr uint32_t kMostSockets = 1u << 20;
bool can_be_true(const SocketGroup &group);

} // namespace icepath::model
