// SPDX-License-Identifier: Apache-2.0
// A worker that lies. The plug-in's path in its first request defines its role: with "lie:SIDE:WHAT" side SIDE does
// WHAT (SIDE 2: both sides). The other side, and the liar until WHAT applies, play an honest block without a transport.
// For any other plug-in, the program executes the honest worker.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "profiler/channel.h"
#include "profiler/model/block.h"
#include "profiler/worker/protocol.h"

namespace icepath::worker {
namespace {

class Liar {
public:
	explicit Liar(int control) : control_(control) {}

	void run()
	{
		Request request{};
		std::vector<Fd> fds;
		while (channel::receive(control_, &request, sizeof(request), fds)) {
			switch (request.kind) {
			case RequestKind::Open:
				open(request, std::move(fds));
				break;
			case RequestKind::Connect:
				connect();
				break;
			case RequestKind::RunBlock:
				run_block(request.block);
				break;
			case RequestKind::LookAtSockets:
				look_at_sockets();
				break;
			default:
				return;
			}
			fds.clear();
		}
	}

private:
	bool plays(const char *what) const { return what_ == what; }

	void say(const Reply &reply, const std::vector<int> &fds = {}) const
	{
		channel::send(control_, &reply, sizeof(reply), fds);
	}

	// True once among all processes of one icepath. The test removes the mark.
	static bool happens_once()
	{
		const std::string mark = "/tmp/icepath-lying-worker-" + std::to_string(getppid());
		return close(open_file(mark)) == 0;
	}
	static int open_file(const std::string &path) { return ::open(path.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600); }

	[[noreturn]] static void be_silent()
	{
		for (;;)
			pause();
	}

	void open(const Request &request, std::vector<Fd> fds)
	{
		side_ = request.open.side;
		const std::string part = request.plugin;
		if (part.substr(4, 2) == std::to_string(side_) + ":" || part.substr(4, 2) == "2:")
			what_ = part.substr(6);
		capacity_ = request.open.max_messages;
		memory_fd_ = std::move(fds.at(0));
		memory_ = static_cast<CellMemory *>(
			mmap(nullptr, cell_memory_bytes(capacity_, 1), PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd_.get(), 0));
		if (plays("silent at open"))
			be_silent();
		Reply reply{};
		reply.tid = static_cast<uint32_t>(gettid());
		if (plays("a thread of somebody else's"))
			reply.tid = static_cast<uint32_t>(getppid());
		if (plays("a thread that isn't there"))
			reply.tid = UINT32_MAX;
		std::vector<int> sent;
		if (plays("address without descriptors"))
			reply.address.fds_used = 4;
		if (plays("endless address"))
			reply.address.fds_used = UINT32_MAX;
		if (plays("unspeakable refusal")) { // neither terminated nor text
			reply.status = ReplyStatus::Failed;
			std::memset(reply.message, 0xff, sizeof(reply.message));
		}
		if (plays("no address at first") && happens_once()) {
			reply.status = ReplyStatus::Failed;
			std::strcpy(reply.message, "the address is in use");
		}
		if (plays("more sockets than it sends"))
			reply.sockets = UINT32_MAX;
		say(reply, sent);
	}

	void connect() const
	{
		Reply reply{};
		if (plays("sockets that come later"))
			reply.sockets = UINT32_MAX;
		say(reply);
		if (plays("answers twice"))
			say(reply);
	}

	void look_at_sockets() const
	{
		Reply reply{};
		if (plays("silent about sockets"))
			be_silent();
		if (plays("sockets that can't be"))
			std::memset(static_cast<void *>(&reply.looked), 0xfe, sizeof(reply.looked));
		reply.looked.has_counts = plays("sockets that can't be");
		say(reply);
	}

	// Both sides have the same deadline, so their stamps match.
	uint64_t time_of(const BlockRequest &block, uint64_t message) const
	{
		return block.deadline_ns - 40'000'000 + message * 10'000;
	}

