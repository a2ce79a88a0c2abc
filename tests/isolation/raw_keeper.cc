// SPDX-License-Identifier: Apache-2.0
#include "tests/isolation/raw_keeper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>

#include "cpuset/topology.h"
#include "profiler/isolation/knobs.h"

namespace icepath::isolation {

namespace fs = std::filesystem;

privilege::Identity nobody()
{
	privilege::Identity user;
	user.uid = user.gid = 65534;
	user.groups = {65534};
	user.name = "nobody";
	user.was_root = true;
	return user;
}

std::map<std::string, std::string> knobs_of_this_machine()
{
	constexpr uint32_t kMostNumbers = 1024;
	std::map<std::string, std::string> knobs;
	const Tree tree{""};
	for (const Knob &knob : kKnobs)
		for (uint32_t number = 0; number < kMostNumbers; number++) {
			const auto place = place_of(knob.name, number);
			const auto file = place ? open_knob(tree, *place) : nullptr;
			const auto value = file ? file->read() : std::nullopt;
			if (value)
				knobs[place->path()] = *value;
		}
	return knobs;
}

std::map<std::string, std::string> knobs_after(const std::map<std::string, std::string> &before)
{
	auto now = knobs_of_this_machine();
	for (int i = 0; i < 100 && now != before; i++, now = knobs_of_this_machine())
		poll(nullptr, 0, 100);
	return now;
}

std::optional<uint32_t> last_cpu()
{
	const cpuset::Machine machine = cpuset::read_machine({});
	return machine.cpus.size() > machine.cpus.back().siblings.size() ? std::optional(machine.cpus.back().number)
																	 : std::nullopt;
}

IcepathWithKeeper::IcepathWithKeeper(const std::function<void(Keeper &)> &changes, const std::function<bool()> &before)
{
	int told[2];
	EXPECT_EQ(pipe2(told, O_CLOEXEC), 0);
	pid_ = fork();
	if (pid_ == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		try {
			if (!before())
				_exit(1);
			Keeper keeper(nobody());
			privilege::become(nobody());
			changes(keeper);
			const pid_t number = keeper.pid();
			(void)!write(told[1], &number, sizeof(number));
			for (;;)
				pause();
		} catch (const Failure &) {
			_exit(1);
		}
	}
	close(told[1]);
	EXPECT_EQ(read(told[0], &keeper_, sizeof(keeper_)), static_cast<ssize_t>(sizeof(keeper_))) << "there is no keeper";
	close(told[0]);
}

void IcepathWithKeeper::end()
{
	if (pid_ > 0) {
		kill(pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}
	pid_ = -1;
}

RawKeeper::RawKeeper()
	: process_("icepath-keeper", nobody(), std::nullopt,
			   [](int socket, pid_t icepath) { keep(socket, icepath, nobody().uid); })
{}

bool RawKeeper::send(const void *message, size_t bytes, const std::vector<int> &fds)
{
	return channel::send(process_.socket(), message, bytes, fds);
}

std::vector<KeeperReply> RawKeeper::ask(const KeeperRequest &request, const std::vector<int> &fds)
{
	constexpr int kPatienceMs = 30'000;
	std::vector<Fd> none;
	std::vector<KeeperReply> replies(1);
	if (!send(&request, sizeof(request), fds))
		return {};
	for (size_t i = 0; i < replies.size(); i++) {
		if (!channel::receive(process_.socket(), &replies[i], sizeof(KeeperReply), none, kPatienceMs))
			return {};
		if (i == 0)
			replies.resize(1 + replies[0].follow);
	}
	return replies;
}

bool RawKeeper::has_ended()
{
	const Fd pidfd = pidfd_of(process_.pid());
	pollfd end{pidfd.get(), POLLIN, 0};
	return poll(&end, 1, 10'000) > 0;
}

size_t RawKeeper::open_descriptors() const
{
	const auto all = fs::directory_iterator("/proc/" + std::to_string(process_.pid()) + "/fd");
	return static_cast<size_t>(std::distance(begin(all), end(all)));
}

KeeperRequest request_of(KeeperRequest::Kind kind, const std::vector<uint32_t> &cpus)
{
	KeeperRequest request{};
	request.kind = kind;
	request.cpu_count = static_cast<uint32_t>(cpus.size());
	std::ranges::copy(cpus, request.cpus.begin());
	return request;
}

} // namespace icepath::isolation
