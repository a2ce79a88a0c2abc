// SPDX-License-Identifier: Apache-2.0
// The helper's side: it has some of root's rights, so it checks every request.
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>

#include "cpuset/affinity.h"
#include "cpuset/cpulist.h"
#include "cpuset/topology.h"
#include "profiler/capture/capture.h"
#include "profiler/failure.h"
#include "profiler/privilege/cpu_claim.h"
#include "profiler/privilege/helper_filter.h"
#include "profiler/privilege/own_child.h"
#include "profiler/privilege/rights.h"
#include "profiler/privilege/root_helper.h"
#include "profiler/privilege/running_program.h"

namespace icepath::privilege {
namespace {

// Most blocks end before the first look, which takes about 100 us of a CPU.
constexpr int kFirstLookMs = 200, kLookEveryMs = 100;

// Records in each slot. Their memory lasts until the last descriptor of it is closed, and only since Linux 5.11 it
// counts to the user's control group, so a member gets no more than a run needs.
constexpr uint32_t kMostRecords = 1u << 20, kMostRecordsOfMember = 1u << 16;
// Each sample takes some us of its CPU. A run's are at least 137 us apart (run::sampling_period_ns()).
constexpr uint64_t kShortestPeriodOfMemberNs = 100'000;

void put_skipped(const std::vector<capture::SkippedPrograms> &skipped, HelperReply &reply)
{
	reply.skipped_count = static_cast<uint32_t>(std::min(skipped.size(), reply.skipped.size()));
	std::copy_n(skipped.begin(), reply.skipped_count, reply.skipped.begin());
}

bool has_ended(const Fd &pidfd)
{
	pollfd look{pidfd.get(), POLLIN, 0};
	return poll(&look, 1, 0) == 1;
}

// Whether closing the descriptor takes no time. For a file, its file system decides that, which may be a user's program
// (FUSE); for a socket, its linger time does.
bool closes_at_once(const Fd &fd)
{
	if (pid_of(fd.get()))
		return true;
	int family = 0;
	linger waits{};
	socklen_t family_size = sizeof(family), waits_size = sizeof(waits);
	return getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &family, &family_size) == 0 &&
		   (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_VSOCK) &&
		   getsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &waits, &waits_size) == 0 &&
		   (waits.l_onoff == 0 || waits.l_linger == 0);
}

// A worker of middleware may not be traced between its entering a user namespace and its executing icepath-worker.
bool may_soon_be_traced(pid_t pid)
{
	constexpr int kPatienceMs = 2000, kEveryMs = 2;
	for (int waited_ms = 0; waited_ms < kPatienceMs; waited_ms += kEveryMs) {
		if (may_be_traced(pid))
			return true;
		poll(nullptr, 0, kEveryMs);
	}
	return false;
}

class Server {
public:
	Server(pid_t icepath, uid_t user, HelperRights rights)
		: icepath_(icepath), user_(user), rights_(rights), icepath_pidfd_(pidfd_of(icepath))
	{}

	// `sender`: the user by whom the request was sent, where the kernel tells.
	HelperReply answer(const HelperRequest &request, std::vector<Fd> &fds, std::optional<uid_t> sender,
					   std::vector<int> &to_send)
	{
		HelperReply reply{};
		switch (request.kind) {
		case HelperRequestKind::Load:
			load(request, reply, to_send);
			break;
		case HelperRequestKind::AddWorker:
			reply.worker = add_worker(fds);
			break;
		case HelperRequestKind::AddSocket:
			if (fds.size() != 1)
				throw Failure(ExitCode::Internal, "a socket was to be marked and none was sent");
			check_is_users(fds[0]);
			capture().add_socket(fds[0].get(), request.key);
			break;
		case HelperRequestKind::Follow:
			check_is_ours(fds);
			reply.worker =
				capture().follow(fds[0].get(), static_cast<uint32_t>(std::min<uint64_t>(request.key, UINT32_MAX)));
			break;
		case HelperRequestKind::Attach:
			capture().attach(request.probes);
			reply.available = capture().available();
			break;
		case HelperRequestKind::BeginBlock:
			begin_block(request);
			break;
		case HelperRequestKind::EndBlock:
			looks_ = false;
			put_skipped(capture().end_block(), reply);
			reply.unwatched = capture().unwatched_tasks();
			break;
		case HelperRequestKind::Claim:
			claim(request, reply);
			break;
		case HelperRequestKind::Look:
			put_skipped(capture().skipped_since(), reply);
			reply.worker = capture().list_ends();
			reply.unwatched = capture().unwatched_tasks();
			break;
		case HelperRequestKind::Target:
			reply.worker = take_target(fds, sender);
			break;
		default:
			throw Failure(ExitCode::Internal, "the root helper was asked for something that it doesn't know");
		}
		return reply;
	}

