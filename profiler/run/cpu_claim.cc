// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/cpu_claim.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "profiler/failure.h"

namespace icepath::run {
namespace {

struct Name {
	sockaddr_un address{};
	socklen_t bytes = 0;

	explicit Name(uint32_t cpu)
	{
		address.sun_family = AF_UNIX;
		const std::string text = fmt::format("icepath-cpu-{}", cpu);
		text.copy(address.sun_path + 1, sizeof(address.sun_path) - 1); // the leading zero makes it abstract
		bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
	}
	const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&address); }
};

Fd open_socket() { return Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

// Who listens on the name; empty where it can't be told: it has just ended, or lives in another pid namespace.
std::string holder_of(const Name &name)
{
	const Fd caller = open_socket();
	ucred holder{};
	socklen_t size = sizeof(holder);
	if (!caller || connect(caller.get(), name.get(), name.bytes) ||
		getsockopt(caller.get(), SOL_SOCKET, SO_PEERCRED, &holder, &size) || holder.pid <= 0)
		return "";
	return fmt::format(" (pid {})", holder.pid);
}

} // namespace

CpuClaim::CpuClaim(std::vector<uint32_t> cpus)
{
	std::sort(cpus.begin(), cpus.end());
	cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
	for (const uint32_t cpu : cpus) {
		const Name name(cpu);
		Fd socket = open_socket();
		if (socket && bind(socket.get(), name.get(), name.bytes) == 0 && listen(socket.get(), SOMAXCONN) == 0) {
			names_.push_back(std::move(socket));
			continue;
		}
		if (errno != EADDRINUSE)
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("cannot claim CPU {} against other runs: {}", cpu, std::strerror(errno)));
		throw Failure(
			ExitCode::MachineCannot,
			fmt::format("another icepath{} is measuring on CPU {}, and two runs on one CPU measure each other: "
						"wait until it has ended, or take other CPUs with --cpus",
						holder_of(name), cpu));
	}
}

} // namespace icepath::run
