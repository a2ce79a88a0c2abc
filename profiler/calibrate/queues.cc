// SPDX-License-Identifier: Apache-2.0
#include "profiler/calibrate/queues.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <mqueue.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "profiler/failure.h"

namespace icepath::calibrate {
namespace {

void check(bool made, const char *what)
{
	if (!made)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("cannot make {} to calibrate: {}", what, std::strerror(errno)));
}

std::vector<uint64_t> sizes_up_to(uint64_t largest)
{
	std::vector<uint64_t> sizes;
	for (const uint64_t size : {1, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536})
		if (size <= largest)
			sizes.push_back(size);
	return sizes;
}

Queue pipe_queue(char *memory)
{
	int ends[2];
	check(pipe2(ends, O_CLOEXEC) == 0, "a pipe");
	Queue queue{.target = "pipe", .watched = ICEPATH_WATCH_PIPE_LOCK, .sizes = {}, .ends = {}, .send = {}, .take = {}};
	// The sender releases the pipe's lock once the message is in; a receiver that takes the lock then finds it.
	queue.ready = Hit::Last;
	queue.taken = Hit::First;
	queue.sizes = sizes_up_to(kMostBytes);
	queue.ends.emplace_back(ends[0]);
	queue.ends.emplace_back(ends[1]);
	queue.send = [memory, fd = ends[1]](uint64_t bytes) {
		return write(fd, memory, bytes) == static_cast<ssize_t>(bytes);
	};
	queue.take = [memory, fd = ends[0]](uint64_t bytes) {
		return read(fd, memory, bytes) == static_cast<ssize_t>(bytes);
	};
	return queue;
}

Queue eventfd_queue(char *memory)
{
	const int fd = eventfd(0, EFD_CLOEXEC);
	check(fd >= 0, "an eventfd");
	Queue queue{
		.target = "eventfd", .watched = ICEPATH_WATCH_EVENTFD_COUNT, .sizes = {8}, .ends = {}, .send = {}, .take = {}};
	queue.ends.emplace_back(fd);
	queue.send = [memory, fd](uint64_t bytes) {
		const uint64_t one = 1;
		std::memcpy(memory, &one, sizeof(one));
		return write(fd, memory, bytes) == static_cast<ssize_t>(bytes);
	};
	queue.take = [memory, fd](uint64_t bytes) { return read(fd, memory, bytes) == static_cast<ssize_t>(bytes); };
	return queue;
}

Queue message_queue(char *memory)
{
	uint64_t random = 0; // nobody can take the name first
	check(getrandom(&random, sizeof(random), 0) == sizeof(random), "a random number");
	const std::string name = fmt::format("/icepath-calibrate-{:016x}", random);
	const mqd_t fd = mq_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, nullptr);
	check(fd >= 0, "a message queue");
	mq_unlink(name.c_str());
	Queue queue{
		.target = "mqueue", .watched = ICEPATH_WATCH_MESSAGE_COUNT, .sizes = {}, .ends = {}, .send = {}, .take = {}};
	queue.ends.emplace_back(fd);
	mq_attr attributes{};
	check(mq_getattr(fd, &attributes) == 0, "a message queue");
	const auto room = std::min(kMostBytes, static_cast<uint64_t>(attributes.mq_msgsize));
	queue.sizes = sizes_up_to(room);
	queue.send = [memory, fd](uint64_t bytes) { return mq_send(fd, memory, bytes, 0) == 0; };
	queue.take = [memory, fd, room](uint64_t bytes) {
		return mq_receive(fd, memory, room, nullptr) == static_cast<ssize_t>(bytes);
	};
	return queue;
}

Queue socket_queue(const char *target, int type, char *memory)
{
	int ends[2];
	check(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) == 0, "a socket pair");
	Queue queue{
		.target = target, .watched = ICEPATH_WATCH_SOCKET_QUEUE, .sizes = {}, .ends = {}, .send = {}, .take = {}};
	queue.sizes = sizes_up_to(kMostBytes);
	queue.ends.emplace_back(ends[0]); // the receiver's: a message is queued at the sender's peer
	queue.ends.emplace_back(ends[1]);
	queue.send = [memory, fd = ends[1]](uint64_t bytes) {
		return send(fd, memory, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
	};
	queue.take = [memory, fd = ends[0]](uint64_t bytes) {
		return recv(fd, memory, bytes, 0) == static_cast<ssize_t>(bytes);
	};
	return queue;
}

} // namespace

std::vector<Queue> make_queues(char *memory)
{
	std::vector<Queue> queues;
	queues.push_back(pipe_queue(memory));
	queues.push_back(eventfd_queue(memory));
	queues.push_back(message_queue(memory));
	queues.push_back(socket_queue("uds-dgram", SOCK_DGRAM, memory));
	queues.push_back(socket_queue("uds-seqpacket", SOCK_SEQPACKET, memory));
	queues.push_back(socket_queue("uds-stream", SOCK_STREAM, memory));
	return queues;
}

} // namespace icepath::calibrate
