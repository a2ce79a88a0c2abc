// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/other_network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "profiler/failure.h"

namespace icepath::selftest {
namespace {

void go_back(const Fd &home)
{
	if (setns(home.get(), CLONE_NEWNET))
		_exit(1); // later requests for other namespaces would act on this one
}

bool is_same(const Fd &one, const Fd &other)
{
	struct stat first{}, second{};
	return fstat(one.get(), &first) || fstat(other.get(), &second) ||
		   (first.st_dev == second.st_dev && first.st_ino == second.st_ino);
}

} // namespace

Fd open_own_network() { return Fd(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)); }

InOtherNetwork::InOtherNetwork(int process) : home_(open_own_network())
{
	if (!home_ || (process >= 0 ? setns(process, CLONE_NEWNET) : unshare(CLONE_NEWNET)))
		throw Failure(ExitCode::MachineCannot, fmt::format("a network namespace can't be {}: {}",
														   process >= 0 ? "entered" : "made", std::strerror(errno)));
	if (is_same(home_, open_own_network())) {
		go_back(home_);
		throw Failure(ExitCode::MachineCannot, "its processes have no network namespace of their own, and packets of "
											   "others on this machine are left alone");
	}
}

InOtherNetwork::~InOtherNetwork() { go_back(home_); }

} // namespace icepath::selftest
