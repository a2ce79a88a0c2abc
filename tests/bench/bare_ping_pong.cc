// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/bare_ping_pong.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "cpuset/affinity.h"
#include "icepath/plugin.h"
#include "plugin_kit/spin_pause.h"
#include "profiler/channel.h"
#include "profiler/failure.h"

namespace icepath::bench {
namespace {

// One direction. Two lines apart, because some CPUs fetch lines by pairs.
struct Way {
	alignas(128) std::atomic<uint64_t> turn;
	alignas(128) std::array<uint8_t, kPayloadBytes> message;
};
struct Lines {
	Way there, back;
};

// One process's own.
struct Buffers {
	std::array<uint8_t, kPayloadBytes> out{}, in{};
};

constexpr uint32_t warm_up(uint32_t trips) { return trips / 10; }

// A clock read in the middle of a trip, whose value nobody needs.
template <Stamps stamps> void stamp()
{
	if constexpr (stamps == Stamps::AsIcepath)
		icepath_now_ns();
}

template <Stamps stamps, Carries carries> void give(Way &way, uint64_t number, Buffers &own)
{
	if constexpr (carries == Carries::Message)
		std::memcpy(way.message.data(), own.out.data(), kPayloadBytes);
	stamp<stamps>(); // publish
	way.turn.store(number, std::memory_order_release);
}

template <Stamps stamps, Carries carries> void take(Way &way, uint64_t number, Buffers &own)
{
	stamp<stamps>(); // ask
	while (way.turn.load(std::memory_order_acquire) != number)
		plugin_kit::pause_spin();
	stamp<stamps>(); // observe
	if constexpr (carries == Carries::Message) {
		std::memcpy(own.in.data(), way.message.data(), kPayloadBytes);
		asm volatile("" : : "r"(own.in.data()) : "memory"); // it is read, as far as the compiler knows
	}
}

template <Stamps stamps, Carries carries> void trip(Lines &lines, uint64_t number, Buffers &own)
{
	give<stamps, carries>(lines.there, number, own);
	take<stamps, carries>(lines.back, number, own);
}

template <Stamps stamps, Carries carries> void initiate(Lines &lines, uint32_t trips, double *values)
{
	Buffers own;
	uint64_t number = 0;
	while (number < warm_up(trips))
		trip<stamps, carries>(lines, ++number, own);
	if constexpr (stamps == Stamps::None) {
		for (uint32_t i = 0; i < trips / kUntimedTrips; i++) {
			const uint64_t begin_ns = icepath_now_ns();
			for (uint32_t j = 0; j < kUntimedTrips; j++)
				trip<stamps, carries>(lines, ++number, own);
			values[i] = static_cast<double>(icepath_now_ns() - begin_ns) / kUntimedTrips;
		}
	} else {
		for (uint32_t i = 0; i < trips; i++) {
			const uint64_t send_ns = icepath_now_ns();
			trip<stamps, carries>(lines, ++number, own);
			values[i] = static_cast<double>(icepath_now_ns() - send_ns);
		}
	}
}

template <Stamps stamps, Carries carries> void respond(Lines &lines, uint32_t trips)
{
	Buffers own;
	for (uint64_t number = 1; number <= warm_up(trips) + trips; number++) {
		take<stamps, carries>(lines.there, number, own);
		stamp<stamps>(); // recv
		stamp<stamps>(); // send
		give<stamps, carries>(lines.back, number, own);
	}
}

template <Stamps stamps, Carries carries> std::vector<double> cache_line_trips_ns(CpuPair cpus, uint32_t trips)
{
	SharedMemory memory(sizeof(Lines));
	auto *lines = new (memory.data()) Lines{};
	return run_two_sides(
		cpus, stamps == Stamps::None ? trips / kUntimedTrips : trips,
		[=](double *values) { initiate<stamps, carries>(*lines, trips, values); },
		[=] { respond<stamps, carries>(*lines, trips); });
}

void must(ssize_t moved)
{
	if (moved != static_cast<ssize_t>(kPayloadBytes))
		_exit(1);
}

} // namespace

std::vector<double> cache_line_trips_ns(CpuPair cpus, uint32_t trips, Stamps stamps, Carries carries)
{
	trips -= trips % kUntimedTrips;
	const auto with = [&]<Carries what>() {
		switch (stamps) {
		case Stamps::None:
			return cache_line_trips_ns<Stamps::None, what>(cpus, trips);
		case Stamps::AroundTrip:
			return cache_line_trips_ns<Stamps::AroundTrip, what>(cpus, trips);
		case Stamps::AsIcepath:
			break;
		}
		return cache_line_trips_ns<Stamps::AsIcepath, what>(cpus, trips);
	};
	return carries == Carries::Number ? with.operator()<Carries::Number>() : with.operator()<Carries::Message>();
}

std::vector<double> uds_trips_ns(CpuPair cpus, uint32_t trips)
{
	std::array<int, 2> ends{};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()))
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot make a socket pair: {}", std::strerror(errno)));
	const Fd ours(ends[0]), theirs(ends[1]);
	std::array<uint8_t, kPayloadBytes> message{};
	const auto initiate = [&](double *values) {
		for (uint32_t i = 0; i < warm_up(trips) + trips; i++) {
			const uint64_t send_ns = icepath_now_ns();
			must(send(ends[0], message.data(), message.size(), 0));
			must(recv(ends[0], message.data(), message.size(), 0));
			if (i >= warm_up(trips))
				values[i - warm_up(trips)] = static_cast<double>(icepath_now_ns() - send_ns);
		}
	};
	const auto respond = [&] {
		for (uint32_t i = 0; i < warm_up(trips) + trips; i++) {
			must(recv(ends[1], message.data(), message.size(), 0));
			must(send(ends[1], message.data(), message.size(), 0));
		}
	};
	return run_two_sides(cpus, trips, initiate, respond);
}

namespace {

constexpr int kMostMs = 20000;

// A process that does one thing.
class Side {
public:
	Side(uint32_t cpu, const std::function<void()> &work)
	{
		const pid_t parent = getpid();
		pid_ = fork();
		if (pid_ == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent || cpuset::pin(0, cpu))
				_exit(1);
			work();
			_exit(0);
		}
		if (pid_ < 0)
			throw Failure(ExitCode::MachineCannot, fmt::format("cannot fork: {}", std::strerror(errno)));
		pidfd_ = pidfd_of(pid_);
	}
	~Side()
	{
		if (pid_ < 0)
			return;
		kill(pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}
	Side(const Side &) = delete;
	Side &operator=(const Side &) = delete;

	void await_end()
	{
		pollfd ended{pidfd_.get(), POLLIN, 0};
		int status = 0;
		if (poll(&ended, 1, kMostMs) != 1 || waitpid(pid_, &status, 0) != pid_)
			throw Failure(ExitCode::Invalid, fmt::format("a bare ping-pong took more than {} ms", kMostMs));
		pid_ = -1;
		if (status != 0)
			throw Failure(ExitCode::Invalid, "a side of a bare ping-pong couldn't be pinned, or failed");
	}

private:
	pid_t pid_ = -1;
	Fd pidfd_;
};

} // namespace

std::vector<double> run_two_sides(CpuPair cpus, size_t room, const std::function<void(double *values)> &initiate,
								  const std::function<void()> &respond)
{
	SharedMemory memory(room * sizeof(double));
	auto *values = static_cast<double *>(memory.data());
	Side responder(cpus.responder, respond);
	Side initiator(cpus.initiator, [&] { initiate(values); });
	initiator.await_end();
	responder.await_end();
	return {values, values + room};
}

} // namespace icepath::bench
