// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/root_space.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "profiler/failure.h"
#include "profiler/privilege/own_space.h"

namespace icepath::privilege {
namespace {

constexpr int kAnswerMs = 10'000;

struct Request {
	enum class Kind : uint32_t {
		Make, // words: kept folders, with their descriptors
		Hand, // descriptors for the next worker, and their numbers there
		Vary, // words: variables of the next worker, "NAME=VALUE"
		Start, // words: the worker's arguments
	} kind;
	std::array<int, channel::kMaxFds> numbers;
	uint32_t word_count;
	std::array<char, 16384> words; // each NUL-terminated
};

struct Reply {
	Refusal refusal; // error 0: none
	pid_t pid; // Start
};

Request request_of(Request::Kind kind, const std::vector<std::string> &words = {})
{
	Request request{};
	request.kind = kind;
	size_t used = 0;
	for (const std::string &word : words) {
		if (used + word.size() + 1 > request.words.size())
			throw Failure(ExitCode::MachineCannot,
						  "paths of plug-ins, or variables of an arm, are longer than icepath can pass on");
		word.copy(request.words.data() + used, word.size());
		used += word.size() + 1;
		++request.word_count;
	}
	return request;
}

std::vector<std::string> words_of(const Request &request)
{
	std::vector<std::string> words;
	for (size_t at = 0; words.size() < request.word_count && at < request.words.size();) {
		words.emplace_back(request.words.data() + at, strnlen(request.words.data() + at, request.words.size() - at));
		at += words.back().size() + 1;
	}
	return words;
}

std::vector<std::string> environment_here()
{
	std::vector<std::string> all;
	for (char **one = environ; one && *one; one++)
		all.emplace_back(*one);
	return all;
}

class Server {
public:
	Server(Identity user, std::string worker, void (*before_it)(), std::vector<std::string> environment)
		: user_(std::move(user)), worker_(std::move(worker)), before_it_(before_it),
		  environment_(std::move(environment))
	{}

	pid_t answer(const Request &request, std::vector<Fd> &fds)
	{
		switch (request.kind) {
		case Request::Kind::Make:
			make(words_of(request), fds);
			return 0;
		case Request::Kind::Hand:
			for (size_t i = 0; i < fds.size(); i++)
				handed_.emplace_back(std::move(fds[i]), request.numbers.at(i));
			return 0;
		case Request::Kind::Vary:
			vary(words_of(request));
			return 0;
		case Request::Kind::Start:
			return start(words_of(request));
		}
		errno = EINVAL;
		throw Refused("an unknown request");
	}

private:
	// Whatever happens, this process is the user afterwards.
	void make(const std::vector<std::string> &folders, std::vector<Fd> &opened)
	{
		errno = EALREADY;
		must(!std::exchange(asked_, true), "making namespaces twice");
		try {
			errno = EINVAL;
			must(folders.size() == opened.size(), "keeping other folders than were opened");
			std::vector<Kept> kept;
			for (size_t i = 0; i < folders.size(); i++)
				kept.push_back({folders[i], std::move(opened[i])});
			const std::vector<Kept> clones = cloned(kept);
			must(unshare(CLONE_NEWNS | CLONE_NEWNET) == 0, "unshare");
			empty_folders(clones);
			raise_loopback();
		} catch (...) {
			become_user();
			throw;
		}
		become_user();
		made_ = true;
	}

	// With icepath's environment, for the workers.
	void become_user() noexcept
	{
		if (user_.stays_root)
			return;
		for (std::string &one : environment_)
			putenv(one.data());
		try {
			become_real_user();
		} catch (const Failure &) {
			_exit(1);
		}
		describe_in_environment(user_);
	}

	// This process itself keeps its environment.
	void vary(std::vector<std::string> variables)
	{
		errno = EINVAL;
		must(made_ && std::ranges::all_of(variables,
										  [](const std::string &one) { return one.find('=') != std::string::npos; }),
			 "variables of a worker");
		varied_ = std::move(variables);
	}

	pid_t start(std::vector<std::string> words)
	{
		const auto handed = std::exchange(handed_, {});
		std::vector<std::string> variables = std::exchange(varied_, {});
		errno = EINVAL;
		must(made_, "a worker before the namespaces");
		words.insert(words.begin(), worker_);
		// A child of icepath, as if icepath had forked it.
		const auto pid = static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, 0));
		must(pid >= 0, "clone");
		if (pid == 0)
			become_worker(words, handed, variables);
		return pid;
	}

