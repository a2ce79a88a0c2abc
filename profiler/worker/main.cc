// SPDX-License-Identifier: Apache-2.0
// icepath-worker --control FD: one endpoint of a channel, steered by icepath over a socket
// (profiler/worker/protocol.h).
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>

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

} // namespace

int main(int argc, char **argv)
{
	int control = -1;
	if (argc == 3 && std::string_view(argv[1]) == "--control")
		std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), control);
	if (control < 0 || !is_seqpacket_socket(control)) {
		std::fputs(
			"icepath-worker is started by icepath: icepath-worker --control FD, where FD is a SOCK_SEQPACKET socket\n",
			stderr);
		return static_cast<int>(ExitCode::Usage);
	}
	fcntl(control, F_SETFD, FD_CLOEXEC); // middleware may start processes, which mustn't keep the socket open
	signal(SIGPIPE, SIG_IGN);            // a peer's death is an error of the call, see pipe(7)
	// The parent may die before the request takes hold; one that died before it was looked at has closed the socket.
	const pid_t parent = getppid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return static_cast<int>(ExitCode::Interrupted);
	try {
		icepath::worker::Service(control).run();
	} catch (const std::exception &error) {
		std::fprintf(stderr, "icepath-worker: %s\n", error.what());
		return static_cast<int>(ExitCode::Internal);
	}
	return static_cast<int>(ExitCode::Ok);
}
