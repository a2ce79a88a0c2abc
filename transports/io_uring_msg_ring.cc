// SPDX-License-Identifier: Apache-2.0
// IORING_OP_MSG_RING: posts a completion to the ring of another process. The payload lies in a slot of shared memory
// that the completion names. Each direction has its own slots.
//
// Since Linux 6.7 (and in its older stable kernels) a ring's descriptor can't be sent over a socket; each side takes
// the other's out of its process with pidfd_getfd.
//
// Which thread posts the completion depends on the kernel. Since Linux 6.10, task work of the receiver's ring does
// (io_msg_data_remote), in a call that the receiver makes. Before that, no call is needed: 6.1 posts it in the sender's
// call (io_msg_ring_data), the versions between by task work that interrupts the receiver (io_msg_exec_remote). So a
// completion that no call of the receiver brought is seen in the memory of its ring, and stamped as such: `observe_ns`.
//
// A sender that finds all slots full sleeps on its own sending ring, and the receiver posts a completion there once it
// has emptied a slot. No wake is lost, by the argument in plugin_kit/ring_wait.h: either the sender sees the emptied
// slot, or the receiver sees that the sender sleeps.
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <bit>

#include "plugin_kit/kernel_limit.h"
#include "plugin_kit/plugin_table.h"
#include "plugin_kit/shared_mapping.h"
#include "plugin_kit/uring_end.h"

using namespace icepath::plugin_kit;

namespace {

struct Slots {
	alignas(64) std::atomic<uint32_t> taken;
	alignas(64) std::atomic<uint32_t> sender_sleeps;
	// The slots follow.
	uint8_t *slot(uint32_t message, uint32_t slots, uint64_t slot_bytes)
	{
		return reinterpret_cast<uint8_t *>(this + 1) + (message & (slots - 1)) * slot_bytes;
	}
};
static_assert(sizeof(Slots) == 128 && std::atomic<uint32_t>::is_always_lock_free);

// Descriptors in the process that the address comes from; -1: it has no such ring.
struct RingFds {
	int in, out;
};

constexpr uint64_t kLargest = 64 * kMiB;
constexpr uint64_t kLargestSlots = 2 * kLargest;
constexpr uint32_t kDefaultSlots = 16;
constexpr uint32_t kMostSlots = 128; // the ring of completions has more entries, so none overflows
constexpr uint64_t kSent = 1, kRoom = 2; // the meaning of a completion on the sending ring

} // namespace

struct icepath_endpoint : UringEnd {
	using UringEnd::UringEnd;
	~icepath_endpoint() { close_all({memory_fd, peer_in, peer_out}); }
	boost::interprocess::mapped_region memory;
	int memory_fd = -1;
	int peer_in = -1, peer_out = -1; // rings
	Slots *inbox = nullptr, *outbox = nullptr;
	uint32_t slots = 0;
	uint64_t slot_bytes = 0;
	uint32_t sent = 0; // messages; wraps
	Read read;

	uint64_t memory_bytes() const { return 2 * (sizeof(Slots) + slots * slot_bytes); }
	void lay_out(uint8_t *first)
	{
		auto *second = first + memory_bytes() / 2;
		outbox = reinterpret_cast<Slots *>(side == 0 ? first : second);
		inbox = reinterpret_cast<Slots *>(side == 0 ? second : first);
	}
};

namespace {

int take_fd(int pidfd, int fd) { return static_cast<int>(syscall(SYS_pidfd_getfd, pidfd, fd, 0)); }

const char *msg_ring_missing()
{
	if (const char *why = uring_missing())
		return why;
	const int self = own_pidfd();
	const int copy = take_fd(self, self);
	close_all({self, copy});
	return copy >= 0 ? nullptr : "pidfd_getfd is refused, by a container's seccomp filter or a kernel before 5.6";
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target msg_ring = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "io-uring/msg-ring";
		it.summary = "one ring posts a completion to the other's; payload in slots of shared memory";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL | ICEPATH_WAIT_EPOLL;
		it.mechanisms = ICEPATH_USES_MAPPED_QUEUE; // the slot is published by the kernel's completion, not by a store
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "icepath's own limit: there are at least two slots of the payload's size";
		it.why_not = msg_ring_missing();
		return it;
	}();
	return n == 0 ? &msg_ring : nullptr;
}

// Posts a completion that carries `what` to a ring of the peer. `done.res` is the result.
int post(icepath_endpoint *end, int ring, uint64_t what, icepath_send &stamps, io_uring_cqe &done)
{
	io_uring_sqe *request = end->out.request();
	io_uring_prep_msg_ring(request, ring, 0, what, 0);
	io_uring_sqe_set_data64(request, kSent);
	bool went_well = end->out.submit(false);
	stamps.call_ns = end->out.call_ns;
	for (;;) {
		if (!went_well)
			return end->failed("io_uring_enter");
		stamps.return_ns = end->out.return_ns;
		while (end->out.has_completion()) {
			done = end->out.take();
			if (done.user_data == kSent)
				return ICEPATH_OK; // otherwise it announces room, which is looked for in memory
		}
		if (end->is_cancelled())
			return end->end_of_cancelled();
		// Some kernels leave it to a worker thread if the other ring is in use at that moment (io_msg_ring).
		if (end->wait != ICEPATH_WAIT_POLL)
			went_well = end->out.submit(true);
		else if (end->out.has_work())
			went_well = end->out.do_work();
		else
			pause_spin();
	}
}

