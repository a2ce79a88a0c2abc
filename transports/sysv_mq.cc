// SPDX-License-Identifier: Apache-2.0
// System V message queues, one for each direction, made by side 0 without a key. A queue lives until it is removed,
// whatever happens to its users: each side removes it on close, and if both are killed, it ends with the run's own IPC
// namespace (profiler/privilege/ipc_namespace.h).
#include <sys/ipc.h>
#include <sys/msg.h>

#include <algorithm>
#include <memory>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

namespace {

// msgsnd and msgrcv need a type before the message (struct msgbuf). The message is copied behind it, as in every
// program whose messages don't begin with one; outside the calls' stamps, unless it goes in parts.
struct Letter {
	long type;
	uint8_t text[];
};
constexpr long kType = 1;
constexpr uint64_t kLargest = 64 * kMiB;

struct FreeLetter {
	void operator()(Letter *letter) const { ::operator delete(letter); }
};
using LetterPointer = std::unique_ptr<Letter, FreeLetter>;

void remove_queue(int id)
{
	if (id >= 0)
		msgctl(id, IPC_RMID, nullptr);
}

} // namespace

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint()
	{
		remove_queue(in);
		remove_queue(out);
	}
	int in = -1, out = -1;
	LetterPointer sent, received;
};

namespace {

const char *queues_missing()
{
	if (msgctl(-1, IPC_STAT, nullptr) < 0 && errno == ENOSYS)
		return "the kernel has no System V IPC (CONFIG_SYSVIPC)";
	return nullptr;
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target queue = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "sysv-mq";
		it.summary = "System V message queues, one for each direction";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL;
		it.capabilities = ICEPATH_CAN_FANIN;
		it.fanin_waits = it.waits;
		it.why_not = queues_missing();
		it.max_part_bytes =
			std::min(kernel_limit("/proc/sys/kernel/msgmax", 8192), kernel_limit("/proc/sys/kernel/msgmnb", 16384));
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "icepath's own limit: what one message of a queue can't carry goes in parts";
		if (!it.why_not && it.max_part_bytes == 0)
			it.why_not = "/proc/sys/kernel/msgmax or msgmnb is 0: raise it";
		return it;
	}();
	return n == 0 ? &queue : nullptr;
}

// A queue's depth is a number of bytes. msgmnb is the default, and lowering it needs no privilege.
int limit_depth(icepath_endpoint &end, int id, uint32_t depth)
{
	msqid_ds state{};
	if (msgctl(id, IPC_STAT, &state))
		return end.failed("msgctl(IPC_STAT)");
	const uint64_t wanted = depth * end.payload_bytes;
	if (depth == 0 || wanted >= state.msg_qbytes)
		return ICEPATH_OK;
	state.msg_qbytes = wanted;
	return msgctl(id, IPC_SET, &state) ? end.failed("msgctl(IPC_SET)") : ICEPATH_OK;
}

int make_queue(icepath_endpoint &end, uint32_t depth, int &id)
{
	id = msgget(IPC_PRIVATE, 0600);
	if (id >= 0)
		return limit_depth(end, id, depth);
	if (errno == ENOSPC)
		return end.sentence.tell(ICEPATH_FAILED,
								 "sysv-mq: this machine has /proc/sys/kernel/msgmni queues already: remove some with "
								 "ipcrm -q, or raise it");
	return end.failed("msgget");
}

int make_letter(icepath_endpoint &end, LetterPointer &letter)
{
	letter.reset(static_cast<Letter *>(::operator new(sizeof(Letter) + end.part_bytes, std::nothrow)));
	if (!letter)
		return end.sentence.tell(ICEPATH_FAILED, "sysv-mq: no memory for a message");
	letter->type = kType;
	std::memset(letter->text, 0, end.part_bytes);
	return ICEPATH_OK;
}

// The address: the maker's outgoing queue, then its incoming one.
int set_up(icepath_endpoint &end, const icepath_open &how)
{
	int status = ICEPATH_OK;
	if (end.sends)
		status = make_letter(end, end.sent);
	if (status == ICEPATH_OK && end.receives)
		status = make_letter(end, end.received);
	if (!end.makes())
		return status;
	if (status == ICEPATH_OK && end.sends)
		status = make_queue(end, how.depth, end.out);
	if (status == ICEPATH_OK && end.receives)
		status = make_queue(end, how.depth, end.in);
	const int ids[2] = {end.out, end.in};
	std::memcpy(end.given.bytes, ids, sizeof(ids));
	end.given.bytes_used = sizeof(ids);
	return status;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address, [=](icepath_endpoint &end) { return set_up(end, *how); });
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK || end->makes())
		return status;
	int ids[2];
	if (peer->bytes_used != sizeof(ids))
		return end->sentence.tell(ICEPATH_FAILED, "sysv-mq: the peer's address isn't two queues");
	std::memcpy(ids, peer->bytes, sizeof(ids));
	end->in = ids[0];
	end->out = ids[1];
	return ICEPATH_OK;
}

// A removed queue's identifier yields EIDRM while a call waits on it, and EINVAL afterwards (ipc_obtain_object_check).
ssize_t with_one_errno(ssize_t moved)
{
	if (moved < 0 && errno == EINVAL)
		errno = EIDRM;
	return moved;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	const int flags = end->wait == ICEPATH_WAIT_POLL ? IPC_NOWAIT : 0;
	Letter *const letter = end->sent.get();
	const void *written = message->data;
	std::memcpy(letter->text, written, end->part_bytes);
	return send_by_calls(*end, *message, "msgsnd", [&](const void *data, size_t bytes) -> ssize_t {
		if (data != written)
			std::memcpy(letter->text, data, bytes);
		written = data;
		return with_one_errno(msgsnd(end->out, letter, bytes, flags) == 0 ? static_cast<ssize_t>(bytes) : -1);
	});
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	const int flags = end->wait == ICEPATH_WAIT_POLL ? IPC_NOWAIT : 0;
	Letter *const letter = end->received.get();
	const int status = recv_by_calls<Boundary::Message>(*end, *message, "msgrcv", -1, [&](void *data, size_t bytes) {
		const ssize_t moved = with_one_errno(msgrcv(end->in, letter, end->part_bytes, kType, flags));
		if (moved > 0 && end->in_parts())
			std::memcpy(data, letter->text, std::min(bytes, static_cast<size_t>(moved)));
		return moved;
	});
	if (status == ICEPATH_OK && !end->in_parts())
		std::memcpy(message->data, letter->text, message->bytes);
	return status;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin =
		plugin_table("sysv-mq", target, open_end, connect_end, send_message, recv_message);
	return &plugin;
}
