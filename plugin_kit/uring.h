// SPDX-License-Identifier: Apache-2.0
#pragma once
// One io_uring of one direction of one endpoint, and how an interface of requests and completions maps to the stamps of
// include/icepath/plugin.h.
//
// IORING_SETUP_DEFER_TASKRUN (Linux 6.1) makes the map exact. Task work retries a request that has to wait, and with
// this flag it runs only in an io_uring_enter of the ring's own thread that asks for completions: not in another system
// call, not out of an interrupt. So a message is copied to its receiver inside a call that the receiver makes and
// stamps, as with recv(2), and the time before that call is what it is elsewhere: `queue` while the receiver does
// something else, `propagation` while it looks at the ring, `wakeup` while it sleeps. io_uring's authors advise it.
//
//  - block  one io_uring_enter submits the request, sleeps, and does the work once woken: take_call, take_return.
//  - poll   the request is submitted, then the ring's flags are read in user space. They announce task work
//           (IORING_SETUP_TASKRUN_FLAG); the io_uring_enter that does it is the taking call. A message that was already
//           there comes with the call that submits the request.
//  - epoll  a ring of this mode never wakes those who poll its descriptor; an eventfd registered with it is signalled
//           when there is task work. epoll_wait on it is the readiness wait, and the taking call does the work.
//
// Each direction has its own ring: otherwise the sending call would do receive work, outside the receiver's stamps.
// A ring belongs to the thread that opened it (IORING_SETUP_SINGLE_ISSUER).
#include <liburing.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "icepath/plugin.h"

namespace icepath::plugin_kit {

class Uring {
public:
	enum class Submission { ByCall, BySqThread };

	Uring() = default;
	~Uring()
	{
		if (is_open_)
			io_uring_queue_exit(&ring_);
		if (event_ >= 0)
			::close(event_);
	}
	Uring(const Uring &) = delete;
	Uring &operator=(const Uring &) = delete;

	// 0 or -errno.
	int open(Submission submission = Submission::ByCall)
	{
		io_uring_params how{};
		how.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_CQSIZE;
		how.cq_entries = kCompletions;
		if (submission == Submission::BySqThread) {
			how.flags |= IORING_SETUP_SQPOLL;
			how.sq_thread_idle = kSqThreadIdleMs;
		} else {
			how.flags |= IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
		}
		const int status = io_uring_queue_init_params(kRequests, &ring_, &how);
		if (status)
			return status;
		is_open_ = true;
		has_thread_ = submission == Submission::BySqThread;
		io_uring_register_ring_fd(&ring_); // saves a look-up per call; optional
		return 0;
	}

	io_uring *raw() { return &ring_; }
	int fd() const { return ring_.ring_fd; }
	bool has_thread() const { return has_thread_; } // a kernel thread submits and completes without a call

	// If so, submitting takes a system call, which wakes it.
	bool thread_sleeps() const
	{
		return (__atomic_load_n(ring_.sq.kflags, __ATOMIC_ACQUIRE) & IORING_SQ_NEED_WAKEUP) != 0;
	}

	// A request to fill in; `id` comes back with its completions. Never NULL: few are ever in flight.
	io_uring_sqe *request() { return io_uring_get_sqe(&ring_); }
	bool is_submitted() const { return io_uring_sq_ready(&ring_) == 0; }

