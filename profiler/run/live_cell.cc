// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/live_cell.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "cpuset/affinity.h"
#include "profiler/capture/thread_pidfd.h"

namespace icepath::run {
namespace {

constexpr uint64_t most_responses()
{
	for (const model::Factor &factor : model::kFactors)
		if (factor.level == &model::Levels::responses)
			return factor.most;
	return UINT64_MAX;
}

// Per block: 26 MB of stamps for each channel, with room for the warm-up and kUsefulMessages at the most responses.
constexpr uint32_t kMostResponses = 100'000;
static_assert(kMostResponses >= (kWarmUp + kUsefulMessages) * most_responses());

static_assert(rundir::kMaxSides <= privilege::kMaxBlockWorkers);

// After a block's deadline: when its workers' calls are cancelled, and when one without a reply hangs.
constexpr uint64_t kCancelNs = 1'000'000'000, kGiveUpNs = 3'000'000'000;
static_assert(kCancelNs > worker::kPatienceNs);

// For all workers of a cell together: longer than a library's own threads need to end.
constexpr uint64_t kLeaveNs = 500'000'000;

// Only a lossy target may deliver a message twice, and stamps have room for `room` of them.
bool can_be_true(const worker::BlockReply &reply, const model::Cell &cell, bool first, uint32_t messages, uint32_t room)
{
	const uint64_t most_sent = first ? messages : messages * cell.levels.responses;
	const uint64_t most_received = cell.traits.has(model::Trait::Lossy) ? room
								   : first                              ? messages * cell.levels.responses
																		: messages;
	const uint64_t senders = first ? 1 : model::senders_of(cell);
	return reply.sends <= (sends_from(cell, first) ? most_sent : 0) &&
		   reply.recvs <= (receives_at(cell, first) ? senders * most_received : 0);
}

} // namespace

// Within a process nothing shows which side a library's thread works for. A side that never sleeps would keep such a
// thread off the CPU.
bool may_pin_library_threads(const model::Cell &cell)
{
	return cell.mechanisms.has(model::Mechanism::LibraryThreads) && model::between(cell) == model::Between::Processes &&
		   !model::never_sleeps(cell.wait);
}

LiveCell::LiveCell(const model::Cell &cell, const std::string &plugin, uint32_t number, uint32_t max_messages,
				   const privilege::SlotsView &slots, privilege::Helper &helper, const Surroundings &around,
				   const std::vector<uint32_t> &replaced)
	: cell_(cell), number_(number), daemon_clock_(around.daemon_clock), keeper_(around.isolated.keeper),
	  pins_library_(around.isolated.pins_library_threads && may_pin_library_threads(cell)),
	  socket_keys_(cell.graph.channels.size())
{
	uint32_t capacity = std::min(max_messages, rundir::most_counted(cell_.graph.flows.size()) + kWarmUp);
	if (cell_.levels.responses > 1)
		capacity =
			static_cast<uint32_t>(std::min<uint64_t>(uint64_t{capacity} * cell_.levels.responses, kMostResponses));
	memory_.emplace(title(), static_cast<uint32_t>(cell_.graph.channels.size()), capacity);
	start_workers(around);
	if (slots.mapped() && cell_.mechanisms.has(model::Mechanism::LibraryThreads))
		follow_threads(around.daemon_family, replaced, helper);
	open(plugin, slots, helper);
	if (around.isolated.locks_memory)
		lock_memory();
}

void LiveCell::start_workers(const Surroundings &around)
{
	std::vector<std::string> sides;
	for (size_t side = 0; side < cell_.graph.sides.size(); side++)
		sides.push_back(fmt::format("{} of {}", model::side_name(cell_, side), title()));
	if (model::between(cell_) == model::Between::Processes)
		for (const std::string &side : sides)
			workers_.push_back(std::make_unique<Worker>(worker_program(), side, around.space, around.environment));
	else
		workers_ = Worker::start(worker_program(), "worker of " + title(), sides,
								 model::between(cell_) == model::Between::OneThread, around.space, around.environment);
	for (const auto &worker : workers_) // a side's thread is the main one, unless its worker reports another
		tids_.push_back(static_cast<uint32_t>(worker->process().pid()));
}

// Called before the plug-in is loaded: a library starts threads early.
void LiveCell::follow_threads(uint32_t daemon_family, const std::vector<uint32_t> &replaced, privilege::Helper &helper)
{
	std::set<pid_t> followed; // sides may share a process
	for (const auto &worker : workers_)
		if (followed.insert(worker->process().pid()).second)
			families_.push_back(helper.follow(worker->process().pidfd(),
											  families_.size() < replaced.size() ? replaced[families_.size()] : 0));
	if (daemon_family)
		families_.push_back(daemon_family);
}

Fd LiveCell::pidfd_of(size_t side) const
{
	const Worker &worker = *workers_[side];
	const auto pid = static_cast<uint32_t>(worker.process().pid());
	if (tids_[side] == pid)
		return Fd(fcntl(worker.process().pidfd(), F_DUPFD_CLOEXEC, 0));
	Fd pidfd(capture::open_thread(static_cast<pid_t>(tids_[side])));
	// A worker's report needn't be true. While the thread lives, its tid isn't reused.
	if (!pidfd || access(fmt::format("/proc/{}/task/{}", pid, tids_[side]).c_str(), F_OK))
		throw WorkerFailed(fmt::format("the {} named a thread that isn't its own", worker.what()));
	return pidfd;
}

// Uses the user's own rights, so that another user's task can't be moved.
void LiveCell::pin(size_t side, const Fd &task) const
{
	if (const auto problem = cpuset::pin(static_cast<pid_t>(tids_[side]), cell_.graph.sides[side].cpu))
		throw Failure(ExitCode::MachineCannot, *problem);
	pollfd end{task.get(), POLLIN, 0};
	if (poll(&end, 1, 0) > 0) // then its tid may have been reused for another task
		throw WorkerFailed(fmt::format("the {} ended while it was pinned", workers_[side]->what()));
}

void LiveCell::open(const std::string &plugin, const privilege::SlotsView &slots, privilege::Helper &helper)
{
	std::vector<int> shared = {memory_->fd()};
	if (slots.mapped())
		shared.push_back(slots.fills_fd());
	Endpoints endpoints(cell_, workers_, std::move(shared));
	if (pins_library_)
		take_places(helper); // threads that the library starts inherit the CPU
	endpoints.open(plugin, memory_->capacity());
	granted_ = endpoints.granted();
	if (model::between(cell_) == model::Between::Threads)
		tids_ = endpoints.threads();
	if (!pins_library_)
		take_places(helper);
	if (slots.mapped())
		mark_sockets(endpoints, helper);
}

void LiveCell::take_places(privilege::Helper &helper)
{
	for (size_t side = 0; side < workers_.size(); side++) {
		if (side == 0 || model::between(cell_) != model::Between::OneThread) {
			const Fd task = pidfd_of(side);
			helper_numbers_.push_back(helper.add_worker(task.get())); // the helper checks whose it is
			if (keeper_)
				keeper_->admit(task.get()); // before it is pinned, because a partition changes where it may run
			pin(side, task);
		}
	}
}

std::string LiveCell::not_locked_notice() const
{
	return not_locked_.empty()
			   ? ""
			   : fmt::format("{}: its workers' memory isn't locked: {}. Where memory runs short, messages may wait for "
							 "their pages: raise RLIMIT_MEMLOCK (docker run --ulimit memlock=-1)",
							 title(), not_locked_);
}

// Includes what the plug-in has mapped by now.
void LiveCell::lock_memory()
{
	worker::Request request{};
	request.kind = worker::RequestKind::LockMemory;
	std::set<pid_t> asked; // sides may share a process
	for (const auto &worker : workers_) {
		if (!asked.insert(worker->process().pid()).second)
			continue;
		std::vector<Fd> none;
		const worker::Reply reply = worker->ask(request, {}, none);
		not_locked_.assign(reply.message, strnlen(reply.message, sizeof(reply.message)));
		if (!not_locked_.empty())
			return;
	}
}

void LiveCell::mark_sockets(const Endpoints &endpoints, privilege::Helper &helper)
{
	for (uint32_t channel = 0; channel < socket_keys_.size(); channel++)
		for (uint32_t end = 0; end < 2; end++) {
			const uint64_t key = ((uint64_t{number_} + 1) * rundir::kMaxSides + channel) * 2 + end;
			for (const Fd &socket : endpoints.sockets(channel, end)) {
				helper.add_socket(socket.get(), key);
				socket_keys_[channel][end] = key;
			}
			// If a fan-in has one socket for all senders, the first channel marked it.
			if (end == 1 && is_fan_in(cell_) && endpoints.sockets(channel, end).empty())
				socket_keys_[channel][end] = socket_keys_[0][end];
		}
}

namespace {

bool may_have_sockets(const model::Cell &cell)
{
	return cell.mechanisms.has(model::Mechanism::Socket) || cell.kind == model::kAdapter;
}

void add_groups(const worker::SocketsReply &told, uint32_t side, std::vector<model::SocketGroup> &groups)
{
	for (size_t i = 0; i < std::min<size_t>(told.groups_used, told.groups.size()); i++)
		if (model::can_be_true(told.groups[i]))
			groups.emplace_back(told.groups[i]).side = side;
}

} // namespace

// All processes at once. Those of one cell are in one network namespace, so the first one's counts are those of all.
LiveCell::SeenSockets LiveCell::ask_for_sockets() const
{
	constexpr int kPatienceMs = 2000;
	worker::Request request{};
	request.kind = worker::RequestKind::LookAtSockets;
	std::vector<uint32_t> asked;
	std::set<pid_t> processes; // sides may share one
	for (uint32_t side = 0; side < workers_.size(); side++)
		if (processes.insert(workers_[side]->process().pid()).second) {
			workers_[side]->send(request, {});
			asked.push_back(side);
		}
	SeenSockets seen;
	for (const uint32_t side : asked) {
		std::vector<Fd> none;
		const worker::SocketsReply told = workers_[side]->receive(none, kPatienceMs).looked;
		add_groups(told, side, seen.sockets.groups);
		if (told.has_counts == 0 || seen.sockets.counts)
			continue;
		seen.sockets.counts.emplace();
		seen.sockets.loopback_mtu = told.loopback_mtu <= model::kMostMtu ? told.loopback_mtu : 0;
		seen.counts = told.counts;
	}
	return seen;
}

void LiveCell::look_at_sockets()
{
	seen_sockets_.reset();
	look_failed_.clear();
	if (!may_have_sockets(cell_))
		return;
	try {
		seen_sockets_ = ask_for_sockets();
	} catch (const WorkerFailed &failed) {
		look_failed_ = failed.what();
	}
}

void LiveCell::add_sockets(model::Block &block) const
{
	if (!block_.sockets || !block.failure.empty())
		return;
	try {
		SeenSockets now = ask_for_sockets();
		if (now.sockets.counts && block_.sockets->sockets.counts)
			now.sockets.counts = model::believable(model::counts_between(block_.sockets->counts, now.counts));
		else
			now.sockets.counts.reset();
		block.sockets = std::move(now.sockets);
	} catch (const WorkerFailed &failed) {
		block.failure = failed.what();
	}
}

void LiveCell::begin(const BlockWish &wish, const privilege::SlotsView &slots, uint64_t now_ns)
{
	block_ = {};
	block_.wish = wish;
	block_.replies.resize(workers_.size());
	block_.sockets = std::exchange(seen_sockets_, std::nullopt);
	block_.failure = std::exchange(look_failed_, "");
	block_.over = !block_.failure.empty();
	if (block_.over)
		return;
	for (worker::SenderState &sender : memory_->control().senders)
		sender.last_seq = UINT64_MAX;
	worker::Request request{};
	request.kind = worker::RequestKind::RunBlock;
	request.block.one_way = !model::is_answered(cell_.pattern);
	const auto room = static_cast<uint32_t>(memory_->capacity() / cell_.levels.responses);
	request.block.levels = cell_.levels;
	request.block.warm_up = std::min(wish.warm_up, room);
	request.block.count = std::min(wish.count, room - request.block.warm_up);
	request.block.at_least = std::min(wish.at_least, request.block.count);
	request.block.block = wish.number;
	request.block.rate_hz = wish.rate_hz ? *wish.rate_hz : model::due_hz(cell_).value_or(0);
	request.block.count_hardware = wish.count_hardware;
	request.block.count_process =
		cell_.mechanisms.has(model::Mechanism::LibraryThreads) && model::between(cell_) == model::Between::Processes;
	if (wish.probed) {
		request.block.slots = slots.slot_count();
		request.block.slot_records = slots.slot_records();
	}
	request.block.first_due_ns = wish.first_after_ns ? now_ns + wish.first_after_ns : 0;
	request.block.deadline_ns = now_ns + wish.first_after_ns + wish.duration_ns;
	request.block.cancel_ns = request.block.deadline_ns + kCancelNs;
	block_.request = request.block;
	block_.give_up_ns = request.block.deadline_ns + kGiveUpNs;
	block_.daemon_cpu_ns = daemon_cpu_ns();
	try {
		for (size_t side = workers_.size(); side-- > 0;) // receivers are ready before the sender sends
			workers_[side]->send(request, {});
	} catch (const WorkerFailed &failure) {
		block_.failure = failure.what();
		block_.over = true;
	}
}

// CPU time of all its threads since it started; that of a running thread may be a tick old (thread_group_cputime()).
std::optional<uint64_t> LiveCell::daemon_cpu_ns() const
{
	timespec used{};
	if (!daemon_clock_ || clock_gettime(*daemon_clock_, &used))
		return std::nullopt;
	return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

void LiveCell::stop() { memory_->control().stop = block_.request.block + 1; }

size_t LiveCell::last_awaited() const
{
	size_t side = workers_.size();
	while (side > 0 && block_.replies[side - 1])
		side--;
	return side > 0 ? side - 1 : workers_.size();
}

std::vector<pollfd> LiveCell::awaited() const
{
	// Polls only the last side that hasn't replied: another side's reply would wake icepath during the last messages.
	// POLLHUP of the others arrives without being asked for.
	std::vector<pollfd> sockets;
	const size_t last = last_awaited();
	for (size_t side = 0; side < workers_.size(); side++)
		sockets.push_back({block_.replies[side] ? -1 : workers_[side]->socket(),
						   static_cast<short>(!block_.failure.empty() || side == last ? POLLIN : 0), 0});
	return sockets;
}

void LiveCell::look(const pollfd *answers)
{
	const uint64_t now_ns = icepath_now_ns();
	for (size_t side = 0; side < workers_.size(); side++) {
		if (answers[side].revents == 0)
			continue;
		std::vector<Fd> none;
		try {
			block_.replies[side] = workers_[side]->receive(none, 0);
		} catch (const WorkerFailed &failed) {
			// The other workers say little more than that their peer is gone, or hang: they get 2 s.
			if (block_.failure.empty() || (answers[side].revents & POLLHUP) ||
				(failed.knows_why && !block_.knows_why)) {
				block_.failure = failed.what();
				block_.knows_why = failed.knows_why;
				block_.may_pass = failed.may_pass;
			}
			block_.replies[side] = worker::Reply{};
			block_.give_up_ns = std::min(block_.give_up_ns, now_ns + 2'000'000'000);
		}
	}
	const size_t last = last_awaited();
	if (last == workers_.size()) {
		block_.over = true;
	} else if (now_ns >= block_.give_up_ns) {
		// A peer that waited in vain doesn't know the cause.
		if (block_.failure.empty() || !block_.knows_why)
			block_.failure = workers_[last]->silence();
		block_.over = true;
	}
}

model::Block LiveCell::end()
{
	model::Block block;
	block.rate_hz = block_.wish.rate_hz;
	block.confirms = block_.wish.confirms;
	block.failure = block_.failure;
	if (const auto now_ns = daemon_cpu_ns(); now_ns && block_.daemon_cpu_ns)
		block.daemon_cpu_ns = *now_ns - *block_.daemon_cpu_ns;
	const uint32_t messages = block_.request.warm_up + block_.request.count;
	for (size_t side = 0; side < workers_.size() && block.failure.empty(); side++) {
		const worker::BlockReply &reply = block_.replies[side]->block;
		if (!can_be_true(reply, cell_, model::begins(cell_, side), messages, memory_->capacity()))
			block.failure =
				fmt::format("the {} counts {} messages sent and {} received in a block of {}, which is impossible",
							workers_[side]->what(), reply.sends, reply.recvs, messages);
	}
	add_sockets(block);
	// One side's stamps without the other's would count every message as lost.
	if (!block.failure.empty())
		block_.replies.assign(workers_.size(), std::nullopt);
	collect(block, block_.replies);
	for (size_t side = 0; side < workers_.size(); side++)
		if (block_.replies[side])
			block.sides[side].counters =
				model::believable(block_.replies[side]->block.counters, block_.wish.count_hardware);
	if (!block.failure.empty())
		block.end = model::BlockEnd::Failed;
	return block;
}

bool LiveCell::failure_may_pass() const
{
	return block_.may_pass &&
		   std::ranges::none_of(workers_, [](const auto &worker) { return worker->process().has_ended(); });
}

std::optional<std::string> LiveCell::death() const
{
	for (const auto &worker : workers_)
		if (worker->process().has_ended())
			return worker->process().end().value_or(fmt::format("the {} is gone", worker->what()));
	return std::nullopt;
}

std::vector<WorkerProcess *> LiveCell::processes()
{
	std::vector<WorkerProcess *> all;
	for (const auto &worker : workers_)
		if (std::ranges::find(all, &worker->process()) == all.end())
			all.push_back(&worker->process());
	return all;
}

void LiveCell::close()
{
	for (const auto &worker : workers_) {
		worker->hang_up();
		worker->process().go_on();
	}
	const uint64_t give_up_ns = icepath_now_ns() + kLeaveNs;
	for (const auto &worker : workers_) {
		pollfd end{worker->process().pidfd(), POLLIN, 0};
		const uint64_t now_ns = icepath_now_ns();
		poll(&end, 1, now_ns < give_up_ns ? static_cast<int>((give_up_ns - now_ns) / 1'000'000) : 0);
	}
}

void LiveCell::collect(model::Block &block, const Replies &replies) const
{
	for (size_t side = 0; side < workers_.size(); side++) {
		const worker::BlockReply reply = replies[side] ? replies[side]->block : worker::BlockReply{};
		model::BlockSide &measured = block.sides.emplace_back();
		measured.tid = tids_[side];
		measured.usage = reply.usage;
		measured.marker_begin_ns = reply.marker_begin_ns;
		measured.marker_end_ns = reply.marker_end_ns;
	}
	for (const model::Flow &flow : cell_.graph.flows) {
		const uint32_t first = model::begins(cell_, flow.from) ? 0 : 1; // the channel's end that sends
		model::BlockFlow measured;
		measured.sender_key = socket_keys_[flow.channel][first];
		measured.receiver_key = socket_keys_[flow.channel][1 - first];
		measured.sends = memory_->sends(flow.channel, first, replies[flow.from] ? replies[flow.from]->block.sends : 0);
		uint64_t recvs = replies[flow.to] ? replies[flow.to]->block.recvs : 0;
		if (is_fan_in(cell_))
			recvs = std::min<uint64_t>(recvs, memory_->control().receivers[flow.channel].received);
		measured.recvs = memory_->recvs(flow.channel, 1 - first, recvs);
		block.flows.push_back(std::move(measured));
	}
	if (replies[0] && replies[0]->block.end <= static_cast<uint32_t>(model::BlockEnd::Interrupted))
		block.end = static_cast<model::BlockEnd>(replies[0]->block.end);
}

} // namespace icepath::run