	void detach() { capture_.reset(); }

	// Returns at the next request, or when the socket is closed. False: icepath has ended, even if another process
	// holds its end of the socket.
	bool await(int socket)
	{
		if (icepath_pidfd_.get() < 0) // ended before it could be watched
			return false;
		std::array<pollfd, 2> next = {pollfd{socket, POLLIN, 0}, pollfd{icepath_pidfd_.get(), POLLIN, 0}};
		for (int wait_ms = kFirstLookMs;; wait_ms = kLookEveryMs) {
			const int ready = poll(next.data(), next.size(), looks_ ? wait_ms : -1);
			if (ready > 0)
				return next[1].revents == 0;
			if (ready == 0)
				capture().look_for_skipped();
			else if (errno != EINTR)
				return false;
		}
	}

private:
	void begin_block(const HelperRequest &request)
	{
		std::vector<int> pidfds;
		for (size_t i = 0; i < request.worker_count; i++) {
			const uint32_t worker = i < request.workers.size() ? request.workers[i] : UINT32_MAX;
			if (worker >= workers_.size())
				throw Failure(ExitCode::Internal, "a block names a worker that was never marked");
			pidfds.push_back(workers_[worker].get());
		}
		if (rights_ == HelperRights::OfItsFile && request.sample_period_ns != 0 &&
			request.sample_period_ns < kShortestPeriodOfMemberNs)
			throw Failure(ExitCode::Internal, "a block was to be sampled with a period out of range");
		capture().begin_block(
			pidfds,
			{request.families.begin(),
			 request.families.begin() + std::min<size_t>(request.family_count, request.families.size())},
			request.sample_period_ns);
		looks_ = request.looks != 0;
	}

	capture::Capture &capture()
	{
		if (!capture_)
			throw Failure(ExitCode::Internal, "the root helper was asked to capture before it had loaded the probes");
		return *capture_;
	}

	// Throws unless the request is one of a run: each CPU gets memory, and each helper slows the whole machine.
	std::vector<uint32_t> checked_cpus(const HelperRequest &request) const
	{
		if (capture_ || request.cpu_count > request.cpus.size() || request.records_per_slot == 0 ||
			(!targets_.empty() && !std::has_single_bit(request.records_per_slot)) ||
			request.records_per_slot > (rights_ == HelperRights::OfRoot ? kMostRecords : kMostRecordsOfMember) ||
			request.forced_tier > std::size(capture::kTierNames))
			throw Failure(ExitCode::Internal, "the root helper was asked to load twice, or with sizes out of range");
		const std::vector<uint32_t> cpus(request.cpus.begin(), request.cpus.begin() + request.cpu_count);
		const cpuset::CpuList online = cpuset::read_machine({}).online();
		for (auto cpu = cpus.begin(); cpu != cpus.end(); ++cpu) {
			if (!cpuset::contains(online, *cpu) || std::find(cpus.begin(), cpu, *cpu) != cpu)
				throw Failure(ExitCode::Internal,
							  fmt::format("the root helper was asked to load for CPU {}, which is offline, or twice "
										  "for it",
										  *cpu));
			if (rights_ == HelperRights::OfItsFile && !cpuset::contains(claimed_, *cpu))
				throw Failure(
					ExitCode::Internal,
					fmt::format("the root helper was asked to load for CPU {}, which it hasn't claimed", *cpu));
		}
		// Without a CPU there is no claim, and so no limit.
		if (rights_ == HelperRights::OfItsFile && cpus.empty())
			throw Failure(ExitCode::Internal, "the root helper was asked to load for no CPU");
		return cpus;
	}

