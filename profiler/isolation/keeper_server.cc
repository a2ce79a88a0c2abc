// SPDX-License-Identifier: Apache-2.0
// The keeper's side. It is root, so it checks every request.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "cpuset/affinity.h"
#include "cpuset/topology.h"
#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/isolation/full.h"
#include "profiler/isolation/keeper.h"
#include "profiler/isolation/partition.h"
#include "profiler/isolation/tune.h"
#include "profiler/privilege/leave_caller.h"
#include "profiler/privilege/own_child.h"
#include "profiler/privilege/rights.h"

namespace icepath::isolation {
namespace {

constexpr time_t kReplySeconds = 5; // for an icepath that is stopped between a question and its answer

KeeperReply text_reply(const std::string &text)
{
	KeeperReply reply{};
	channel::put(reply.text, text);
	return reply;
}

class Server {
public:
	Server(const Tree &tree, pid_t icepath, uid_t user, privilege::Left left)
		: icepath_(icepath), user_(user), left_(std::move(left)), tree_(tree)
	{}

	std::vector<KeeperReply> answer(const KeeperRequest &request, const std::vector<Fd> &fds)
	{
		switch (request.kind) {
		case KeeperRequest::Kind::PutBack:
			return texts(put_back());
		case KeeperRequest::Kind::Isolate:
			return isolate(request);
		case KeeperRequest::Kind::Tune:
			return tune(request);
		case KeeperRequest::Kind::Admit:
			admit(fds);
			return {KeeperReply{}};
		case KeeperRequest::Kind::Look:
			return look();
		}
		throw Failure(ExitCode::Internal, "the keeper was asked for something that it doesn't know");
	}

	// Undoes this keeper's changes or, if it has made none, those of a killed keeper.
	std::vector<std::string> put_back()
	{
		if (has_changed_) {
			std::vector<std::string> sentences;
			if (changes_)
				sentences = changes_->put_back();
			changes_.reset(); // the journal is unlocked
			return sentences;
		}
		return journal_is_left(tree_) ? put_back_leftovers(tree_) : std::vector<std::string>();
	}

private:
	static std::vector<KeeperReply> texts(const std::vector<std::string> &sentences)
	{
		std::vector<KeeperReply> replies;
		for (size_t i = 0; i < std::min(sentences.size(), kMostReplies - 1); i++)
			replies.push_back(text_reply(sentences[i]));
		if (sentences.size() >= kMostReplies)
			replies.back() = text_reply(fmt::format("{} more", sentences.size() - kMostReplies + 2));
		if (replies.empty())
			replies.emplace_back();
		return replies;
	}

	static std::vector<KeeperReply> replies_of(const std::vector<cpuset::Step> &steps)
	{
		std::vector<KeeperReply> replies;
		for (const cpuset::Step &step : steps) {
			KeeperReply &reply = replies.emplace_back();
			reply.state = static_cast<uint32_t>(step.state);
			channel::put(reply.name, step.name);
			channel::put(reply.text, step.found);
			channel::put(reply.remedy, step.remedy);
		}
		if (replies.empty())
			replies.emplace_back();
		return replies;
	}

	void begin_changes(const cpuset::CpuList &cpus)
	{
		if (const std::string why = why_not_the_machine(); !why.empty())
			throw Failure(ExitCode::MachineCannot, why);
		if (!left_.why_not.empty())
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("this machine isn't changed, since whoever calls icepath could end or stop the "
									  "process that restores it: {}",
									  left_.why_not));
		if (!changes_)
			changes_.emplace(tree_, Head{boot_of(tree_), icepath_, user_, cpus});
		has_changed_ = true;
	}

	std::vector<KeeperReply> tune(const KeeperRequest &request)
	{
		const size_t count = std::min<size_t>(request.tuning_count, request.tunings.size());
		const std::vector<Tuning> tunings(request.tunings.begin(), request.tunings.begin() + count);
		if (has_changed_ || count == 0 || count != request.tuning_count ||
			!std::ranges::all_of(tunings, [](const Tuning &one) { return is_allowed(one) && is_of_the_machine(one); }))
			throw Failure(ExitCode::Internal,
						  "the keeper was asked to raise limits twice, or one that it doesn't raise");
		begin_changes({});
		return replies_of(with_risk(isolation::tune(*changes_, tunings)));
	}

	std::vector<KeeperReply> isolate(const KeeperRequest &request)
	{
		const size_t count = std::min<size_t>(request.cpu_count, request.cpus.size());
		if (has_isolated_ || (count == 0 && !has_changed_) || count != request.cpu_count)
			throw Failure(ExitCode::Internal, "the keeper was asked to isolate twice, or CPUs that can't be");
		const cpuset::Machine machine = cpuset::read_machine({}, tree_.root);
		cpuset::CpuList cpus;
		if (count > 0) {
			cpus = cpus_to_isolate(machine, {request.cpus.begin(), request.cpus.begin() + count});
			cpuset::CpuList others = machine.online();
			std::erase_if(others, [&](uint32_t cpu) { return cpuset::contains(cpus, cpu); });
			(void)cpuset::confine_process(others);
		}
		utsname kernel{};
		uname(&kernel);
		has_isolated_ = true;
		std::vector<cpuset::Step> steps;
		try {
			begin_changes(cpus);
			if (count > 0)
				steps = isolation::isolate(*changes_, machine, cpus, kernel.release);
			partition_ = dynamic_cast<Partition *>(changes_->open(*place_of("group")));
			allow_keeping_calls_only();
		} catch (...) {
			changes_.reset();
			throw;
		}
		return replies_of(with_risk(std::move(steps)));
	}

