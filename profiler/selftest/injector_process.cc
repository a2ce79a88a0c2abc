// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/injector_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "profiler/failure.h"
#include "profiler/run/session.h"
#include "profiler/selftest/injector_requests.h"
#include "profiler/selftest/injector_server.h"

namespace icepath::selftest {
namespace {

// An emulated CPU is slow at initial loading, and at making a network namespace.
constexpr int kFirstAnswerMs = 60'000, kTrialMs = 60'000, kAnswerMs = 10'000;
constexpr int kInterruptedMs = 1'000; // after the user's interrupt

InjectorRequest request_for(InjectorRequest::Kind kind, const std::string &name = "",
							const std::vector<uint32_t> &cpus = {0, 0})
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
	: process_("icepath-inject", user, std::nullopt, // it limits itself once it has opened root's files
			   [&](int socket, pid_t icepath) { serve_injections(socket, icepath, user); })
{
	const std::string why_not = ask(request_for(InjectorRequest::Kind::Ready), kFirstAnswerMs);
	if (!why_not.empty())
		throw Failure(ExitCode::MachineCannot, why_not);
	why_not_awake_ = ask(request_for(InjectorRequest::Kind::Awake), kAnswerMs);
}

bool InjectorProcess::await_answer(int patience_ms) const
{
	constexpr int kLookEveryMs = 100;
	pollfd answer{process_.socket(), POLLIN, 0};
	for (int waited_ms = 0; waited_ms < patience_ms; waited_ms += kLookEveryMs) {
		if (poll(&answer, 1, kLookEveryMs) > 0)
			return true;
		if (run::is_interrupted())
			patience_ms = std::min(patience_ms, waited_ms + kInterruptedMs);
	}
	return false;
}

void InjectorProcess::lose()
{
	const pid_t process = process_.pid();
	lost_ = process_.end() ? "the injecting process died, or was ended because it didn't answer"
						   : fmt::format("the injecting process (process {0}) doesn't answer, and what it put in "
										 "may still be there; end it as root: kill -9 {0}",
										 process);
}

std::string InjectorProcess::ask(const InjectorRequest &request, int patience_ms, const std::vector<int> &fds)
{
	InjectorReply reply{};
	std::vector<Fd> none;
	if (lost_.empty() &&
		(!channel::send(process_.socket(), &request, sizeof(request), fds) || !await_answer(patience_ms) ||
		 !channel::receive(process_.socket(), &reply, sizeof(reply), none, 0)))
		lose();
	if (!lost_.empty())
		throw Failure(ExitCode::MachineCannot, lost_);
	if (!reply.failed)
		return {};
	return {reply.why.data(), strnlen(reply.why.data(), reply.why.size())};
}

std::string InjectorProcess::try_it(const std::string &name, const std::vector<uint32_t> &cpus)
{
	const std::string why_not = ask(request_for(InjectorRequest::Kind::Begin, name, cpus), kTrialMs);
	end();
	return why_not;
}

void InjectorProcess::begin(const std::string &name, const Traffic &traffic, const std::vector<uint32_t> &cpus,
							const std::vector<uint32_t> &tids)
{
	std::vector<Fd> workers;
	for (const uint32_t tid : tids) {
		workers.push_back(pidfd_of(tid));
		if (!workers.back())
			throw Failure(ExitCode::MachineCannot, fmt::format("worker {} has ended: {}", tid, std::strerror(errno)));
	}
	InjectorRequest request = request_for(InjectorRequest::Kind::Begin, name, cpus);
	request.shielded = traffic.shielded;
	request.sender_awake = traffic.sender_awake;
	const std::string why_not = ask(request, kAnswerMs, {workers.front().get(), workers.back().get()});
	if (!why_not.empty())
		throw Failure(ExitCode::MachineCannot, name.empty() ? why_not : name + ": " + why_not);
}

void InjectorProcess::end() noexcept
{
	try {
		ask(request_for(InjectorRequest::Kind::End), kAnswerMs);
	} catch (const Failure &) {
		// The next begin() reports it, and so does finish().
	}
}

std::string InjectorProcess::finish()
{
	if (lost_.empty() && !process_.end())
		lose();
	return lost_;
}

} // namespace icepath::selftest
