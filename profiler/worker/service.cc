// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/service.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "profiler/failure.h"
#include "profiler/worker/cell_memory.h"
#include "profiler/worker/daemon.h"
#include "profiler/worker/usage.h"

namespace icepath::worker {
namespace {

// Fits into one message with the four descriptors of an address.
constexpr size_t kMaxSockets = channel::kMaxFds - 4;

void refuse(Reply &reply, const Failure &failure)
{
	reply.status = ReplyStatus::Failed;
	put(reply.message, failure.what());
}

void report(Reply &reply, const Outcome &outcome)
{
	reply.status = outcome.status;
	put(reply.message, outcome.message.c_str());
	reply.block.end = static_cast<uint32_t>(outcome.end);
	reply.block.sends = outcome.sends;
	reply.block.recvs = outcome.recvs;
}

// Of a target, and of the daemon that its plug-in needs. `reply` must be zeroed.
void describe_target(const Plugin &plugin, const icepath_target &target, TargetReply &reply)
{
	put(reply.name, target.name);
	put(reply.summary, target.summary);
	put(reply.max_payload_why, target.max_payload_why);
	put(reply.why_not, target.why_not);
	put(reply.library_version, plugin.calls().library_version);
	put(reply.plugin_version, plugin.calls().version);
	reply.waits = target.waits;
	reply.mechanisms = target.mechanisms;
	reply.capabilities = target.capabilities;
	reply.max_payload_bytes = target.max_payload_bytes;
	reply.max_part_bytes = target.max_part_bytes;
	reply.fanin_waits = target.fanin_waits;
	reply.fanin_max_bytes = target.fanin_max_bytes;
	reply.qos = target.qos;
	if (const icepath_daemon *daemon = plugin.calls().daemon) {
		put(reply.daemon, name_of(*daemon).c_str());
		put(reply.why_no_daemon, why_not_there(*daemon).c_str());
	}
}

void mark(int flags) { syscall(SYS_faccessat2, -1, "", kMarkerMode, flags); }

// Waits until the other side reports that it has reached this block. First yields, because the sides may be pinned to
// one CPU, then sleeps, because the wait may be long.
bool await(const std::atomic<uint64_t> &reached, const BlockRequest &block)
{
	constexpr uint64_t kYieldNs = 2'000'000;
	const uint64_t begin_ns = icepath_now_ns();
	while (reached.load(std::memory_order_acquire) != block.block + 1) {
		const uint64_t now_ns = icepath_now_ns();
		if (now_ns >= block.cancel_ns)
			return false;
		if (now_ns - begin_ns < kYieldNs)
			sched_yield();
		else
			usleep(100);
	}
	return true;
}

// Applies to this thread and to those that it starts from here on.
void run_by_fifo(uint64_t priority)
{
	sched_param parameters{};
	parameters.sched_priority = static_cast<int>(priority);
	if (sched_setscheduler(0, SCHED_FIFO, &parameters))
		throw Failure(ExitCode::MachineCannot, fmt::format("a worker can't run under SCHED_FIFO with priority {}: {}",
														   priority, std::strerror(errno)));
}

} // namespace

void Service::run()
{
	Request request{};
	std::vector<Fd> received;
	while (receive(request, received) && answer(request, received))
		received.clear();
}

void Service::run_in_one_thread(Service &near, Service &far)
{
	const std::array<Service *, 2> sides = {&near, &far};
	std::array<std::optional<BlockRequest>, 2> asked; // a side's block that waits for the other side's
	for (;;) {
		std::array<pollfd, 2> sockets{};
		for (size_t i = 0; i < sides.size(); i++) // POLLHUP arrives without being asked for
			sockets[i] = {sides[i]->control_, static_cast<short>(asked[i] ? 0 : POLLIN), 0};
		if (poll(sockets.data(), sockets.size(), -1) < 0)
			continue; // interrupted by a signal
		for (size_t i = 0; i < sides.size(); i++) {
			if (sockets[i].revents == 0)
				continue;
			Request request{};
			std::vector<Fd> received;
			if (asked[i] || !sides[i]->receive(request, received))
				return;
			if (request.kind == RequestKind::RunBlock)
				asked[i] = request.block;
			else if (!sides[i]->answer(request, received))
				return;
		}
		if (asked[0] && asked[1]) {
			near.run_block_alone(far, *asked[0]);
			asked = {};
		}
	}
}

bool Service::receive(Request &request, std::vector<Fd> &received) const
{
	return channel::receive(control_, &request, sizeof(request), received) && request.kind != RequestKind::Close;
}

bool Service::reply(const Reply &reply, const std::vector<int> &fds) const
{
	return channel::send(control_, &reply, sizeof(reply), fds);
}

bool Service::answer(const Request &request, std::vector<Fd> &received)
{
	Reply answer{};
	std::vector<int> fds;
	try {
		switch (request.kind) {
		case RequestKind::Describe:
			describe(request, answer);
			break;
		case RequestKind::Open:
			open(request, received, answer, fds);
			break;
		case RequestKind::Connect:
			connect(request, received, answer, fds);
			break;
		case RequestKind::LockMemory:
			put(answer.message, lock_memory().c_str());
			break;
		case RequestKind::RunBlock:
			run_block(request.block, answer);
			break;
		case RequestKind::LookAtSockets:
			answer.looked = sockets_.look();
			break;
		case RequestKind::DescribeDaemon:
			describe_daemon(request, answer);
			break;
		case RequestKind::BecomeDaemon:
			return become_daemon(request, received);
		default:
			throw Failure(ExitCode::Internal, "the worker got a request that it doesn't know");
		}
	} catch (const Failure &failure) {
		refuse(answer, failure);
		fds.clear();
	}
	return reply(answer, fds);
}

const Plugin &Service::load(const Request &request)
{
	if (!plugin_)
		plugin_ = std::make_unique<Plugin>(text(request.plugin));
	return *plugin_;
}

void Service::describe_daemon(const Request &request, Reply &reply)
{
	const icepath_daemon *daemon = load(request).calls().daemon;
	if (daemon)
		put(reply.message, identity_of(*daemon).c_str());
}

bool Service::become_daemon(const Request &request, const std::vector<Fd> &received)
{
	const icepath_daemon *daemon = load(request).calls().daemon;
	if (received.size() != 1)
		throw Failure(ExitCode::Internal, "the worker was asked to become a daemon that can't print anywhere");
	Reply answer{};
	put(answer.message, daemon ? daemon->ready : "");
	if (!reply(answer) || !daemon)
		return false;
	// icepath waits for the daemon's output and reads no further reply, so an error goes there.
	const std::string why_not = become(*daemon, received[0]);
	dprintf(received[0].get(), "%s\n", why_not.c_str());
	_exit(static_cast<int>(ExitCode::MachineCannot));
}

void Service::describe(const Request &request, Reply &reply)
{
	const Plugin &plugin = load(request);
	const auto target = plugin.target(request.index);
	if (!target)
		return;
	describe_target(plugin, *target, reply.target);
}

void Service::open(const Request &request, std::vector<Fd> &received, Reply &reply, std::vector<int> &fds)
{
	const OpenRequest &wish = request.open;
	const bool idle = wish.channel >= wish.channels;
	if (!ends_.empty() && !idle && (wish.side != 0 || wish.max_messages != opened_.max_messages))
		throw Failure(ExitCode::Internal, "the worker has its endpoints already");
	if (received.empty() || wish.side > 1 || wish.max_messages == 0 || wish.channels >= rundir::kMaxSides ||
		wish.channel >= wish.channels + wish.levels.idle_channels || wish.peers == 0 ||
		(wish.peers > 1 && wish.peers != wish.channels) || (ends_.empty() && idle))
		throw Failure(ExitCode::Internal, "the worker was asked to open an endpoint without the cell's memory");
	const Plugin &plugin = load(request);
	const std::string target_name = text(wish.target), name = text(wish.name);
	std::optional<icepath_target> target;
	for (uint32_t n = 0; (target = plugin.target(n)); n++)
		if (target_name == target->name)
			break;
	if (!target)
		throw Failure(ExitCode::Usage, fmt::format("{} has no target {}", plugin.file(), target_name));
	lossy_ = wish.may_lose != 0;
	lends_ = (target->capabilities & ICEPATH_CAN_LOAN) != 0;

	if (wish.wait >= 2 * ICEPATH_WAIT_CALLBACK)
		throw Failure(ExitCode::Internal, fmt::format("the worker knows no wait {}", wish.wait));

	icepath_open how{};
	how.size = sizeof(how);
	how.target = target_name.c_str();
	how.name = name.c_str();
	how.side = wish.side;
	how.sends = wish.sends;
	how.receives = wish.receives;
	how.wait = static_cast<icepath_wait>(wish.wait);
	how.payload_bytes = wish.payload_bytes;
	how.depth = wish.depth;
	how.qos = wish.qos;
	how.peers = idle ? 1 : wish.peers;
	how.answers = wish.sends && wish.receives ? static_cast<uint32_t>(wish.levels.responses) : 0;
	how.handler = handler_for(wish, idle);
	if (ends_.empty() && wish.levels.fifo_priority != 0)
		run_by_fifo(wish.levels.fifo_priority); // before the library starts threads, which inherit it
	auto endpoint = std::make_unique<Endpoint>(plugin, how, reply.address);
	if (ends_.empty())
		share_memory(wish, received);
	if (!idle) {
		opened_ = wish;
		const bool for_all = wish.side == 1 && wish.peers > 1;
		for (uint32_t channel = for_all ? 0 : wish.channel; channel < (for_all ? wish.channels : wish.channel + 1);
			 channel++)
			ends_.push_back(
				{channel, endpoint.get(), memory_->sends(channel, wish.side), memory_->recvs(channel, wish.side)});
	}
	endpoints_.push_back(std::move(endpoint));
	fds.assign(reply.address.fds, reply.address.fds + reply.address.fds_used);
	reply.tid = static_cast<uint32_t>(gettid());
	reply.sockets = append_new_sockets(*endpoints_.back(), fds);
}

icepath_handler Service::handler_for(const OpenRequest &wish, bool idle)
{
	const auto ignore = [](void *, int, icepath_recv *) {};
	if (wish.wait != ICEPATH_WAIT_CALLBACK || !wish.receives || idle)
		return {ignore, nullptr};
	callback_ = std::make_unique<Callback>();
	return callback_->handler();
}

// Maps the memory shared with icepath and the cell's other workers, and sets up what the side needs once.
void Service::share_memory(const OpenRequest &wish, std::vector<Fd> &received)
{
	memory_ = std::make_unique<CellMap>(received[0], wish.max_messages, wish.channels);
	slots_ =
		received.size() > 1 ? std::make_unique<SlotsWatch>(std::move(received[1])) : std::make_unique<SlotsWatch>();
	payloads_ = std::make_unique<Payloads>(wish.payload_bytes);
	send_buffer_ = std::make_unique<MessageBuffer>(wish.payload_bytes);
	receive_buffer_ = std::make_unique<MessageBuffer>(wish.payload_bytes);
	watchdog_ = std::make_unique<Watchdog>();
	counters_ = std::make_unique<BlockCounters>();
	prctl(PR_SET_NAME, text(wish.thread).c_str());
}

void Service::connect(const Request &request, std::vector<Fd> &received, Reply &reply, std::vector<int> &fds)
{
	if (request.index != connected_ || connected_ >= endpoints_.size())
		throw Failure(ExitCode::Internal, "the worker has no endpoint that waits for its peer");
	icepath_address peer = request.address;
	if (peer.fds_used != received.size() || peer.fds_used > std::size(peer.fds) ||
		peer.bytes_used > std::size(peer.bytes))
		throw Failure(ExitCode::Internal, "the peer's address came without its file descriptors");
	for (uint32_t i = 0; i < peer.fds_used; i++)
		peer.fds[i] = received[i].release(); // the plug-in owns it from here on
	Endpoint &endpoint = *endpoints_[connected_];
	endpoint.connect(peer);
	const uint32_t peers = connected_ == 0 && opened_.side == 1 ? opened_.peers : 1;
	if (++peers_met_ == peers) {
		connected_++;
		peers_met_ = 0;
	}
	reply.sockets = append_new_sockets(endpoint, fds);
	reply.granted = endpoint.granted();
}

uint32_t Service::append_new_sockets(const Endpoint &endpoint, std::vector<int> &fds)
{
	std::array<int, 2 * rundir::kMaxSides> sockets{}; // a fan-in may have one for each sender
	const uint32_t count = endpoint.sockets(sockets.data(), static_cast<uint32_t>(sockets.size()));
	uint32_t added = 0;
	for (uint32_t i = 0; i < count && added < kMaxSockets; i++) {
		if (std::find(sockets_told_.begin(), sockets_told_.end(), sockets[i]) != sockets_told_.end())
			continue;
		sockets_told_.push_back(sockets[i]);
		fds.push_back(sockets[i]);
		added++;
	}
	return added;
}

void Service::check(const BlockRequest &block) const
{
	if (ends_.empty() || connected_ != endpoints_.size())
		throw Failure(ExitCode::Internal, "the worker was asked for a block before it was connected");
	if (block.levels.responses == 0 || messages_of(block) == 0 ||
		messages_of(block) * block.levels.responses > memory_->capacity())
		throw Failure(ExitCode::Internal, fmt::format("a block of {} messages was asked for, there is room for 1 to {}",
													  messages_of(block), memory_->capacity()));
	if (block.one_way ? !(opened_.side == 0 ? opened_.sends : opened_.receives) : !(opened_.sends && opened_.receives))
		throw Failure(ExitCode::Internal, "the endpoint wasn't opened for what this block asks");
}

Cell Service::cell()
{
	return {ends_,  *memory_, *payloads_,    *slots_,        send_buffer_->data(), receive_buffer_->data(),
			lossy_, lends_,   opened_.peers, callback_.get()};
}

void Service::cancel()
{
	for (const auto &endpoint : endpoints_)
		endpoint->cancel();
	if (callback_)
		callback_->cancel();
}

void Service::run_block(const BlockRequest &block, Reply &reply)
{
	check(block);
	slots_->begin_block(block.slots, block.slot_records);
	Cell mine = cell();
	payloads_->begin_block(block.block, mine.is_fan_in() && opened_.side == 0 ? mine.only().channel : 0, mine.peers);
	if (callback_)
		counters_->count_thread(callback_->last_thread()); // the side's own thread sleeps
	counters_->prepare(block.count_hardware != 0); // before the sides meet: opening counters takes time
	if (mine.is_fan_in() && opened_.side == 0)
		mine.sender(mine.only()).arrived.store(block.block + 1, std::memory_order_release);
	for (const ChannelEnd &end : ends_)
		if ((opened_.side == 0 && !await(mine.receiver(end).ready, block)) ||
			(opened_.side == 1 && mine.is_fan_in() && !await(mine.sender(end).arrived, block))) {
			reply.status = ReplyStatus::Cancelled; // the other side's reply has the reason
			put(reply.message, "the other side wasn't ready in time for the block");
			return;
		}
	watchdog_->arm(block.cancel_ns, [this] { cancel(); });
	Outcome outcome;
	measure(block, reply.block, [&] {
		const bool leads = opened_.side == 0;
		outcome = block.one_way ? (leads ? send_one_way(mine, block) : receive_one_way(mine, block))
								: (leads ? initiate(mine, block) : respond(mine, block));
	});
	if (opened_.side == 0)
		mine.sender(mine.only()).done.store(block.block + 1, std::memory_order_release);
	if (block.one_way && lossy_ && opened_.side == 0 && outcome.status == ReplyStatus::Done)
		close_one_way(mine, block);
	watchdog_->disarm();
	report(reply, outcome);
}

void Service::run_block_alone(Service &far, const BlockRequest &block)
{
	Reply near_answer{}, far_answer{};
	try {
		check(block);
		far.check(block);
		slots_->begin_block(block.slots, block.slot_records);
		payloads_->begin_block(block.block);
		far.payloads_->begin_block(block.block);
		Cell near_cell = cell(), far_cell = far.cell();
		counters_->prepare(block.count_hardware != 0);
		watchdog_->arm(block.cancel_ns, [&] {
			cancel();
			far.cancel();
		});
		Outcome near_outcome, far_outcome;
		measure(block, near_answer.block, [&] {
			(block.one_way ? pass_in_one_thread : exchange_in_one_thread)(near_cell, far_cell, block, near_outcome,
																		  far_outcome);
		});
		watchdog_->disarm();
		// The thread's usage can't be divided between the sides: side 0's reply has all of it.
		far_answer.block.marker_begin_ns = near_answer.block.marker_begin_ns;
		far_answer.block.marker_end_ns = near_answer.block.marker_end_ns;
		report(near_answer, near_outcome);
		report(far_answer, far_outcome);
	} catch (const Failure &failure) {
		refuse(near_answer, failure);
	}
	far.reply(far_answer); // a failed reply is ignored: the next receive() finds a closed socket
	reply(near_answer);
}

template <class Loop> void Service::measure(const BlockRequest &block, BlockReply &answer, Loop loop)
{
	prctl(PR_SET_TIMERSLACK, 1); // only now: a library's threads, which are there by now, would have inherited it
	const bool of_process = block.count_process != 0;
	const rusage begin = usage_now(of_process);
	counters_->start();
	answer.marker_begin_ns = icepath_now_ns();
	mark(0);
	loop();
	mark(1);
	answer.marker_end_ns = icepath_now_ns();
	counters_->stop();
	answer.usage = usage_between(begin, usage_now(of_process));
	answer.counters = counters_->take();
}

} // namespace icepath::worker
