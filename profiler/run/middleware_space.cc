// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/middleware_space.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "profiler/failure.h"
#include "profiler/privilege/own_space.h"
#include "profiler/privilege/root_process.h"

namespace icepath::run {
namespace {

using privilege::must, privilege::Refusal, privilege::Refused;

void write_file(const char *path, const std::string &text)
{
	std::ofstream file(path);
	file << text << std::flush;
	must(file.good(), fmt::format("writing {}", path));
}

// The ids are the same inside and outside.
void map_user(uid_t user, gid_t group)
{
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", fmt::format("{0} {0} 1", user));
	write_file("/proc/self/gid_map", fmt::format("{0} {0} 1", group));
}

// Runs in a child; the descriptors that it sends keep its namespaces alive.
void make_namespaces(int socket, const std::vector<std::string> &kept)
{
	Refusal none{};
	try {
		const uid_t user = geteuid();
		const gid_t group = getegid();
		must(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) == 0, "unshare");
		// Root owns the /proc/self files of a process that changed its user, as icepath did under sudo, until it is
		// dumpable. From then on any process of that user can take its descriptors (pidfd_getfd(2)), so all others,
		// such as the root helper's socket, are closed first.
		must(privilege::close_all_but({socket}), "closing descriptors");
		prctl(PR_SET_DUMPABLE, 1);
		map_user(user, group);
		privilege::empty_folders(privilege::cloned(privilege::open_kept(kept)));
		privilege::raise_loopback();
		std::vector<Fd> spaces;
		std::vector<int> numbers;
		for (const char *path : {"/proc/self/ns/user", "/proc/self/ns/mnt", "/proc/self/ns/net"}) {
			spaces.emplace_back(open(path, O_RDONLY | O_CLOEXEC));
			must(static_cast<bool>(spaces.back()), fmt::format("opening {}", path));
			numbers.push_back(spaces.back().get());
		}
		channel::send(socket, &none, sizeof(none), numbers);
	} catch (const Refused &refused) {
		channel::send(socket, &refused.refusal(), sizeof(Refusal));
	}
}

} // namespace

MiddlewareSpace::MiddlewareSpace(const std::vector<std::string> &kept, privilege::RootSpace *root)
{
	auto [ours, theirs] = channel::open_pair();
	const pid_t child = fork();
	if (child == 0) {
		make_namespaces(theirs.get(), kept);
		_exit(0);
	}
	theirs.reset();
	Refusal refusal{errno, "fork"};
	std::vector<Fd> spaces;
	if (child > 0) {
		if (!channel::receive(ours.get(), &refusal, sizeof(refusal), spaces, 5000))
			refusal = {ETIMEDOUT, "making them"};
		kill(child, SIGKILL); // it is done, or hangs
		waitpid(child, nullptr, 0);
	}
	if (spaces.size() == 3) {
		user_ = std::move(spaces[0]);
		mount_ = std::move(spaces[1]);
		network_ = std::move(spaces[2]);
		if (root)
			root->end();
		return;
	}
	std::string why_not =
		fmt::format("{} failed: {}", std::string(refusal.what, strnlen(refusal.what, sizeof(refusal.what))),
					std::strerror(refusal.error));
	try {
		if (root) {
			root->make(kept);
			root_ = root;
			return;
		}
	} catch (const Failure &failure) {
		why_not += fmt::format("; as root, {}", failure.what());
	}
	throw Failure(
		ExitCode::MachineCannot,
		fmt::format("middleware can't have namespaces of its own: {}; a user must be allowed to have user namespaces "
					"(sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
					"kernel.apparmor_restrict_unprivileged_userns), or root mount namespaces",
					why_not));
}

bool MiddlewareSpace::enter() const
{
	return setns(user_.get(), CLONE_NEWUSER) == 0 && setns(mount_.get(), CLONE_NEWNS) == 0 &&
		   setns(network_.get(), CLONE_NEWNET) == 0;
}

} // namespace icepath::run
