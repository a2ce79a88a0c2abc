// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/injector_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/privilege/leave_caller.h"
#include "profiler/privilege/own_child.h"
#include "profiler/selftest/cpu_injections.h"
#include "profiler/selftest/injector.h"
#include "profiler/selftest/injector_filter.h"
#include "profiler/selftest/injector_requests.h"
#include "profiler/selftest/injector_rights.h"
#include "profiler/selftest/tools.h"

namespace icepath::selftest {
namespace {

class Server {
public:
	Server(pid_t icepath, privilege::Identity user) : icepath_(icepath), user_(std::move(user)) {}

	// Throws Failure; then the process answers nothing else.
	void prepare()
	{
		leave_the_users_session();
		tools_.emplace();
		// Whoever calls icepath mustn't freeze it beside its children, some of which take a CPU from all other tasks.
		if (const std::string why = privilege::move_to_root_groups(getpid()); !why.empty())
			throw Failure(ExitCode::MachineCannot,
						  "whoever calls icepath could stop the process that ends injections: " + why);
		const bool takes_filters = tools_->device_delay.is_there() && tools_->device_delay.get().takes_a_filter;
		keep_rights_for_injecting(takes_filters, user_, icepath_);
		allow_injecting_calls_only(takes_filters);
	}

	// `processes`: the sender and the receiver, or none.
	void answer(const InjectorRequest &request, std::vector<Fd> &processes)
	{
		switch (request.kind) {
		case InjectorRequest::Kind::Ready:
			return;
		case InjectorRequest::Kind::Awake:
			if (!tools_->awake.works())
				throw Failure(ExitCode::MachineCannot, tools_->awake.step().found);
			if (const cpuset::Problem problem = tools_->awake.hold())
				throw Failure(ExitCode::MachineCannot, *problem);
			return;
		case InjectorRequest::Kind::Begin:
			end();
			begin(request, processes);
			return;
		case InjectorRequest::Kind::End:
			end();
			return;
		}
		throw Failure(ExitCode::Internal, "the injecting process was asked for something that it doesn't know");
	}

	void end()
	{
		effect_.reset();
		spender_.reset();
		receiver_.reset();
	}

private:
	void begin(const InjectorRequest &request, std::vector<Fd> &processes)
	{
		Subject subject;
		subject.sender_cpu = request.sender_cpu;
		subject.receiver_cpu = request.receiver_cpu;
		subject.tools = &*tools_;
		for (const Fd &process : processes) {
			subject.receiver = privilege::check_own_child(process.get(), icepath_, user_.uid);
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

	static void shield(pid_t worker)
	{
		const sched_param priority{kShieldPriority};
		if (sched_setscheduler(worker, SCHED_FIFO, &priority))
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("workers can't run by SCHED_FIFO: {}", std::strerror(errno)));
	}

	const pid_t icepath_;
	const privilege::Identity user_;
	std::optional<Tools> tools_; // outlives its users
	Fd receiver_; // likewise
	std::unique_ptr<Spender> spender_; // on the sender's CPU
	std::unique_ptr<Effect> effect_;
};

// Closing another kind of descriptor may block: its file system, perhaps a user's program, or socket decides.
bool is_pidfd(const Fd &fd) { return privilege::pid_of(fd.get()).has_value(); }

InjectorReply refusal(const char *why)
{
	InjectorReply reply{};
	reply.failed = 1;
	std::string_view(why).copy(reply.why.data(), reply.why.size() - 1);
	return reply;
}

// Returns at the next request, or when the socket is closed. False: icepath has ended, even if another process holds
// its end of the socket.
bool await(int socket, const Fd &icepath)
{
	std::array<pollfd, 2> next = {pollfd{socket, POLLIN, 0}, pollfd{icepath.get(), POLLIN, 0}};
	while (icepath && poll(next.data(), next.size(), -1) < 0 && errno == EINTR) {
	}
	return icepath && next[1].revents == 0;
}

} // namespace

void serve_injections(int socket, pid_t icepath, const privilege::Identity &user)
{
	const Fd pidfd = pidfd_of(icepath);
	Server server(icepath, user);
	std::optional<InjectorReply> unready;
	try {
		server.prepare();
	} catch (const std::exception &error) {
		unready = refusal(error.what());
	}
	for (;;) {
		InjectorRequest request{};
		std::vector<Fd> processes;
		try {
			if (!await(socket, pidfd) || !channel::receive(socket, &request, sizeof(request), processes))
				return;
		} catch (const Failure &) {
			return; // it can't open descriptors any more, so it can't go on
		}
		if (!std::ranges::all_of(processes, is_pidfd)) { // icepath sends none
			server.end();
			return;
		}
		InjectorReply reply{};
		try {
			if (unready)
				reply = *unready;
			else
				server.answer(request, processes);
		} catch (const std::exception &error) {
			reply = refusal(error.what());
		}
		if (!channel::send(socket, &reply, sizeof(reply)) || unready)
			return;
	}
}

} // namespace icepath::selftest
