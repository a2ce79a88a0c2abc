// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/live_cell.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ebpf/records.h"

namespace icepath::run {
namespace {

constexpr std::array<const char *, 2> kPingPongNames = {"initiator", "responder"};
constexpr std::array<const char *, 2> kOneWayNames = {"sender", "receiver"};

// Workers are cancelled a second after the deadline: see worker::BlockRequest. Who hasn't answered by then hangs.
constexpr uint64_t kGraceNs = 3'000'000'000;

const char *side_name(const rundir::Cell &cell, size_t side)
{
	return (rundir::is_answered(cell.pattern) ? kPingPongNames : kOneWayNames)[side];
}

rundir::ClockPair read_clocks()
{
	timespec real{};
	clock_gettime(CLOCK_REALTIME, &real);
	return {icepath_now_ns(),
			static_cast<uint64_t>(real.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(real.tv_nsec)};
}

std::vector<int> numbers(const std::vector<Fd> &fds)
{
	std::vector<int> result;
	for (const Fd &fd : fds)
		result.push_back(fd.get());
	return result;
}

// Only a lossy target's messages may come twice, and then no more of them than there is room for.
bool can_be_true(const worker::BlockReply &reply, const rundir::Cell &cell, size_t side, uint32_t messages,
				 uint32_t room)
{
	const bool pingpong = rundir::is_answered(cell.pattern);
	const uint32_t most_received = (cell.capabilities & ICEPATH_IS_LOSSY) != 0 ? room : messages;
	return reply.sends <= (pingpong || side == 0 ? messages : 0) &&
		   reply.recvs <= (pingpong || side == 1 ? most_received : 0);
}

} // namespace

SlotsView::SlotsView(Fd map, uint32_t slot_bytes, uint32_t slot_count, const std::vector<uint32_t> &cpus)
	: map_(std::move(map)), slot_bytes_(slot_bytes), slot_count_(slot_count), cpus_(cpus.begin(), cpus.end())
{
	cpus_.push_back(-1);
	void *memory = mmap(nullptr, size_t{slot_bytes} * slot_count, PROT_READ, MAP_SHARED, map_.get(), 0);
	if (memory == MAP_FAILED)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot map the capture's slots: {}", std::strerror(errno)));
	memory_ = static_cast<const uint8_t *>(memory);
}

SlotsView::~SlotsView()
{
	if (memory_)
		munmap(const_cast<uint8_t *>(memory_), size_t{slot_bytes_} * slot_count_);
}

SlotsView::SlotsView(SlotsView &&other) noexcept { *this = std::move(other); }

SlotsView &SlotsView::operator=(SlotsView &&other) noexcept
{
	std::swap(map_, other.map_);
	std::swap(memory_, other.memory_);
	std::swap(slot_bytes_, other.slot_bytes_);
	std::swap(slot_count_, other.slot_count_);
	std::swap(cpus_, other.cpus_);
	return *this;
}

std::vector<rundir::SlotCapture> SlotsView::copy() const
{
	std::vector<rundir::SlotCapture> slots(slot_count_);
	for (uint32_t i = 0; i < slot_count_; i++) {
		const uint8_t *base = memory_ + size_t{i} * slot_bytes_;
		icepath_slot head{};
		std::memcpy(&head, base, sizeof(head));
		const uint32_t room =
			(slot_bytes_ - static_cast<uint32_t>(sizeof(head))) / static_cast<uint32_t>(sizeof(icepath_record));
		slots[i].cpu = cpus_[i];
		slots[i].position = head.position;
		slots[i].capacity = std::min(head.capacity, room);
		slots[i].records.resize(std::min(head.position, slots[i].capacity));
		std::memcpy(slots[i].records.data(), base + sizeof(head), slots[i].records.size() * sizeof(icepath_record));
	}
	return slots;
}

LiveCell::LiveCell(const rundir::Cell &cell, const std::string &plugin, uint32_t number, uint32_t max_messages,
				   const SlotsView &slots, privilege::Helper &helper)
	: cell_(cell), number_(number), capacity_(max_messages)
{
	const size_t bytes = worker::cell_memory_bytes(capacity_);
	memory_fd_ = Fd(memfd_create("icepath-cell", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	// Sealed, so that no worker can shrink it under icepath's feet.
	if (!memory_fd_ || ftruncate(memory_fd_.get(), static_cast<off_t>(bytes)) ||
		fcntl(memory_fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		throw WorkerFailed(fmt::format("cannot make the memory of {}: {}", title(), std::strerror(errno)));
	void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd_.get(), 0);
	if (memory == MAP_FAILED)
		throw WorkerFailed(fmt::format("cannot map the memory of {}: {}", title(), std::strerror(errno)));
	memory_ = new (memory) worker::CellMemory{};
	memory_->capacity = capacity_;
	memory_->last_seq = UINT64_MAX;
	try {
		open(plugin, max_messages, slots, helper);
	} catch (...) {
		munmap(memory_, bytes);
		throw;
	}
}

LiveCell::~LiveCell() { munmap(memory_, worker::cell_memory_bytes(capacity_)); }

void LiveCell::open(const std::string &plugin, uint32_t max_messages, const SlotsView &slots, privilege::Helper &helper)
{
	const bool pingpong = rundir::is_answered(cell_.pattern);
	std::array<worker::Reply, 2> opened;
	std::array<std::vector<Fd>, 2> received;
	for (uint32_t side = 0; side < 2; side++) {
		workers_[side] =
			std::make_unique<WorkerProcess>(worker_program(), fmt::format("{} of {}", side_name(cell_, side), title()));
		worker::Request request{};
		request.kind = worker::RequestKind::Open;
		plugin.copy(request.plugin, sizeof(request.plugin) - 1);
		cell_.target.copy(request.open.target, sizeof(request.open.target) - 1);
		fmt::format("icepath-{}-{}", getpid(), number_).copy(request.open.name, sizeof(request.open.name) - 1);
		request.open.side = side;
		request.open.sends = pingpong || side == 0;
		request.open.receives = pingpong || side == 1;
		request.open.wait = plan::bit_of(cell_.wait);
		request.open.payload_bytes = cell_.payload_bytes;
		request.open.max_messages = max_messages;
		std::vector<int> fds = {memory_fd_.get()};
		if (slots.mapped())
			fds.push_back(slots.fd());
		opened[side] = workers_[side]->ask(request, fds, received[side]);
		if (opened[side].address.fds_used > std::min<size_t>(4, received[side].size()))
			throw WorkerFailed(fmt::format("the {} sent an address that can't be true", workers_[side]->what()));
		tids_[side] = static_cast<uint32_t>(workers_[side]->pid()); // its main thread measures
	}
	for (const uint32_t side : {1u, 0u}) {
		worker::Request request{};
		request.kind = worker::RequestKind::Connect;
		request.address = opened[1 - side].address;
		std::vector<int> fds = numbers(received[1 - side]);
		fds.resize(opened[1 - side].address.fds_used);
		std::vector<Fd> more;
		const worker::Reply connected = workers_[side]->ask(request, fds, more);
		// A listening socket isn't the one that carries messages: connect tells those that come to be only then.
		for (uint32_t i = 0; i < connected.sockets && i < more.size(); i++)
			received[side].push_back(std::move(more[i]));
	}
	for (uint32_t side = 0; side < 2; side++) {
		helper_numbers_[side] =
			helper.add_worker(workers_[side]->pidfd(), side == 0 ? cell_.cpu_sender : cell_.cpu_receiver);
		if (!slots.mapped())
			continue;
		const uint64_t key = (uint64_t{number_} + 1) * 2 + side;
		for (size_t i = opened[side].address.fds_used; i < received[side].size(); i++) {
			helper.add_socket(received[side][i].get(), key);
			socket_keys_[side] = key;
		}
	}
}

rundir::Block LiveCell::run(const BlockWish &wish, const SlotsView &slots, privilege::Helper *helper)
{
	rundir::Block block;
	block.probed = wish.probed;
	block.socket_keys = socket_keys_;
	block.begin = read_clocks();
	memory_->last_seq = UINT64_MAX;
	worker::Request request{};
	request.kind = worker::RequestKind::RunBlock;
	request.block.one_way = !rundir::is_answered(cell_.pattern);
	request.block.lead_in = std::min(wish.lead_in, capacity_);
	request.block.count = std::min(wish.count, capacity_ - request.block.lead_in);
	request.block.at_least = std::min(wish.at_least, request.block.count);
	request.block.block = wish.number;
	request.block.rate_hz = rundir::due_hz(cell_).value_or(0);
	request.block.count_hardware = wish.count_hardware;
	request.block.burst = cell_.burst ? cell_.burst->demand : 1;
	request.block.sender_user_ns = cell_.injection.sender_user_ns;
	request.block.receiver_busy_ns = cell_.injection.receiver_busy_ns;
	if (wish.probed) {
		request.block.slot_bytes = slots.slot_bytes();
		request.block.slots = slots.slot_count();
		helper->begin_block(helper_numbers_);
	}
	// Emptying the slots takes its time, which isn't the block's.
	request.block.deadline_ns = icepath_now_ns() + wish.duration_ns;
	std::array<std::optional<worker::Reply>, 2> replies;
	try {
		for (const size_t side : {1, 0}) // the receiver asks before the sender sends
			workers_[side]->send(request, {});
		replies = await_replies(request.block, wish.stop, block.failure);
		const uint32_t messages = request.block.lead_in + request.block.count;
		for (const size_t side : {0, 1})
			if (block.failure.empty() && !can_be_true(replies[side]->block, cell_, side, messages, capacity_))
				block.failure = fmt::format("the {} counts {} messages sent and {} received in a block of {}, which "
											"can't be true",
											workers_[side]->what(), replies[side]->block.sends,
											replies[side]->block.recvs, messages);
	} catch (const WorkerFailed &failure) {
		block.failure = failure.what();
	}
	if (wish.probed) {
		block.recursion_misses = helper->end_block();
		block.slots = slots.copy();
	}
	block.finish = read_clocks();
	// One side's stamps without the other's would count every message as lost.
	if (!block.failure.empty())
		replies = {};
	collect(block, replies);
	for (const size_t side : {0, 1})
		if (replies[side])
			block.sides[side].counters = rundir::believable(replies[side]->block.counters, wish.count_hardware);
	if (!block.failure.empty())
		block.end = rundir::BlockEnd::Failed;
	return block;
}

std::array<std::optional<worker::Reply>, 2> LiveCell::await_replies(const worker::BlockRequest &block,
																	const std::atomic<bool> *stop, std::string &failure)
{
	std::array<std::optional<worker::Reply>, 2> replies;
	uint64_t give_up_ns = block.deadline_ns + kGraceNs;
	for (;;) {
		// Side 0's reply waits until side 1's is there: looking at it would wake icepath in the middle of the last messages.
		std::array<pollfd, 2> sockets{};
		for (size_t side = 0; side < 2; side++) {
			const bool look = side == 1 || replies[1] || !failure.empty();
			sockets[side] = {replies[side] ? -1 : workers_[side]->socket(), static_cast<short>(look ? POLLIN : 0), 0};
		}
		if (replies[0] && replies[1])
			return replies;
		if (stop && *stop)
			memory_->stop = block.block + 1;
		const uint64_t now_ns = icepath_now_ns();
		if (now_ns >= give_up_ns)
			throw WorkerFailed(
				failure.empty() ? fmt::format("the {} doesn't answer", workers_[replies[1] ? 0 : 1]->what()) : failure);
		if (poll(sockets.data(), sockets.size(), static_cast<int>((give_up_ns - now_ns) / 1'000'000 + 1)) < 0)
			continue; // a signal
		for (size_t side = 0; side < 2; side++) {
			if (sockets[side].revents == 0)
				continue;
			std::vector<Fd> none;
			try {
				replies[side] = workers_[side]->receive(none, 0);
			} catch (const WorkerFailed &failed) {
				// The other one says little more than that its peer is gone, or hangs: it gets a moment.
				if (failure.empty() || (sockets[side].revents & POLLHUP))
					failure = failed.what();
				replies[side] = worker::Reply{};
				give_up_ns = std::min(give_up_ns, now_ns + 2'000'000'000);
			}
		}
	}
}

void LiveCell::collect(rundir::Block &block, const std::array<std::optional<worker::Reply>, 2> &replies) const
{
	const auto *stamps = reinterpret_cast<const uint8_t *>(memory_ + 1);
	for (uint32_t side = 0; side < 2; side++) {
		rundir::BlockSide &told = block.sides[side];
		const worker::BlockReply reply = replies[side] ? replies[side]->block : worker::BlockReply{};
		told.tid = tids_[side];
		told.cpu = side == 0 ? cell_.cpu_sender : cell_.cpu_receiver;
		told.name = side_name(cell_, side);
		told.usage = reply.usage;
		told.marker_begin_ns = reply.marker_begin_ns;
		told.marker_end_ns = reply.marker_end_ns;
		told.sends.resize(std::min(reply.sends, capacity_));
		told.recvs.resize(std::min(reply.recvs, capacity_));
		const size_t side_bytes = size_t{capacity_} * (sizeof(rundir::SendStamp) + sizeof(rundir::RecvStamp));
		const uint8_t *sends = stamps + side * side_bytes;
		std::memcpy(told.sends.data(), sends, told.sends.size() * sizeof(rundir::SendStamp));
		std::memcpy(told.recvs.data(), sends + size_t{capacity_} * sizeof(rundir::SendStamp),
					told.recvs.size() * sizeof(rundir::RecvStamp));
	}
	if (replies[0] && replies[0]->block.end <= static_cast<uint32_t>(rundir::BlockEnd::Interrupted))
		block.end = static_cast<rundir::BlockEnd>(replies[0]->block.end);
}

} // namespace icepath::run
