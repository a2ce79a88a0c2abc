// SPDX-License-Identifier: Apache-2.0
// icepath-worker --control FD [--control FD]... [--one-thread]: one or several sides of a cell, each controlled by
// icepath over a socket of its own (profiler/worker/protocol.h).
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>
#include <thread>
#include <vector>

#include "profiler/failure.h"
#include "profiler/worker/service.h"

namespace {

using icepath::ExitCode;

bool is_seqpacket_socket(int fd)
{
	int type = 0;
	socklen_t size = sizeof(type);
	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

struct Arguments {
	std::vector<int> controls;
	bool one_thread = false;
};

// Returns no controls if the arguments are invalid.
Arguments parse(int argc, char **argv)
{
	Arguments given;
	for (int i = 1; i < argc; i++) {
		const std::string_view word(argv[i]);
		int control = -1;
		if (word == "--one-thread") {
			given.one_thread = true;
			continue;
		}
		if (word == "--control" && i + 1 < argc)
			std::from_chars(argv[i + 1], argv[i + 1] + std::strlen(argv[i + 1]), control);
		i++;
		if (control < 0 || !is_seqpacket_socket(control))
			return {};
		given.controls.push_back(control);
	}
	if (given.one_thread && given.controls.size() != 2)
		return {};
	return given;
}

// Several sides in one process may open as many files as several processes might, and no more: run/descriptor_limit.h
// says why a high limit harms.
void allow_descriptors(size_t sides)
{
	rlimit limit{};
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max / sides < limit.rlim_cur ? limit.rlim_max : limit.rlim_cur * sides;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

// Threads are started only after a request: by then the helper follows this process, and so its later threads.
void await_request(const std::vector<int> &controls)
{
	std::vector<pollfd> sockets;
	for (const int control : controls)
		sockets.push_back({control, POLLIN, 0});
	while (poll(sockets.data(), sockets.size(), -1) < 0 && errno == EINTR) {
	}
}

void serve(const Arguments &given)
{
	using icepath::worker::Service;
	if (given.controls.size() > 1)
		allow_descriptors(given.controls.size());
	if (given.one_thread) {
		Service near(given.controls[0], given.controls), far(given.controls[1], given.controls);
		return Service::run_in_one_thread(near, far);
	}
	await_request(given.controls);
	std::vector<std::thread> others;
	for (size_t side = 1; side < given.controls.size(); side++)
		others.emplace_back([&given, side]() noexcept { Service(given.controls[side], given.controls).run(); });
	Service(given.controls[0], given.controls).run();
	for (std::thread &other : others)
		other.join();
}

// An exception that no thread catches ends the process, which icepath notices.
[[noreturn]] void end_by_exception()
{
	try {
		if (const std::exception_ptr thrown = std::current_exception())
			std::rethrow_exception(thrown);
	} catch (const std::exception &error) {
		std::fprintf(stderr, "icepath-worker: %s\n", error.what());
	} catch (...) {
	}
	_exit(static_cast<int>(ExitCode::Internal));
}

} // namespace

int main(int argc, char **argv)
{
	const Arguments given = parse(argc, argv);
	if (given.controls.empty()) {
		std::fputs(
			"icepath-worker is started by icepath: icepath-worker --control FD [--control FD]... [--one-thread], where "
			"FD is a SOCK_SEQPACKET socket\n",
			stderr);
		return static_cast<int>(ExitCode::Usage);
	}
	for (const int control : given.controls)
		fcntl(control, F_SETFD, FD_CLOEXEC); // a process that middleware starts mustn't keep the socket open
	signal(SIGPIPE, SIG_IGN); // a peer's death is an error of the call: pipe(7)
	// The parent may die before prctl() takes effect. If it died before getppid(), its socket is closed.
	const pid_t parent = getppid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return static_cast<int>(ExitCode::Interrupted);
	std::set_terminate(end_by_exception);
	serve(given);
	return static_cast<int>(ExitCode::Ok);
}
