// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/worker_pair.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>

#include "profiler/failure.h"
#include "profiler/run/middleware.h"
#include "tests/conformance/targets.h"
#include "tests/run/owner_of_build.h"

namespace icepath::test {
namespace {

std::unique_ptr<run::Middleware> middleware; // for all pairs

template <size_t N> void put(char (&field)[N], const std::string &text) { text.copy(field, N - 1); }

pid_t start(std::initializer_list<int> controls, const run::MiddlewareSpace *space)
{
	std::vector<std::string> words = {run::worker_program()};
	std::vector<Fd> inherited; // without close-on-exec
	for (const int control : controls) {
		inherited.emplace_back(dup(control));
		words.insert(words.end(), {"--control", std::to_string(inherited.back().get())});
	}
	std::vector<char *> arguments;
	arguments.reserve(words.size() + 1);
	for (std::string &word : words)
		arguments.push_back(word.data());
	arguments.push_back(nullptr);
	const pid_t pid = fork();
	if (pid == 0) {
		if (space && !space->enter())
			_exit(126);
		execv(arguments[0], arguments.data());
		_exit(127);
	}
	return pid;
}

std::array<WorkerUnderTest, 2> both_sides(const PairPlan &plan, const run::MiddlewareSpace *space)
{
	if (plan.threads)
		return WorkerUnderTest::threads_of_one(space);
	return {WorkerUnderTest(space), WorkerUnderTest(space)};
}

} // namespace

std::string plugin_path(const std::string &name)
{
	const char *folder = std::getenv("ICEPATH_CONFORMANCE_FOLDER");
	const std::filesystem::path programs = std::filesystem::path(run::worker_program()).parent_path();
	return (folder ? std::filesystem::path(folder) : programs.parent_path() / "lib/icepath") /
		   ("icepath-" + name + ".so");
}

const run::MiddlewareSpace *space_of(const std::string &plugin)
{
	if (!middleware)
		middleware = std::make_unique<run::Middleware>();
	model::Cell cell;
	for (const TargetUnderTest &target : all_targets())
		if (target.plugin == plugin && target.is_middleware())
			cell.kind = model::kAdapter;
	if (cell.kind == model::kAdapter && !become_owner_of_build())
		throw std::runtime_error("this process can't become the user whose build it is");
	return middleware->surroundings_of(cell, plugin_path(plugin)).space;
}

void end_daemons() { middleware.reset(); }

std::string channel_name() { return "icepath-test-" + std::to_string(getpid()); }

WorkerUnderTest::WorkerUnderTest(const run::MiddlewareSpace *space)
{
	auto [ours, theirs] = channel::open_pair();
	pid_ = start({theirs.get()}, space);
	socket_ = std::move(ours);
}

std::array<WorkerUnderTest, 2> WorkerUnderTest::threads_of_one(const run::MiddlewareSpace *space)
{
	auto [first, its] = channel::open_pair();
	auto [second, others] = channel::open_pair();
	const pid_t pid = start({its.get(), others.get()}, space);
	return {WorkerUnderTest(std::move(first), pid), WorkerUnderTest(std::move(second), -1)};
}

WorkerUnderTest::~WorkerUnderTest() { kill(); }

void WorkerUnderTest::send(const worker::Request &request, const std::vector<int> &fds)
{
	channel::send(socket_.get(), &request, sizeof(request), fds);
}

worker::Reply WorkerUnderTest::receive(std::vector<Fd> &fds, int timeout_ms)
{
	worker::Reply reply{};
	if (!channel::receive(socket_.get(), &reply, sizeof(reply), fds, timeout_ms)) {
		reply = {};
		reply.status = worker::ReplyStatus::Failed;
		put(reply.message, "(no reply)");
	}
	return reply;
}

worker::Reply WorkerUnderTest::ask(const worker::Request &request, const std::vector<int> &fds,
								   std::vector<Fd> &received)
{
	send(request, fds);
	return receive(received);
}

worker::Reply WorkerUnderTest::ask(const worker::Request &request)
{
	std::vector<Fd> none;
	return ask(request, {}, none);
}

void WorkerUnderTest::kill()
{
	if (pid_ <= 0)
		return;
	::kill(pid_, SIGKILL);
	waitpid(pid_, nullptr, 0);
	pid_ = -1;
}

int WorkerUnderTest::wait_end()
{
	socket_.reset();
	int status = -1;
	if (pid_ > 0)
		waitpid(pid_, &status, 0);
	pid_ = -1;
	return status;
}

WorkerPair::WorkerPair(const PairPlan &plan) : WorkerPair(plan, space_of(plan.plugin)) {}

WorkerPair::WorkerPair(const PairPlan &plan, const run::MiddlewareSpace *space)
	: plan_(plan), workers_(both_sides(plan, space))
{
	const size_t bytes = worker::cell_memory_bytes(plan.max_messages, 1);
	memory_fd_ = Fd(memfd_create("icepath-test-cell", MFD_CLOEXEC));
	void *memory = MAP_FAILED;
	if (memory_fd_ && ftruncate(memory_fd_.get(), static_cast<off_t>(bytes)) == 0)
		memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd_.get(), 0);
	if (memory == MAP_FAILED)
		throw Failure(ExitCode::MachineCannot, "no memory for the test's cell");
	memory_ = new (memory) worker::CellMemory{};
	memory_->capacity = plan.max_messages;
	memory_->senders[0].last_seq = UINT64_MAX;
}