	void load(const HelperRequest &request, HelperReply &reply, std::vector<int> &to_send)
	{
		const std::vector<uint32_t> cpus = checked_cpus(request);
		const capture::Owner user = {user_, group_of_user()};
		capture_.emplace(cpus, request.records_per_slot,
						 request.forced_tier ? std::optional(static_cast<capture::Tier>(request.forced_tier - 1))
											 : std::nullopt,
						 request.samples != 0 ? std::optional(user) : std::nullopt,
						 rights_ == HelperRights::OfItsFile ? std::optional(user) : std::nullopt, targets(),
						 std::array{static_cast<uint32_t>(icepath_), static_cast<uint32_t>(getpid())});
		// The helper wakes between blocks and in long ones, so it moves to other CPUs if there are any.
		cpuset::CpuList others = cpuset::read_permission().affinity;
		std::erase_if(others, [&](uint32_t cpu) { return cpuset::contains(cpus, cpu); });
		if (!others.empty())
			(void)cpuset::confine_process(others);
		reply.slot_bytes = capture_->slot_bytes();
		reply.slot_count = capture_->slot_count();
		reply.available = capture_->available();
		for (size_t i = 0; i < reply.choices.size(); i++) {
			const capture::Trial &trial = capture_->selection()[i];
			const auto &candidates = capture::kProbes[i].candidates;
			reply.choices[i].candidate =
				static_cast<uint32_t>(std::ranges::find(candidates, trial.candidate) - candidates.begin());
			channel::put(reply.choices[i].why_not, trial.why_not);
		}
		to_send = {capture_->slots_fd(), capture_->fills_fd()};
		if (const capture::NamedStacks *stacks = capture_->named_stacks()) {
			to_send.push_back(stacks->fd());
			to_send.push_back(capture_->user_stacks_fd());
			reply.knows_kernel = stacks->knows_kernel();
		}
		if (!targets_.empty())
			to_send.insert(to_send.end(), {capture_->taken_fd(), capture_->ends_fd()});
		const bool kprobes = capture_->uses_perf_events();
		limit_capabilities(for_capturing(kprobes));
		allow_capturing_calls_only({kprobes, request.samples != 0, !targets_.empty()});
	}

	void claim(const HelperRequest &request, HelperReply &reply)
	{
		const size_t count = std::min<size_t>(request.cpu_count, request.cpus.size());
		const std::vector<uint32_t> cpus(request.cpus.begin(), request.cpus.begin() + count);
		if (claim_ || capture_ || count == 0 || count != request.cpu_count ||
			std::ranges::any_of(cpus, [](uint32_t cpu) { return cpu >= CPU_SETSIZE; }))
			throw Failure(ExitCode::Internal,
						  "the root helper was asked to claim CPUs twice, too late, or impossible ones");
		try {
			claim_.emplace(cpus, icepath_, rights_ == HelperRights::OfItsFile ? std::optional(user_) : std::nullopt);
			claimed_ = cpus;
		} catch (const NoClaims &none) {
			channel::put(reply.message, none.what());
		}
	}

	// Root's helper has a group of its own, but icepath is the user by now.
	gid_t group_of_user() const
	{
		const auto group = rights_ == HelperRights::OfItsFile ? getgid() : group_of(icepath_);
		if (!group)
			throw Failure(ExitCode::Internal, "icepath has ended, so the root helper ends too");
		return *group;
	}

	// Throws unless there is one pidfd, of a child of icepath or of a thread of one, that runs as the invoking user.
	void check_is_ours(const std::vector<Fd> &fds) const
	{
		if (fds.size() != 1)
			throw Failure(ExitCode::Internal, "a worker was to be marked and none was sent");
		const pid_t pid = check_own_child(fds[0].get(), icepath_, user_);
		if (rights_ == HelperRights::OfItsFile && !may_soon_be_traced(pid))
			throw Failure(ExitCode::Internal, "the root helper touches no process with more rights than its user has");
	}

