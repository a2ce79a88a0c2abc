// SPDX-License-Identifier: Apache-2.0
// Transports with files in /tmp, /dev/shm or among the message queues, where another user has taken every name that
// can be guessed.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mqueue.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/run/live_cell.h"
#include "tests/run/alone.h"

namespace icepath::run {
namespace {

// As they were until they had random parts.
std::vector<std::string> names_that_can_be_guessed()
{
	constexpr uint32_t kOpenings = 3, kChannels = 3;
	std::vector<std::string> names;
	for (uint32_t opening = 0; opening < kOpenings; opening++)
		for (uint32_t channel = 0; channel < kChannels; channel++)
			for (const char *file : {"", "-0", "-1", "-f"})
				names.push_back(fmt::format("icepath-{}-{}-{}{}", getpid(), opening, channel, file));
	return names;
}

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr size_t kRandomDigits = 16; // of 64 random bits

// Names of channels' files that are made from now on in the folders that are everybody's.
class MadeNames {
public:
	MadeNames() : watch_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC))
	{
		for (const char *folder : {"/tmp", "/dev/shm", "/dev/mqueue"}) // the last may not be mounted
			inotify_add_watch(watch_.get(), folder, IN_CREATE);
	}
	std::vector<std::string> read() const
	{
		std::vector<std::string> names;
		alignas(inotify_event) std::array<char, 16'384> events{};
		for (ssize_t bytes = 0; (bytes = ::read(watch_.get(), events.data(), events.size())) > 0;)
			for (const char *at = events.data(); at < events.data() + bytes;) {
				const auto *made = reinterpret_cast<const inotify_event *>(at);
				if (made->len > 0 && is_of_a_channel(made->name))
					names.emplace_back(made->name);
				at += sizeof(inotify_event) + made->len;
			}
		return names;
	}

private:
	// Others may make names that begin with "icepath-".
	static bool is_of_a_channel(std::string_view name)
	{
		constexpr std::string_view kBegin = "icepath-";
		return name.starts_with(kBegin) &&
			   name.find_first_not_of(kDigits, kBegin.size()) >= kBegin.size() + kRandomDigits &&
			   name.size() >= kBegin.size() + kRandomDigits;
	}

	const Fd watch_;
};

// Who sees a channel's first file can't tell the name of the next one.
void expect_no_two_related(const std::vector<std::string> &names)
{
	std::set<std::string> ends;
	for (const std::string &name : names) {
		const std::string end = name.substr(name.size() - kRandomDigits);
		EXPECT_EQ(end.find_first_not_of(kDigits), std::string::npos) << name;
		EXPECT_TRUE(ends.insert(end).second) << name << " ends like another one";
	}
}

class TakenNames : public testing::TestWithParam<std::pair<const char *, model::Pattern>> {
protected:
	TakenNames()
	{
		constexpr uid_t kStranger = 61002;
		const pid_t child = fork();
		if (child == 0)
			_exit((geteuid() != 0 || setresuid(kStranger, kStranger, kStranger) == 0) && take() ? 0 : 1);
		int status = 0;
		waitpid(child, &status, 0);
		EXPECT_EQ(status, 0) << "the names can't be taken";
	}
	~TakenNames() override
	{
		for (const std::string &name : names_) {
			mq_unlink(("/" + name).c_str());
			for (const char *folder : {"/tmp/", "/dev/shm/"})
				std::filesystem::remove(folder + name);
		}
	}

private:
	bool take() const
	{
		mq_attr small{};
		small.mq_maxmsg = small.mq_msgsize = 1;
		bool done = true;
		for (const std::string &name : names_) {
			done &= mq_open(("/" + name).c_str(), O_RDWR | O_CREAT | O_EXCL, 0600, &small) >= 0;
			for (const char *folder : {"/tmp/", "/dev/shm/"})
				done &= open((folder + name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) >= 0;
		}
		return done;
	}

	const std::vector<std::string> names_ = names_that_can_be_guessed();
};

TEST_P(TakenNames, StopNoTransport)
{
	const auto [target, pattern] = GetParam();
	const uint32_t senders = pattern == model::Pattern::FanIn ? 2 : 1;
	model::Cell cell;
	cell.target = target;
	cell.pattern = pattern;
	cell.payload_bytes = 64;
	cell.graph = model::star(senders, std::vector(senders + 1, static_cast<uint32_t>(sched_getcpu())),
							 model::Between::Processes, pattern == model::Pattern::PingPong);
	privilege::Identity user;
	user.uid = getuid();
	user.was_root = true; // claimed: pinning one's own child needs no root
	privilege::Helper helper(user);
	const MadeNames made;
	const std::string plugin = cell.target.starts_with("uds") ? "uds" : cell.target;
	LiveCell live(cell, fmt::format("{}/icepath-{}.so", PLUGINS, plugin), 0, 20, privilege::SlotsView(), helper);
	BlockWish wish;
	wish.number = 1;
	wish.warm_up = 0;
	wish.count = 10;
	wish.duration_ns = 50'000'000;
	EXPECT_EQ(run_alone(live, wish, privilege::SlotsView(), nullptr).failure, "");
	const std::vector<std::string> names = made.read();
	EXPECT_TRUE(!names.empty() || cell.target == "mqueue");
	expect_no_two_related(names);
}

INSTANTIATE_TEST_SUITE_P(
	Of, TakenNames,
	testing::Values(std::pair{"fifo", model::Pattern::PingPong}, std::pair{"fifo", model::Pattern::FanIn},
					std::pair{"mqueue", model::Pattern::PingPong}, std::pair{"mqueue", model::Pattern::FanIn},
					std::pair{"boost-mq", model::Pattern::PingPong}, std::pair{"boost-mq", model::Pattern::FanIn},
					std::pair{"uds-dgram", model::Pattern::FanIn}),
	[](const auto &each) {
		std::string name = fmt::format("{}_{}", each.param.first, model::name(each.param.second));
		std::ranges::replace(name, '-', '_');
		return name;
	});

} // namespace
} // namespace icepath::run
