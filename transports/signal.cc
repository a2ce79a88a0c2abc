// SPDX-License-Identifier: Apache-2.0
// A real-time signal for each message, whose payload is the signal's value (sigqueue(3)). Real-time signals are queued
// in order, and refused with EAGAIN at RLIMIT_SIGPENDING: none is lost (__send_signal_locked). They are sent to a
// pidfd, so never to a stranger that got the peer's process id. Between two threads of one process, either of which
// could take a process-wide signal, they are sent to the thread of the other end.
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <csignal>

#include "plugin_kit/byte_transfer.h"
#include "plugin_kit/channel_end.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

namespace {

// The process and thread of an endpoint.
struct Place {
	pid_t process = -1, thread = -1;
};

} // namespace

struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	Place peer{};
	siginfo_t letter{}; // only the value changes between messages
	DeathWatch watch;
};

namespace {

// All programs of a user share one limit of pending signals: a channel uses only part of it, or a flood would make
// timers and signals of unrelated programs fail.
constexpr uint32_t kDefaultDepth = 512;
// Nothing notifies a refused sender of room.
constexpr long kRoomPauseNs = 50'000;

int message_signal() { return SIGRTMIN + 5; }

sigset_t message_signals()
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, message_signal());
	return set;
}

const char *pidfds_missing()
{
	const int self = own_pidfd();
	const bool works = self >= 0 && syscall(SYS_pidfd_send_signal, self, 0, nullptr, 0) == 0;
	close_all({self});
	return works ? nullptr : "the kernel has no pidfds (Linux 5.3)";
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target signal = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "signal";
		it.summary = "real-time signals, each with up to 8 bytes as its value; taken by sigwaitinfo";
		it.waits = ICEPATH_WAIT_BLOCK | ICEPATH_WAIT_POLL;
		it.max_payload_bytes = sizeof(sigval);
		it.max_payload_why = "a signal carries one union sigval";
		it.why_not = pidfds_missing();
		return it;
	}();
	return n == 0 ? &signal : nullptr;
}

// Pending signals of all of this user's processes.
uint64_t pending_now()
{
	FILE *status = std::fopen("/proc/self/status", "re");
	unsigned long long pending = 0;
	char line[256];
	while (status && std::fgets(line, sizeof(line), status))
		if (std::sscanf(line, "SigQ: %llu/", &pending) == 1)
			break;
	if (status)
		std::fclose(status);
	return pending;
}

// The receiver's limit applies (__sigqueue_alloc).
int limit_depth(icepath_endpoint &end, uint32_t depth)
{
	rlimit limit{};
	if (getrlimit(RLIMIT_SIGPENDING, &limit))
		return end.failed("getrlimit(RLIMIT_SIGPENDING)");
	limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, pending_now() + (depth ? depth : kDefaultDepth));
	return setrlimit(RLIMIT_SIGPENDING, &limit) ? end.failed("setrlimit(RLIMIT_SIGPENDING)") : ICEPATH_OK;
}

// Blocked, so that it stays pending until taken; later threads inherit that. In a thread that doesn't block it, the
// signal would end the process: a handler is the lesser evil, because it only loses the message.
int set_up(icepath_endpoint &end, uint32_t depth)
{
	struct sigaction nothing{};
	nothing.sa_handler = [](int) {};
	const sigset_t set = message_signals();
	if (sigaction(message_signal(), &nothing, nullptr) || sigprocmask(SIG_BLOCK, &set, nullptr))
		return end.failed("blocking a signal");
	end.letter.si_signo = message_signal();
	end.letter.si_code = SI_QUEUE;
	end.letter.si_pid = getpid();
	end.letter.si_uid = getuid();
	const Place mine{getpid(), gettid()};
	std::memcpy(end.given.bytes, &mine, sizeof(mine));
	end.given.bytes_used = sizeof(mine);
	return end.receives ? limit_depth(end, depth) : ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_endpoint(how, *target(0), endpoint, address,
						 [=](icepath_endpoint &end) { return set_up(end, how->depth); });
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	if (peer->bytes_used != sizeof(end->peer))
		return end->sentence.tell(ICEPATH_FAILED, "signal: the peer's address isn't a process and its thread");
	std::memcpy(&end->peer, peer->bytes, sizeof(end->peer));
	return ICEPATH_OK;
}

long send_signal(icepath_endpoint *end, siginfo_t &info)
{
	if (end->peer.process == getpid())
		return syscall(SYS_rt_tgsigqueueinfo, end->peer.process, end->peer.thread, info.si_signo, &info);
	return syscall(SYS_pidfd_send_signal, end->peer_pidfds.front(), info.si_signo, &info, 0);
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	siginfo_t &info = end->letter;
	std::memcpy(&info.si_value, message->data, end->payload_bytes);
	bool full = false;
	const int status = send_by_calls(*end, *message, "sending a signal", [&](const void *, size_t bytes) -> ssize_t {
		if (full && end->wait == ICEPATH_WAIT_BLOCK) {
			const timespec pause{0, kRoomPauseNs};
			nanosleep(&pause, nullptr);
		}
		if (send_signal(end, info) == 0)
			return static_cast<ssize_t>(bytes);
		full = errno == EAGAIN;
		return -1;
	});
	return status == ICEPATH_OK ? end->watch.look(*end, message->return_ns) : status;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	const sigset_t set = message_signals();
	const timespec now{};
	const timespec *const limit = end->wait == ICEPATH_WAIT_POLL ? &now : nullptr;
	siginfo_t info{};
	const int status =
		recv_by_calls<Boundary::Message>(*end, *message, "sigtimedwait", -1, [&](void *, size_t) -> ssize_t {
			if (sigtimedwait(&set, &info, limit) < 0)
				return -1;
			if (info.si_code == SI_QUEUE && info.si_pid == end->peer.process)
				return static_cast<ssize_t>(end->payload_bytes);
			errno = EAGAIN; // not from the peer
			return -1;
		});
	if (status == ICEPATH_OK)
		std::memcpy(message->data, &info.si_value, end->payload_bytes);
	return status;
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin =
		plugin_table("signal", target, open_end, connect_end, send_message, recv_message);
	return &plugin;
}