WorkerPair::~WorkerPair() { munmap(memory_, worker::cell_memory_bytes(plan_.max_messages, 1)); }

std::string WorkerPair::open_side(uint32_t side, worker::Reply &reply, std::vector<Fd> &received)
{
	worker::Request request{};
	request.kind = worker::RequestKind::Open;
	put(request.plugin, plugin_path(plan_.plugin));
	put(request.open.target, plan_.target);
	put(request.open.name, plan_.name);
	put(request.open.thread, side == 0 ? "sender" : "receiver");
	request.open.channels = request.open.peers = 1;
	request.open.side = side;
	request.open.sends = !plan_.one_way || side == 0;
	request.open.receives = !plan_.one_way || side == 1;
	request.open.wait = plan_.wait;
	request.open.payload_bytes = plan_.payload_bytes;
	request.open.max_messages = plan_.max_messages;
	request.open.depth = plan_.depth;
	request.open.levels.responses = plan_.responses;
	request.open.qos = plan_.qos;
	request.open.may_lose = is_lossy(plan_.target) || model::may_lose(model::believable(plan_.qos));
	std::vector<int> fds = {memory_fd_.get()};
	if (plan_.slots_fd >= 0)
		fds.push_back(plan_.slots_fd);
	reply = workers_[side].ask(request, fds, received);
	sockets_[side] = reply.sockets;
	return reply.message;
}

std::string WorkerPair::open()
{
	std::array<worker::Reply, 2> opened;
	std::array<std::vector<Fd>, 2> received;
	for (const uint32_t side : {0u, 1u})
		if (std::string refusal = open_side(side, opened[side], received[side]); !refusal.empty())
			return refusal;
	for (const uint32_t side : {1u, 0u}) {
		worker::Request request{};
		request.kind = worker::RequestKind::Connect;
		request.address = opened[1 - side].address;
		std::vector<int> fds;
		for (uint32_t i = 0; i < request.address.fds_used; i++)
			fds.push_back(received[1 - side].at(i).get());
		std::vector<Fd> sockets;
		const worker::Reply reply = workers_[side].ask(request, fds, sockets);
		if (reply.status != worker::ReplyStatus::Done)
			return reply.message;
		sockets_[side] += reply.sockets;
		granted_[side] = reply.granted;
	}
	return {};
}

worker::BlockRequest WorkerPair::block(uint32_t count, int deadline_ms)
{
	worker::BlockRequest request{};
	request.levels.responses = plan_.responses;
	request.one_way = plan_.one_way;
	request.count = count;
	request.block = ++blocks_;
	request.deadline_ns = icepath_now_ns() + static_cast<uint64_t>(deadline_ms) * 1'000'000;
	request.cancel_ns = request.deadline_ns + 1'000'000'000;
	memory_->senders[0].last_seq = UINT64_MAX;
	return request;
}

void WorkerPair::start(uint32_t side, const worker::BlockRequest &block)
{
	worker::Request request{};
	request.kind = worker::RequestKind::RunBlock;
	request.block = block;
	workers_[side].send(request);
}

worker::Reply WorkerPair::finish(uint32_t side, int timeout_ms)
{
	std::vector<Fd> none;
	return workers_[side].receive(none, timeout_ms);
}

std::array<worker::Reply, 2> WorkerPair::run(const worker::BlockRequest &block)
{
	for (const uint32_t side : {1u, 0u})
		start(side, block);
	std::array<worker::Reply, 2> replies;
	for (const uint32_t side : {1u, 0u})
		replies[side] = finish(side);
	return replies;
}

const model::SendStamp *WorkerPair::sends(uint32_t side) const
{
	const auto *stamps = reinterpret_cast<const uint8_t *>(memory_ + 1);
	const size_t per_side = size_t{plan_.max_messages} * (sizeof(model::SendStamp) + sizeof(model::RecvStamp));
	return reinterpret_cast<const model::SendStamp *>(stamps + side * per_side);
}

const model::RecvStamp *WorkerPair::recvs(uint32_t side) const
{
	return reinterpret_cast<const model::RecvStamp *>(sends(side) + plan_.max_messages);
}

} // namespace icepath::test