	// Told once.
	std::vector<cpuset::Step> with_risk(std::vector<cpuset::Step> steps)
	{
		if (const std::string risk = std::exchange(left_.risk, ""); !risk.empty())
			steps.push_back({"keeper", cpuset::StepState::NotPossible, risk, ""});
		return steps;
	}

	// Takes one pidfd, of a child of icepath that runs as the invoking user.
	void admit(const std::vector<Fd> &fds)
	{
		if (fds.size() != 1)
			throw Failure(ExitCode::Internal, "a worker was to be admitted and none was sent");
		const pid_t worker = privilege::check_own_child(fds[0].get(), icepath_, user_);
		if (!changes_ || !partition_)
			return;
		if (const int error = partition_->admit(worker))
			throw Failure(ExitCode::MachineCannot, fmt::format("worker {} can't be moved to the run's partition: {}",
															   worker, std::strerror(error)));
	}

	std::vector<KeeperReply> look()
	{
		if (!changes_)
			throw Failure(ExitCode::Internal, "the keeper was asked for what it has isolated, which is nothing");
		std::vector<KeeperReply> replies = texts(changes_->look());
		if (const std::string why = partition_ ? partition_->why_not_isolated() : ""; !why.empty()) {
			replies.push_back(text_reply(why));
			replies.back().lost = 1;
		}
		return replies;
	}

	const pid_t icepath_;
	const uid_t user_;
	privilege::Left left_;
	const Tree tree_;
	bool has_changed_ = false, has_isolated_ = false; // or has tried
	std::optional<Changes> changes_;
	Partition *partition_ = nullptr; // of `changes_`
};

// SIGTERM as a descriptor, to be polled beside the socket.
Fd wish_to_end()
{
	sigset_t wish;
	sigemptyset(&wish);
	sigaddset(&wish, SIGTERM);
	sigprocmask(SIG_BLOCK, &wish, nullptr);
	signal(SIGTERM, SIG_DFL);
	return Fd(signalfd(-1, &wish, SFD_CLOEXEC));
}

// Waits for the next request, or for the end of the socket. False: icepath has ended, or SIGTERM came.
bool await(int socket, const Fd &icepath, const Fd &wish)
{
	std::array<pollfd, 3> next = {pollfd{socket, POLLIN, 0}, pollfd{icepath.get(), POLLIN, 0},
								  pollfd{wish.get(), POLLIN, 0}};
	if (!icepath || !wish)
		return false;
	while (poll(next.data(), next.size(), -1) < 0)
		if (errno != EINTR)
			return false;
	return next[1].revents == 0 && next[2].revents == 0;
}

// Closing anything else may take as long as its file system, perhaps a program of the user's, or its socket likes.
bool is_pidfd(const Fd &fd) { return privilege::pid_of(fd.get()).has_value(); }

// Returns when the keeper has to end. The caller then restores the machine.
void serve(Server &server, int socket, const Fd &icepath, const Fd &wish)
{
	for (;;) {
		KeeperRequest request{};
		std::vector<Fd> fds;
		try {
			if (!await(socket, icepath, wish) || !channel::receive(socket, &request, sizeof(request), fds))
				return;
		} catch (const Failure &) {
			return; // too many open files
		}
		if (!std::ranges::all_of(fds, is_pidfd)) // icepath sends none
			return;
		std::vector<KeeperReply> replies;
		bool ends = false;
		try {
			replies = server.answer(request, fds);
		} catch (const std::exception &error) {
			const Failure failure = failure_of(error);
			replies = {text_reply(failure.what())};
			replies[0].exit_code = static_cast<int32_t>(failure.code());
			ends = dynamic_cast<const privilege::RightsKept *>(&error) != nullptr;
		}
		replies[0].follow = static_cast<uint32_t>(replies.size() - 1);
		for (const KeeperReply &reply : replies)
			if (!channel::send(socket, &reply, sizeof(reply)))
				return;
		if (ends)
			return;
	}
}

} // namespace

void keep(int socket, pid_t icepath, uid_t user)
{
	const Fd wish = wish_to_end(); // before it could come unseen
	const privilege::Left left = privilege::leave_caller();
	try {
		// CAP_DAC_OVERRIDE, because the root control group's folder has mode 0555.
		privilege::keep_as_root({CAP_SYS_NICE, CAP_DAC_OVERRIDE});
	} catch (const Failure &) {
		return;
	}
	if (getppid() == icepath)
		keep_machine(Tree{""}, socket, icepath, user, wish, left);
}

void keep_machine(const Tree &tree, int socket, pid_t icepath, uid_t user, const Fd &wish, const privilege::Left &left)
{
	const Fd pidfd = pidfd_of(icepath);
	// An icepath that reads no reply mustn't keep the machine isolated.
	const timeval patience{kReplySeconds, 0};
	setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	Server server(tree, icepath, user, left);
	serve(server, socket, pidfd, wish);
	try {
		(void)server.put_back();
	} catch (const Failure &) {
		// The journal can't be read. The next run reports it.
	}
}

} // namespace icepath::isolation
