// SPDX-License-Identifier: Apache-2.0
#include "profiler/isolation/keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace icepath::isolation {
namespace {

// Long enough for an emulated CPU, and for /run on a disk.
constexpr int kIsolateMs = 60'000, kPutBackMs = 30'000, kAnswerMs = 10'000;

template <size_t N> std::string text_of(const std::array<char, N> &field)
{
	return {field.data(), strnlen(field.data(), field.size())};
}

std::vector<std::string> texts_of(const std::vector<KeeperReply> &replies)
{
	std::vector<std::string> texts;
	for (const KeeperReply &reply : replies)
		if (reply.text.front() != 0)
			texts.push_back(text_of(reply.text));
	return texts;
}

std::vector<cpuset::Step> steps_of(const std::vector<KeeperReply> &replies)
{
	std::vector<cpuset::Step> steps;
	for (const KeeperReply &reply : replies)
		if (reply.name.front() != 0)
			steps.push_back({text_of(reply.name), static_cast<cpuset::StepState>(reply.state), text_of(reply.text),
							 text_of(reply.remedy)});
	return steps;
}

KeeperRequest of_kind(KeeperRequest::Kind kind)
{
	KeeperRequest request{};
	request.kind = kind;
	return request;
}

} // namespace

Keeper::Keeper(const privilege::Identity &user)
	: process_("icepath-keeper", user, std::nullopt, // it limits itself: it stays root
			   [uid = user.uid](int socket, pid_t icepath) { keep(socket, icepath, uid); })
{}

Keeper::~Keeper()
{
	(void)put_back();
	// Only root can have stopped it, and only root can continue it. It then restores the machine.
	if (process_.pid() > 0)
		kill(process_.pid(), SIGCONT);
	process_.end(is_lost_ ? kAnswerMs : kPutBackMs);
}

std::vector<KeeperReply> Keeper::ask(const KeeperRequest &request, const std::vector<int> &fds, int patience_ms)
{
	std::vector<KeeperReply> replies(1);
	std::vector<Fd> none;
	bool answers = !is_over_ && channel::send(process_.socket(), &request, sizeof(request), fds);
	for (size_t i = 0; answers && i < replies.size(); i++) {
		answers = channel::receive(process_.socket(), &replies[i], sizeof(KeeperReply), none, patience_ms);
		if (answers && i == 0)
			replies.resize(1 + std::min<size_t>(replies[0].follow, kMostReplies - 1));
	}
	if (!answers) {
		is_lost_ = is_lost_ || !is_over_;
		is_over_ = true;
		throw KeeperLost(
			ExitCode::MachineCannot,
			fmt::format("isolation lost: the keeper (process {}) died or doesn't answer, and its changes of "
						"this machine may still be in effect: `sudo icepath doctor --restore` undoes them",
						process_.pid()));
	}
	if (replies[0].exit_code != 0)
		throw Failure(static_cast<ExitCode>(replies[0].exit_code), text_of(replies[0].text));
	return replies;
}

std::vector<cpuset::Step> Keeper::tune(const std::vector<Tuning> &tunings)
{
	KeeperRequest request = of_kind(KeeperRequest::Kind::Tune);
	for (const Tuning &tuning : tunings)
		if (is_of_the_machine(tuning))
			request.tunings.at(request.tuning_count++) = tuning;
	return steps_of(ask(request, {}, kAnswerMs));
}

std::vector<cpuset::Step> Keeper::isolate(const cpuset::CpuList &measured)
{
	KeeperRequest request = of_kind(KeeperRequest::Kind::Isolate);
	if (measured.size() > request.cpus.size())
		throw Failure(ExitCode::Usage, fmt::format("{} CPUs are more than the {} that one run can isolate",
												   measured.size(), request.cpus.size()));
	request.cpu_count = static_cast<uint32_t>(measured.size());
	std::ranges::copy(measured, request.cpus.begin());
	return steps_of(ask(request, {}, kIsolateMs));
}

void Keeper::admit(int pidfd) { ask(of_kind(KeeperRequest::Kind::Admit), {pidfd}, kAnswerMs); }

std::vector<std::string> Keeper::put_back_leftovers()
{
	return texts_of(ask(of_kind(KeeperRequest::Kind::PutBack), {}, kPutBackMs));
}

std::vector<std::string> Keeper::look()
{
	const std::vector<KeeperReply> replies = ask(of_kind(KeeperRequest::Kind::Look), {}, kAnswerMs);
	if (const auto lost = std::ranges::find_if(replies, &KeeperReply::lost); lost != replies.end())
		throw KeeperLost(ExitCode::MachineCannot, "isolation lost: " + text_of(lost->text));
	return texts_of(replies);
}

std::vector<std::string> Keeper::put_back() noexcept
{
	std::vector<std::string> sentences;
	if (is_over_)
		return sentences;
	try {
		sentences = put_back_leftovers();
	} catch (const Failure &failure) {
		sentences.emplace_back(failure.what());
	}
	is_over_ = true;
	return sentences;
}

} // namespace icepath::isolation
