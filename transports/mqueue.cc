// SPDX-License-Identifier: Apache-2.0
// POSIX message queues, one for each direction, made by side 0 or by a fan-in's receiver. A queue's descriptor is a
// file descriptor (mq_overview(7)), so it can be passed to the peer, and the name lives only from mq_open to mq_unlink.
#include <fcntl.h>
#include <mqueue.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/fresh_name.h"
#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

using PartBuffer = std::unique_ptr<char[]>;

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() { close_all({in, out}); }
	mqd_t in = -1, out = -1;
	// mq_receive needs room for the queue's largest message, even if the last part is shorter.
	PartBuffer last_part;
};

namespace {

// Charged to RLIMIT_MSGQUEUE besides the message's bytes: a msg_msg and a node of its tree (mqueue_get_inode).
constexpr uint64_t kChargePerMessage = 128;
// The default of fs.mqueue.msg_max.
constexpr uint32_t kDefaultDepth = 10;
constexpr uint64_t kLargest = 64 * kMiB;

const char *queues_missing()
{
	if (mq_open("/icepath-no-such-queue", O_RDONLY) < 0 && errno == ENOSYS)
		return "the kernel has no POSIX message queues (CONFIG_POSIX_MQUEUE)";
	return nullptr;
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target mqueue = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "mqueue";
		it.summary = "POSIX message queues, one for each direction";
		it.mechanisms = ICEPATH_USES_MESSAGE_QUEUE;
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL;
		it.capabilities = ICEPATH_CAN_FANIN;
		it.fanin_waits = it.waits;
		it.why_not = queues_missing();
		const uint64_t largest = kernel_limit("/proc/sys/fs/mqueue/msgsize_max", 8192);
		rlimit limit{};
		getrlimit(RLIMIT_MSGQUEUE, &limit);
		// A channel has up to two queues, each of one message at least.
		const uint64_t half = limit.rlim_cur / 2;
		const uint64_t allowed = half > kChargePerMessage ? half - kChargePerMessage : 0;
		it.max_part_bytes = std::min(largest, allowed);
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "icepath's own limit: what one message of a queue can't carry goes in parts";
		if (!it.why_not && allowed == 0)
			it.why_not = "RLIMIT_MSGQUEUE leaves no room for a queue: raise it with ulimit -q";
		return it;
	}();
	return n == 0 ? &mqueue : nullptr;
}

// RLIMIT_MSGQUEUE counts all queues of the user, so other channels leave less: then a shallower queue must do.
int make_queue(icepath_endpoint &end, const char *channel, long depth, mqd_t &queue)
{
	const std::string name = "/" + fresh_name(channel);
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | (end.wait == ICEPATH_WAIT_POLL ? O_NONBLOCK : 0);
	mq_attr attributes{};
	attributes.mq_msgsize = static_cast<long>(end.part_bytes);
	for (attributes.mq_maxmsg = depth; attributes.mq_maxmsg > 0; attributes.mq_maxmsg /= 2) {
		queue = mq_open(name.c_str(), flags, 0600, &attributes);
		if (queue >= 0) {
			mq_unlink(name.c_str());
			const int theirs = fcntl(queue, F_DUPFD_CLOEXEC, 0);
			if (theirs < 0)
				return end.failed("fcntl(F_DUPFD_CLOEXEC)");
			end.give(theirs);
			return ICEPATH_OK;
		}
		if (errno != EMFILE) // beyond RLIMIT_MSGQUEUE
			return end.failed("mq_open");
	}
	return end.sentence.tell(
		ICEPATH_FAILED,
		"mqueue: RLIMIT_MSGQUEUE has no room for another queue with messages of %llu bytes: raise it "
		"with ulimit -q, or measure fewer at once",
		static_cast<unsigned long long>(end.part_bytes));
}

int set_up(icepath_endpoint &end, const icepath_open &how)
{
	// A closed loop has one message in flight: a deeper queue would only use up the limit.
	const uint32_t wanted = how.depth ? how.depth : end.sends && end.receives && !end.in_parts() ? 1 : kDefaultDepth;
	const uint64_t deepest = kernel_limit("/proc/sys/fs/mqueue/msg_max", kDefaultDepth);
	const long depth = static_cast<long>(std::min<uint64_t>(wanted, deepest));
	if (end.in_parts() && end.receives && !(end.last_part = PartBuffer(new (std::nothrow) char[end.part_bytes])))
		return end.sentence.tell(ICEPATH_FAILED, "mqueue: no memory for a part");
	int status = ICEPATH_OK;
	if (end.makes() && end.sends)
		status = make_queue(end, how.name, depth, end.out);
	if (status == ICEPATH_OK && end.makes() && end.receives)
		status = make_queue(end, how.name, depth, end.in);
	return status;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address, [=](icepath_endpoint &end) { return set_up(end, *how); });
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->makes() ? 0 : end->receives + end->sends); status != ICEPATH_OK)
		return status;
	uint32_t used = 0;
	if (!end->makes() && end->receives)
		end->in = peer->fds[used++];
	if (!end->makes() && end->sends)
		end->out = peer->fds[used++];
	return ICEPATH_OK;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	return send_by_calls(*end, *message, "mq_send", [queue = end->out](const void *data, size_t bytes) -> ssize_t {
		return mq_send(queue, static_cast<const char *>(data), bytes, 0) == 0 ? static_cast<ssize_t>(bytes) : -1;
	});
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	return recv_by_calls<Boundary::Message>(*end, *message, "mq_receive", -1, [end](void *data, size_t bytes) {
		char *into = bytes < end->part_bytes ? end->last_part.get() : static_cast<char *>(data);
		const ssize_t moved = mq_receive(end->in, into, end->part_bytes, nullptr);
		if (moved > 0 && into != data)
			std::memcpy(data, into, std::min(bytes, static_cast<size_t>(moved)));
		return moved;
	});
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin =
		plugin_table("mqueue", target, open_end, connect_end, send_message, recv_message);
	return &plugin;
}