	void write_stamps(const BlockRequest &block, uint32_t count) const
	{
		auto *stamps = reinterpret_cast<uint8_t *>(memory_) + stamps_offset(capacity_, 0, side_);
		auto *sends = reinterpret_cast<model::SendStamp *>(stamps);
		auto *recvs = reinterpret_cast<model::RecvStamp *>(stamps + capacity_ * sizeof(model::SendStamp));
		for (uint64_t i = 0; i < count; i++) {
			const uint64_t t = time_of(block, i);
			const uint32_t flags = i < block.warm_up ? model::kStampWarmUp : 0;
			sends[i] = {i, t, t, t + 100, 0, t + 900, 1, flags, 0};
			recvs[i] = {i, t + 50, 0, t + 60, t + 2000, 0, t + 2100, 1, flags};
			if (plays("inverted times"))
				recvs[i].recv_ns = recvs[i].take_return_ns = t - 1000;
			if (plays("times from nowhere"))
				recvs[i].recv_ns = i % 2 ? UINT64_MAX : 0;
			if (plays("wrong sequence numbers"))
				sends[i].seq = recvs[i].seq = i % 2 ? UINT64_MAX - i : i / 4;
		}
	}

	void run_block(const BlockRequest &block)
	{
		const uint32_t count = block.warm_up + block.count;
		Reply reply{};
		reply.block.sends = side_ == 0 ? count : 0;
		reply.block.recvs = side_ == 1 ? count : 0;
		reply.block.marker_begin_ns = time_of(block, 0) - 1;
		reply.block.marker_end_ns = time_of(block, count);
		write_stamps(block, count);
		if (plays("silent"))
			be_silent();
		if (plays("exits"))
			_exit(3);
		if (plays("is killed"))
			raise(SIGKILL);
		if (plays("counts beyond its memory"))
			reply.block.sends = reply.block.recvs = UINT32_MAX;
		if (plays("counts beyond the block"))
			(side_ == 0 ? reply.block.sends : reply.block.recvs)++;
		if (plays("takes part in the other direction"))
			reply.block.sends = reply.block.recvs = count;
		if (plays("counters that can't be")) {
			std::memset(static_cast<void *>(&reply.block.counters), 0xff, sizeof(reply.block.counters));
			reply.block.counters.migrations = {0, UINT64_MAX, 0, 0};
			reply.block.counters.cycles = {0, 5, 7, 9};
			reply.block.counters.instructions = {INT32_MAX, 0, 0, 0};
			reply.block.counters.branches = {0, 5, 9, 7};
		}
		if (plays("nothing comes at first") && ++blocks_ == 2) // after the warm-up block
			reply.block.recvs = 0;
		if (plays("an end that nobody knows"))
			reply.block.end = 200;
		if (plays("a status that nobody knows"))
			reply.status = static_cast<ReplyStatus>(77);
		if (plays("unspeakable failure")) {
			reply.status = ReplyStatus::Failed;
			std::memset(reply.message, 0xff, sizeof(reply.message));
		}
		if (plays("nobody answers at first") && happens_once()) {
			reply.status = ReplyStatus::Failed;
			std::strcpy(reply.message, "nobody answers");
		}
		if (plays("one fails, one waits in vain")) {
			reply.status = side_ == 0 ? ReplyStatus::Failed : ReplyStatus::Cancelled;
			std::strcpy(reply.message, side_ == 0 ? "no room" : "nothing came");
		}
		if (plays("shrinks the memory") && ftruncate(memory_fd_.get(), 0) == 0)
			_exit(9);
		if (plays("scribbles"))
			std::memset(static_cast<void *>(memory_), 0xff, sizeof(CellMemory));
		if (plays("a short reply")) {
			channel::send(control_, &reply, 8);
			return;
		}
		if (plays("a long reply")) {
			const std::string bytes(2 * sizeof(reply), 'x');
			channel::send(control_, bytes.data(), bytes.size());
			return;
		}
		say(reply);
		if (plays("ends after its second block, an unprobed one") && ++blocks_ == 2 && block.slots == 0)
			_exit(3);
	}

	const int control_;
	std::string what_;
	uint32_t side_ = 0, capacity_ = 0, blocks_ = 0;
	Fd memory_fd_;
	CellMemory *memory_ = nullptr;
};

} // namespace
} // namespace icepath::worker

// One thread for each `--control FD`, as in the honest worker.
int main(int argc, char **argv)
{
	const int control = std::atoi(argv[2]);
	icepath::worker::Request first{};
	if (recv(control, &first, sizeof(first), MSG_PEEK) == sizeof(first) && strncmp(first.plugin, "lie:", 4) != 0) {
		execv(HONEST_WORKER, argv);
		return 127;
	}
	std::vector<std::thread> others;
	for (int i = 4; i < argc; i += 2)
		others.emplace_back([other = std::atoi(argv[i])] { icepath::worker::Liar(other).run(); });
	icepath::worker::Liar(control).run();
	for (std::thread &other : others)
		other.join();
	return 0;
}