	[[noreturn]] void become_worker(std::vector<std::string> &words, const std::vector<std::pair<Fd, int>> &handed,
									std::vector<std::string> &variables)
	{
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		setsid();
		int highest = STDERR_FILENO;
		for (const auto &[fd, number] : handed)
			highest = std::max({highest, fd.get(), number});
		std::vector<int> beyond; // so that no number collides
		for (const auto &[fd, number] : handed)
			beyond.push_back(fcntl(fd.get(), F_DUPFD_CLOEXEC, highest + 1));
		for (size_t i = 0; i < handed.size(); i++)
			if (handed[i].second <= STDERR_FILENO || dup2(beyond[i], handed[i].second) < 0)
				_exit(126);
		before_it_();
		for (std::string &one : variables)
			putenv(one.data());
		std::vector<char *> arguments;
		for (std::string &word : words)
			arguments.push_back(word.data());
		arguments.push_back(nullptr);
		execv(worker_.c_str(), arguments.data());
		_exit(127);
	}

	const Identity user_;
	const std::string worker_;
	void (*const before_it_)();
	std::vector<std::string> environment_;
	bool asked_ = false, made_ = false;
	std::vector<std::pair<Fd, int>> handed_; // for the next worker, as is what follows
	std::vector<std::string> varied_;
};

void serve(int socket, pid_t icepath, Server server)
{
	const Fd pidfd = pidfd_of(icepath);
	std::array<pollfd, 2> next = {pollfd{socket, POLLIN, 0}, pollfd{pidfd.get(), POLLIN, 0}};
	while (pidfd && (poll(next.data(), next.size(), -1) > 0 || errno == EINTR) && next[1].revents == 0) {
		Request request{};
		Reply reply{};
		std::vector<Fd> fds;
		try {
			if (!channel::receive(socket, &request, sizeof(request), fds))
				return;
			reply.pid = server.answer(request, fds);
		} catch (const Refused &refused) {
			reply.refusal = refused.refusal();
		} catch (const std::exception &error) {
			reply.refusal = Refused(error.what()).refusal();
		}
		fds.clear();
		if (!channel::send(socket, &reply, sizeof(reply)))
			return;
	}
}

Reply ask(int socket, const Request &request, const std::vector<int> &fds = {})
{
	Reply reply{};
	std::vector<Fd> none;
	if (!channel::send(socket, &request, sizeof(request), fds) ||
		!channel::receive(socket, &reply, sizeof(reply), none, kAnswerMs))
		throw Failure(ExitCode::MachineCannot, "the process that starts middleware's workers died or doesn't answer");
	return reply;
}

Failure failure_of(const Refusal &refusal)
{
	return {ExitCode::MachineCannot,
			fmt::format("{} failed: {}", std::string(refusal.what, strnlen(refusal.what, sizeof(refusal.what))),
						std::strerror(refusal.error))};
}

} // namespace

RootSpace::RootSpace(const Identity &user, const std::string &worker, void (*before_it)())
	: process_("icepath-space", user, user.stays_root ? std::nullopt : std::optional(for_spaces()),
			   [&, environment = environment_here()](int socket, pid_t icepath) {
				   serve(socket, icepath, Server(user, worker, before_it, environment));
			   })
{}

void RootSpace::make(const std::vector<std::string> &kept)
{
	try {
		make_of(open_kept(kept));
	} catch (const Refused &refused) {
		throw failure_of(refused.refusal());
	}
}

void RootSpace::make_of(const std::vector<Kept> &opened)
{
	if (opened.size() > channel::kMaxFds)
		throw Failure(ExitCode::MachineCannot, fmt::format("{} folders with plug-ins below /tmp are more than {}",
														   opened.size(), channel::kMaxFds));
	std::vector<std::string> paths;
	std::vector<int> fds;
	for (const auto &[path, folder] : opened) {
		paths.push_back(path);
		fds.push_back(folder.get());
	}
	const Refusal refusal = ask(process_.socket(), request_of(Request::Kind::Make, paths), fds).refusal;
	if (refusal.error != 0)
		throw failure_of(refusal);
}

pid_t RootSpace::start(const std::vector<std::string> &arguments, const std::vector<int> &fds,
					   const std::vector<std::pair<std::string, std::string>> &environment)
{
	std::vector<std::string> variables;
	for (const auto &[name, value] : environment)
		variables.push_back(name + "=" + value);
	if (!variables.empty())
		if (const Refusal refusal = ask(process_.socket(), request_of(Request::Kind::Vary, variables)).refusal;
			refusal.error != 0) {
			errno = refusal.error;
			return -1;
		}
	for (size_t at = 0; at < fds.size(); at += channel::kMaxFds) {
		const std::vector<int> some(fds.begin() + static_cast<ptrdiff_t>(at),
									fds.begin() + static_cast<ptrdiff_t>(std::min(fds.size(), at + channel::kMaxFds)));
		Request request = request_of(Request::Kind::Hand);
		std::ranges::copy(some, request.numbers.begin());
		ask(process_.socket(), request, some);
	}
	const Reply reply = ask(process_.socket(), request_of(Request::Kind::Start, arguments));
	errno = reply.refusal.error;
	return reply.refusal.error == 0 ? reply.pid : -1;
}

} // namespace icepath::privilege