	bool has_completion() const { return io_uring_cq_ready(&ring_) != 0; }
	// Reads user-space memory only.
	bool has_work() const
	{
		return has_completion() ||
			   (__atomic_load_n(ring_.sq.kflags, __ATOMIC_ACQUIRE) & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
	}
	// Only if there is one.
	io_uring_cqe take()
	{
		io_uring_cqe *first = nullptr;
		io_uring_peek_cqe(&ring_, &first);
		const io_uring_cqe copy = *first;
		io_uring_cqe_seen(&ring_, first);
		brought_ -= brought_ != 0;
		return copy;
	}
	// Whether the completion that take() returns was there when the last call returned. Otherwise it came later.
	bool came_with_call() const { return brought_ != 0; }

	// The calls. False with errno set on a lasting failure; EINTR counts as success that completed nothing. `wait`:
	// sleeps until there is a completion.
	bool submit(bool wait)
	{
		call_ns = icepath_now_ns();
		return is_back(wait ? io_uring_submit_and_wait(&ring_, 1) : io_uring_submit(&ring_));
	}
	bool do_work()
	{
		call_ns = icepath_now_ns();
		return is_back(io_uring_get_events(&ring_));
	}
	uint64_t call_ns = 0, return_ns = 0; // of the last call

	// Afterwards the caller owns the request and its buffer again. A completion that came meanwhile is dropped.
	void withdraw(uint64_t id)
	{
		io_uring_sqe *cancel = request();
		io_uring_prep_cancel64(cancel, id, 0);
		io_uring_sqe_set_data64(cancel, kWithdrawal);
		for (bool request_ended = false, cancel_ended = false; !request_ended || !cancel_ended;) {
			if (!has_completion() && !submit(true))
				return;
			if (!has_completion())
				continue;
			const io_uring_cqe done = take();
			cancel_ended |= done.user_data == kWithdrawal;
			request_ended |= done.user_data == id && (done.flags & (IORING_CQE_F_MORE | IORING_CQE_F_NOTIF)) == 0;
			// No such request: it had completed, and its completion was taken.
			request_ended |= done.user_data == kWithdrawal && done.res == -ENOENT;
		}
	}

	// For ICEPATH_WAIT_EPOLL: a descriptor that is readable when there is work, or -1 with errno set.
	int open_event()
	{
		event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (event_ < 0)
			return -1;
		if (const int status = io_uring_register_eventfd(&ring_, event_)) {
			errno = -status;
			return -1;
		}
		return event_;
	}
	// Completions signal the eventfd as work does, and would wake for nothing. Work that came while signals were off
	// signals now: the kernel sets the flag for work before it checks whether it may signal (io_req_local_work_add).
	void signal_event(bool on)
	{
		io_uring_cq_eventfd_toggle(&ring_, on);
		if (!on)
			return;
		std::atomic_thread_fence(std::memory_order_seq_cst);
		if (has_work()) {
			eventfd_write(event_, 1);
			return_ns = icepath_now_ns(); // one more call
		}
	}

private:
	static constexpr unsigned kRequests = 8, kCompletions = 256;
	// The shortest possible: a parked endpoint's thread must not take the CPU of the next cell.
	static constexpr unsigned kSqThreadIdleMs = 1;
	static constexpr uint64_t kWithdrawal = ~uint64_t{1};

	// Looks before it stamps: no completion counted here came later than `return_ns`.
	bool is_back(int status)
	{
		brought_ = io_uring_cq_ready(&ring_);
		return_ns = icepath_now_ns();
		if (status >= 0 || status == -EINTR || status == -EAGAIN || status == -EBUSY)
			return true;
		errno = -status;
		return false;
	}

	io_uring ring_{};
	bool is_open_ = false, has_thread_ = false;
	int event_ = -1;
	unsigned brought_ = 0; // completions by the last call that weren't taken yet
};

// NULL, or why io_uring can't be used here, and the remedy.
inline const char *uring_missing()
{
	switch (Uring().open()) {
	case 0:
		return nullptr;
	case -ENOSYS:
		return "this kernel has no io_uring: it takes one with CONFIG_IO_URING";
	case -EPERM:
	case -EACCES:
		return "io_uring is forbidden: sysctl kernel.io_uring_disabled=0 allows it, unless a container's seccomp "
			   "filter "
			   "refuses it";
	case -EINVAL:
		return "the kernel's io_uring lacks IORING_SETUP_DEFER_TASKRUN: Linux 6.1 has it";
	case -ENOMEM:
		return "no memory for an io_uring: see ulimit -l";
	default:
		return "io_uring_setup fails here";
	}
}

} // namespace icepath::plugin_kit
