// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/injector_process.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "profiler/failure.h"
#include "profiler/privilege/own_child.h"
#include "profiler/selftest/injector.h"
#include "profiler/selftest/spender.h"

namespace icepath::selftest {

struct InjectorRequest {
	enum class Kind : uint32_t { Awake, Begin, End } kind;
	std::array<char, 32> name;
	uint32_t sender_cpu, receiver_cpu;
	uint32_t shielded, sender_awake; // Begin
};

namespace {

struct InjectorReply {
	uint32_t failed;
	std::array<char, 384> why;
};

constexpr int kAnswerMs = 60'000; // an emulated CPU takes its time

class Server {
public:
	Server(pid_t icepath, uid_t user) : icepath_(icepath), user_(user) {}

	// `processes`: the sender and the receiver, or nobody.
	void answer(const InjectorRequest &request, std::vector<Fd> &processes)
	{
		switch (request.kind) {
		case InjectorRequest::Kind::Awake:
			awake_.emplace();
			if (awake_->step().state == cpuset::StepState::NotPossible)
				throw Failure(ExitCode::MachineCannot, awake_->step().found);
			must(awake_->hold());
			return;
		case InjectorRequest::Kind::Begin:
			begin(request, processes);
			return;
		case InjectorRequest::Kind::End:
			effect_.reset();
			spender_.reset();
			return;
		}
		throw Failure(ExitCode::Internal, "the injecting process was asked for something that it doesn't know");
	}

private:
	void begin(const InjectorRequest &request, std::vector<Fd> &processes)
	{
		effect_.reset();
		spender_.reset();
		Subject subject;
		subject.sender_cpu = request.sender_cpu;
		subject.receiver_cpu = request.receiver_cpu;
		subject.awake = &awake_;
		receiver_.reset();
		for (const Fd &process : processes) {
			subject.receiver = privilege::check_own_child(process.get(), icepath_, user_);
			if (request.shielded)
				shield(subject.receiver);
		}
		if (!processes.empty()) {
			receiver_ = std::move(processes.back());
			subject.receiver_pidfd = receiver_.get();
		}
		if (request.sender_awake)
			spender_ = std::make_unique<Spender>("selftest-awake", request.sender_cpu);
		if (const size_t length = strnlen(request.name.data(), request.name.size()))
			effect_ = put_in({request.name.data(), length}, subject);
	}

	static void must(const cpuset::Problem &problem)
	{
		if (problem)
			throw Failure(ExitCode::MachineCannot, *problem);
	}

	static void shield(pid_t worker)
	{
		const sched_param priority{kShieldPriority};
		if (sched_setscheduler(worker, SCHED_FIFO, &priority))
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("workers can't run by SCHED_FIFO: {}", std::strerror(errno)));
	}

	const pid_t icepath_;
	const uid_t user_;
	std::optional<cpuset::KeptAwake> awake_;
	Fd receiver_; // outlives what is done to it
	std::unique_ptr<Spender> spender_; // on the sender's CPU
	std::unique_ptr<Effect> effect_;
};

void serve(int socket, pid_t icepath, uid_t user)
{
	Server server(icepath, user);
	for (;;) {
		InjectorRequest request{};
		std::vector<Fd> processes;
		if (!channel::receive(socket, &request, sizeof(request), processes))
			return;
		InjectorReply reply{};
		try {
			server.answer(request, processes);
		} catch (const std::exception &error) {
			reply.failed = 1;
			std::string_view(error.what()).copy(reply.why.data(), reply.why.size() - 1);
		}
		if (!channel::send(socket, &reply, sizeof(reply)))
			return;
	}
}

InjectorRequest request_for(InjectorRequest::Kind kind, const std::string &name, const std::vector<uint32_t> &cpus)
{
	InjectorRequest request{};
	request.kind = kind;
	name.copy(request.name.data(), request.name.size() - 1);
	request.sender_cpu = cpus.front();
	request.receiver_cpu = cpus.back();
	return request;
}

} // namespace

InjectorProcess::InjectorProcess(const privilege::Identity &user)
{
	auto [ours, theirs] = channel::open_pair();
	const pid_t icepath = getpid();
	pid_ = fork();
	if (pid_ < 0)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot fork what injects: {}", std::strerror(errno)));
	if (pid_ == 0) {
		ours.reset();
		signal(SIGINT, SIG_IGN); // a terminal's Ctrl-C goes to the whole group
		signal(SIGTERM, SIG_IGN);
		prctl(PR_SET_NAME, "icepath-inject");
		// No signal when icepath dies: the socket's end is one, and then there may be a control group to take away.
		serve(theirs.get(), icepath, user.uid);
		_exit(0);
	}
	socket_ = std::move(ours);
	why_not_awake_ = ask(request_for(InjectorRequest::Kind::Awake, "", {0, 0}));
}

InjectorProcess::~InjectorProcess()
{
	socket_.reset();
	waitpid(pid_, nullptr, 0);
}

std::string InjectorProcess::ask(const InjectorRequest &request, const std::vector<int> &fds) const
{
	InjectorReply reply{};
	std::vector<Fd> none;
	if (!channel::send(socket_.get(), &request, sizeof(request), fds) ||
		!channel::receive(socket_.get(), &reply, sizeof(reply), none, kAnswerMs))
		throw Failure(ExitCode::MachineCannot, "the process that injects died or doesn't answer");
	if (!reply.failed)
		return {};
	return {reply.why.data(), strnlen(reply.why.data(), reply.why.size())};
}

std::string InjectorProcess::try_it(const std::string &name, const std::vector<uint32_t> &cpus)
{
	const std::string why_not = ask(request_for(InjectorRequest::Kind::Begin, name, cpus));
	end();
	return why_not;
}

void InjectorProcess::begin(const std::string &name, const Traffic &traffic, const std::vector<uint32_t> &cpus,
							const std::vector<uint32_t> &tids)
{
	std::vector<Fd> workers;
	for (const uint32_t tid : tids)
		workers.emplace_back(static_cast<int>(syscall(SYS_pidfd_open, tid, 0)));
	InjectorRequest request = request_for(InjectorRequest::Kind::Begin, name, cpus);
	request.shielded = traffic.shielded;
	request.sender_awake = traffic.sender_awake;
	const std::string why_not = ask(request, {workers.front().get(), workers.back().get()});
	if (!why_not.empty())
		throw Failure(ExitCode::MachineCannot, name.empty() ? why_not : name + ": " + why_not);
}

void InjectorProcess::end() noexcept
{
	try {
		ask(request_for(InjectorRequest::Kind::End, "", {0, 0}));
	} catch (const Failure &) {
		// It died: what it had put in went with it. The next begin() says so.
	}
}

} // namespace icepath::selftest
