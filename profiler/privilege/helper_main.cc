// SPDX-License-Identifier: Apache-2.0
// icepath-helper: the root helper's program. icepath starts it, with the socket as descriptor 3:
//   icepath-helper VERSION USER ICEPATH
// VERSION is that of both, with a hash of what requests and shared memory look like (CMakeLists.txt), USER the id of
// the invoking user, ICEPATH the process id of icepath, its parent.
//
// icepath starts it as root, or, if its file has capabilities (`icepath setup --caps`), as the user. In that case any
// program of the user's may start it in its own way, so it trusts nothing of how it was started.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/privilege/rights.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/privilege/root_process.h"

namespace icepath::privilege {
namespace {

std::optional<uint32_t> number_in(std::string_view text)
{
	uint32_t number = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// Whether the descriptor is one end of a pair that icepath, the parent, has made.
bool is_from(pid_t icepath, int socket)
{
	int type = 0;
	ucred maker{};
	socklen_t type_size = sizeof(type), maker_size = sizeof(maker);
	return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 && type == SOCK_SEQPACKET &&
		   getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &maker, &maker_size) == 0 && maker.pid == icepath;
}

// Opens those that are closed: otherwise a file that it opens would be one of them. For a dynamically linked program
// with AT_SECURE, the C library does this as well.
bool open_standard_descriptors()
{
	for (;;) {
		const int fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			return false;
		if (fd > STDERR_FILENO)
			return close(fd) == 0;
	}
}

void limit_rights(uid_t user, pid_t icepath)
{
	Identity invoking;
	invoking.uid = user;
	if (geteuid() == 0)
		keep_only(for_loading(), invoking, icepath);
	else
		keep_only_of_file(kSocketOfProgram, icepath);
}

int help(int argc, char **argv)
{
	const bool is_root = geteuid() == 0;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); // from the first instruction, whoever started it
	if (!open_standard_descriptors())
		return static_cast<int>(ExitCode::MachineCannot);
	const auto user = argc == 4 ? number_in(argv[2]) : std::nullopt;
	const auto icepath = argc == 4 ? number_in(argv[3]) : std::nullopt;
	const pid_t parent = getppid();
	if (!user || !icepath || static_cast<pid_t>(*icepath) != parent || !is_from(parent, kSocketOfProgram) ||
		(!is_root && *user != getuid())) {
		std::fputs("icepath-helper is started by icepath alone\n", stderr);
		return static_cast<int>(ExitCode::Usage);
	}
	prctl(PR_SET_NAME, kHelperName);
	std::string why_not;
	if (std::strcmp(argv[1], ICEPATH_HELPER_VERSION) != 0)
		why_not = std::string("it is of version " ICEPATH_HELPER_VERSION ", and icepath of ") + argv[1];
	else
		try {
			limit_rights(*user, parent);
		} catch (const Failure &failure) {
			why_not = failure.what();
		}
	// Before icepath sends its first request.
	if (why_not.empty() && !channel::ask_for_senders(kSocketOfProgram))
		why_not = "the kernel doesn't tell who sends requests";
	if (!tell_beginning(kSocketOfProgram, why_not) || !why_not.empty())
		return static_cast<int>(ExitCode::MachineCannot);
	serve(kSocketOfProgram, parent, *user, is_root ? HelperRights::OfRoot : HelperRights::OfItsFile);
	return 0;
}

} // namespace
} // namespace icepath::privilege

int main(int argc, char **argv)
{
	_exit(icepath::privilege::help(argc, argv)); // with its filter, exit(3) could do less than it wants
}