// Sleeps until a slot was emptied, or a signal or a spurious wake-up comes.
bool sleep_for_room(icepath_endpoint *end, Slots &box, uint32_t seen)
{
	bool went_well = true;
	box.sender_sleeps.store(1, std::memory_order_relaxed);
	std::atomic_thread_fence(std::memory_order_seq_cst);
	if (box.taken.load(std::memory_order_relaxed) == seen)
		went_well = end->out.submit(true);
	box.sender_sleeps.store(0, std::memory_order_relaxed);
	while (end->out.has_completion())
		end->out.take();
	return went_well;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	Slots &box = *end->outbox;
	message->call_ns = message->publish_ns = message->return_ns = 0;
	message->attempts = 0;
	message->flags = 0;
	for (;;) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		message->attempts++;
		const uint32_t taken = box.taken.load(std::memory_order_acquire);
		if (end->sent - taken < end->slots)
			break;
		if (end->wait == ICEPATH_WAIT_POLL)
			pause_spin();
		else if (!sleep_for_room(end, box, taken))
			return end->failed("io_uring_enter");
	}
	std::memcpy(box.slot(end->sent, end->slots, end->slot_bytes), message->data, end->payload_bytes);
	io_uring_cqe done{};
	if (const int status = post(end, end->peer_in, end->sent, *message, done); status != ICEPATH_OK)
		return status;
	if (done.res == -EOWNERDEAD || done.res == -EBADFD)
		return end->sentence.tell(ICEPATH_CLOSED, "the ring at the other end of %s is gone", end->target);
	if ((errno = -std::min(done.res, 0)) != 0)
		return end->failed("msg_ring");
	end->sent++;
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	const bool was_there = end->in.has_completion();
	if (const int status = was_there ? ICEPATH_OK : end->await(*message); status != ICEPATH_OK)
		return status;
	if (end->in.came_with_call()) {
		if (!was_there)
			end->read.keep(*message);
		end->read.report(*message);
	} else {
		message->observe_ns = icepath_now_ns();
		message->take_call_ns = message->take_return_ns = 0; // the call brought no message
		message->attempts = std::max(message->attempts, 1u);
	}
	const auto which = static_cast<uint32_t>(end->in.take().user_data);
	Slots &box = *end->inbox;
	std::memcpy(message->data, box.slot(which, end->slots, end->slot_bytes), end->payload_bytes);
	message->bytes = end->payload_bytes;
	box.taken.store(which + 1, std::memory_order_release);
	std::atomic_thread_fence(std::memory_order_seq_cst);
	if (!box.sender_sleeps.load(std::memory_order_relaxed))
		return ICEPATH_OK;
	icepath_send unused{};
	io_uring_cqe done{}; // a dead sender needs no room
	return post(end, end->peer_out, kRoom, unused, done);
}

void choose_geometry(icepath_endpoint &end, uint32_t depth)
{
	end.slot_bytes = (end.payload_bytes + 63) / 64 * 64;
	const uint64_t fitting = std::bit_floor(std::max<uint64_t>(2, kLargestSlots / end.slot_bytes));
	const uint32_t wanted = std::bit_ceil(depth ? std::min(depth, kMostSlots) : kDefaultSlots);
	end.slots = static_cast<uint32_t>(std::min<uint64_t>(wanted, fitting));
}

int set_up(icepath_endpoint &end, uint32_t depth)
{
	choose_geometry(end, depth);
	int status = end.open_out(Uring::Submission::ByCall); // a receiver posts too: room
	if (status == ICEPATH_OK && end.receives)
		status = end.open_in();
	if (status != ICEPATH_OK)
		return status;
	// Yama may keep processes from tracing their siblings (ptrace_scope 1): this allows it. Without Yama: EINVAL.
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	const RingFds fds{end.receives ? end.in.fd() : -1, end.out.fd()};
	std::memcpy(end.given.bytes, &fds, sizeof(fds));
	end.given.bytes_used = sizeof(fds);
	return set_up_memory(end);
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address,
						 [=](icepath_endpoint &end) { return set_up(end, how->depth); });
}

int take_ring(icepath_endpoint *end, int fd, int &ring)
{
	ring = take_fd(end->peer_pidfds.front(), fd);
	return ring >= 0 ? static_cast<int>(ICEPATH_OK)
					 : end->failed("pidfd_getfd of the peer's ring (needs the right to ptrace it)");
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	RingFds theirs{};
	if (peer->bytes_used != sizeof(theirs))
		return end->sentence.tell(ICEPATH_FAILED, "%s: the peer's address doesn't name its rings", end->target);
	std::memcpy(&theirs, peer->bytes, sizeof(theirs));
	int status = connect_memory(end, peer);
	if (status == ICEPATH_OK && end->sends)
		status = take_ring(end, theirs.in, end->peer_in);
	if (status == ICEPATH_OK && end->receives)
		status = take_ring(end, theirs.out, end->peer_out);
	return status;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin =
		plugin_table("io-uring-msg-ring", target, open_end, connect_end, send_message, recv_message);
	return &plugin;
}
