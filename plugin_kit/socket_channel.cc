// SPDX-License-Identifier: Apache-2.0
#include "plugin_kit/socket_channel.h"

#include <sys/socket.h>

#include <utility>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/many_sockets.h"
#include "plugin_kit/plugin_table.h"

namespace icepath::plugin_kit {
namespace {

constexpr auto kHeadBytes = static_cast<ssize_t>(sizeof(PartHead));

int sender_of(const icepath_endpoint *end) { return end->sender >= 0 ? end->sender : end->socket; }

ssize_t send_part(icepath_endpoint *end, const icepath_send &message, const void *data, size_t bytes, int flags)
{
	const auto offset =
		static_cast<uint64_t>(static_cast<const uint8_t *>(data) - static_cast<const uint8_t *>(message.data));
	PartHead head{end->messages_sent, static_cast<uint32_t>(offset / end->part_bytes)};
	iovec pieces[2] = {{&head, sizeof(head)}, {const_cast<void *>(data), bytes}};
	msghdr both{};
	both.msg_iov = pieces;
	both.msg_iovlen = 2;
	const ssize_t moved = sendmsg(sender_of(end), &both, flags);
	return moved < 0 ? moved : moved - kHeadBytes;
}

ssize_t recv_part(icepath_endpoint *end, icepath_recv &message, void *data, size_t bytes, int flags)
{
	PartHead head{};
	// If the rest of a message is lost, the next message's first part comes instead, and may be longer than that rest.
	iovec pieces[3] = {{&head, sizeof(head)}, {data, bytes}, {end->overhang.data(), end->overhang.size() - bytes}};
	msghdr all{};
	all.msg_iov = pieces;
	all.msg_iovlen = 3;
	const ssize_t moved = recvmsg(end->socket, &all, flags);
	if (moved < 0)
		return moved;
	const PartOrder::Verdict verdict = moved < kHeadBytes ? PartOrder::Verdict::Stray : end->order.judge(head);
	if (verdict == PartOrder::Verdict::Stray) {
		message.bytes = 0;
		errno = EAGAIN;
		return -1;
	}
	if (verdict == PartOrder::Verdict::First && message.bytes != 0) {
		const auto part = static_cast<size_t>(moved - kHeadBytes), fitting = std::min(bytes, part);
		std::memmove(message.data, data, fitting);
		std::memcpy(static_cast<uint8_t *>(message.data) + fitting, end->overhang.data(),
					std::min(part, end->overhang.size()) - fitting);
		message.bytes = 0;
	}
	return moved - kHeadBytes;
}

int send_whole_or_parts(icepath_endpoint *end, icepath_send *message)
{
	// Only messages are awaited with epoll: for room, a sender that may sleep does so in the call.
	const int flags = MSG_NOSIGNAL | (end->wait == ICEPATH_WAIT_POLL ? MSG_DONTWAIT : 0);
	if (end->heads && end->in_parts()) {
		end->messages_sent++;
		return send_by_calls(*end, *message, "sendmsg", [=](const void *data, size_t bytes) {
			return send_part(end, *message, data, bytes, flags);
		});
	}
	return send_by_calls(*end, *message, "send", [=, socket = sender_of(end)](const void *data, size_t bytes) {
		return send(socket, data, bytes, flags);
	});
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	const int status = send_whole_or_parts(end, message);
	return status == ICEPATH_OK && end->deaf ? end->watch.look(*end, message->return_ns) : status;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (end->many)
		return end->many->recv(*end, *message, end->stream);
	const int may_wait = end->wait == ICEPATH_WAIT_BLOCK ? 0 : MSG_DONTWAIT;
	const int socket = end->socket;
	if (end->stream)
		return recv_by_calls<Boundary::Stream>(*end, *message, "recv", end->epoll, [=](void *data, size_t bytes) {
			return recv(socket, data, bytes, may_wait);
		});
	if (end->heads && end->in_parts())
		return recv_by_calls<Boundary::Message>(*end, *message, "recvmsg", end->epoll, [=](void *data, size_t bytes) {
			return recv_part(end, *message, data, std::min(bytes, end->part_bytes), may_wait | MSG_TRUNC);
		});
	return recv_by_calls<Boundary::Message>(*end, *message, "recv", end->epoll, [=](void *data, size_t bytes) {
		return recv(socket, data, bytes, may_wait | MSG_TRUNC);
	});
}

uint32_t sockets(const icepath_endpoint *end, int *fds, uint32_t capacity)
{
	uint32_t listed = list_sockets({end->socket, end->sender}, fds, capacity);
	if (end->many)
		for (const int socket : end->many->sockets())
			listed += list_sockets({socket}, fds + listed, capacity - listed);
	return listed;
}

} // namespace

int watch_socket(icepath_endpoint *end)
{
	if (end->wait == ICEPATH_WAIT_EPOLL && end->epoll < 0 && (end->epoll = open_epoll(end->socket)) < 0)
		return end->failed("epoll");
	return ICEPATH_OK;
}

int watch_one_of_many(icepath_endpoint *end)
{
	if (!end->many)
		end->many = std::make_shared<ManySockets>();
	if (!end->many->add(std::exchange(end->socket, -1), end->wait))
		return end->failed("epoll");
	return ICEPATH_OK;
}

icepath_plugin socket_table(const char *name, decltype(icepath_plugin::target) target,
							decltype(icepath_plugin::open) open, decltype(icepath_plugin::connect) connect)
{
	icepath_plugin table = plugin_table(name, target, open, connect, send_message, recv_message);
	table.sockets = sockets;
	return table;
}

} // namespace icepath::plugin_kit