	// For root's helper, icepath vouches for sockets: they are those of workers.
	void check_is_users(const Fd &socket) const
	{
		struct stat its{};
		if (rights_ == HelperRights::OfItsFile && (fstat(socket.get(), &its) || its.st_uid != user_))
			throw Failure(ExitCode::Internal, "the root helper marks only sockets of its user");
	}

	uint32_t take_target(std::vector<Fd> &fds, std::optional<uid_t> sender)
	{
		if (rights_ != HelperRights::OfRoot || sender != 0)
			throw Failure(ExitCode::MachineCannot, "only root may name programs to watch: run `sudo icepath attach`");
		if (capture_ || fds.size() != 1 || targets_.size() >= kMaxTargets)
			throw Failure(ExitCode::Internal, "the root helper was asked to watch no program, too many, or too late");
		const icepath_rights might = check_target(fds[0].get(), icepath_);
		for (const NamedTarget &other : targets_)
			if (pid_of(other.pidfd.get()) == pid_of(fds[0].get()))
				throw Failure(ExitCode::Usage,
							  fmt::format("process {} is named twice", pid_of(fds[0].get()).value_or(-1)));
		targets_.push_back({std::move(fds[0]), might});
		return static_cast<uint32_t>(targets_.size());
	}

	std::vector<capture::Target> targets() const
	{
		std::vector<capture::Target> targets;
		for (const NamedTarget &target : targets_)
			targets.push_back({target.pidfd.get(), target.might});
		return targets;
	}

	uint32_t add_worker(std::vector<Fd> &fds)
	{
		// Cells are reopened in fresh processes: the ones that have ended make room.
		const auto ended = std::ranges::find_if(workers_, has_ended);
		if (ended == workers_.end() && workers_.size() >= kMaxWorkers)
			throw Failure(ExitCode::Internal, "there are too many workers to mark");
		check_is_ours(fds);
		if (capture_)
			capture_->add_worker(fds[0].get());
		const auto number = static_cast<uint32_t>(ended - workers_.begin());
		if (ended == workers_.end())
			workers_.push_back(std::move(fds[0]));
		else
			*ended = std::move(fds[0]);
		return number;
	}

	const pid_t icepath_;
	const uid_t user_;
	const HelperRights rights_;
	const Fd icepath_pidfd_;
	std::optional<CpuClaim> claim_;
	std::vector<uint32_t> claimed_;
	std::optional<capture::Capture> capture_;
	std::vector<Fd> workers_;
	struct NamedTarget {
		Fd pidfd;
		icepath_rights might;
	};
	std::vector<NamedTarget> targets_;
	bool looks_ = false; // in this block
};

} // namespace

void serve(int socket, pid_t icepath, uid_t user, HelperRights rights)
{
	Server server(icepath, user, rights);
	HelperRequest request{};
	for (;;) {
		std::vector<Fd> fds;
		std::vector<int> to_send;
		std::optional<uid_t> sender;
		try {
			if (!server.await(socket) || !channel::receive(socket, &request, sizeof(request), fds, -1, &sender))
				return;
		} catch (const Failure &) {
			return; // it can't open descriptors any more, so it can't go on
		}
		if (!std::ranges::all_of(fds, closes_at_once)) { // icepath sends none
			server.detach();
			return;
		}
		HelperReply reply{};
		bool ends = false;
		try {
			reply = server.answer(request, fds, sender, to_send);
		} catch (const std::exception &error) {
			const Failure failure = failure_of(error);
			reply.exit_code = static_cast<int32_t>(failure.code());
			channel::put(reply.message, failure.what());
			to_send.clear();
			ends = dynamic_cast<const RightsKept *>(&error) != nullptr;
		}
		if (ends)
			server.detach();
		if (!channel::send(socket, &reply, sizeof(reply), to_send) || ends)
			return;
	}
}

} // namespace icepath::privilege
