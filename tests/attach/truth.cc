// SPDX-License-Identifier: Apache-2.0
#include "tests/attach/truth.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "icepath/plugin.h"
#include "tests/attach/program.h"

namespace icepath::attach {
namespace {

struct Header {
	uint32_t magic, connection, writer, number, bytes;
};
constexpr uint32_t kMagic = 0x1ce9a7e5;

uint32_t this_tid() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

[[noreturn]] void fail(const char *what)
{
	perror(what);
	_exit(1);
}

struct Joined {
	int writing = -1, reading = -1; // if connections have a life, `reading` accepts them
};

int listening(model::StreamKind kind)
{
	const int listener = socket(kind == model::StreamKind::Tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
	sockaddr_in to{};
	to.sin_family = AF_INET;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	const sa_family_t family = AF_UNIX; // alone: the kernel chooses an abstract address (unix(7))
	const bool is_tcp = kind == model::StreamKind::Tcp;
	const auto *at = is_tcp ? reinterpret_cast<const sockaddr *>(&to) : reinterpret_cast<const sockaddr *>(&family);
	if (bind(listener, at, is_tcp ? sizeof to : sizeof family) != 0 || listen(listener, 16) != 0)
		fail("listen");
	return listener;
}

int connected_to(int listener)
{
	sockaddr_storage to{};
	socklen_t size = sizeof to;
	if (getsockname(listener, reinterpret_cast<sockaddr *>(&to), &size) != 0)
		fail("getsockname");
	const int fd = socket(to.ss_family, SOCK_STREAM, 0);
	if (connect(fd, reinterpret_cast<sockaddr *>(&to), size) != 0)
		fail("connect");
	const int on = 1, room = 4 << 20;
	if (to.ss_family == AF_INET) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
	}
	return fd;
}

Joined tcp_joined()
{
	const int listener = listening(model::StreamKind::Tcp);
	Joined ends{connected_to(listener), -1};
	ends.reading = accept(listener, nullptr, nullptr);
	close(listener);
	return ends;
}

Joined joined_by(model::StreamKind kind)
{
	int two[2];
	switch (kind) {
	case model::StreamKind::UnixStream:
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, two) != 0)
			fail("socketpair");
		return {two[0], two[1]};
	case model::StreamKind::Tcp:
		return tcp_joined();
	case model::StreamKind::Pipe:
		if (pipe(two) != 0)
			fail("pipe");
		return {two[1], two[0]};
	case model::StreamKind::Fifo: {
		const std::string name = "/tmp/icepath-truth-" + std::to_string(this_tid());
		if (mkfifo(name.c_str(), 0600) != 0)
			fail("mkfifo");
		const int both = open(name.c_str(), O_RDWR);
		const Joined ends{open(name.c_str(), O_WRONLY), open(name.c_str(), O_RDONLY)};
		close(both);
		unlink(name.c_str());
		return ends;
	}
	}
	return {};
}

// A message by a call that moves bytes between descriptors.
bool send_file(int fd, const std::vector<char> &message, bool splices)
{
	const auto size = static_cast<ssize_t>(message.size());
	if (splices) {
		int two[2];
		if (pipe(two) != 0 || write(two[1], message.data(), message.size()) != size)
			fail("pipe");
		const bool done = splice(two[0], nullptr, fd, nullptr, message.size(), 0) == size;
		close(two[0]);
		close(two[1]);
		return done;
	}
	const int file = memfd_create("message", 0);
	if (write(file, message.data(), message.size()) != size)
		fail("memfd");
	off_t from = 0;
	const bool done = sendfile(fd, file, &from, message.size()) == size;
	close(file);
	return done;
}

class Writer {
public:
	Writer(const Load &load, Truth &truth, uint32_t connection, uint32_t number)
		: load_(load), truth_(truth), connection_(connection), writer_(number), random_(connection * 100 + number + 1)
	{}

	void write_all(int fd, uint32_t first, uint32_t last)
	{
		if (!load_.threads_end) {
			write_some(fd, first, last);
			return;
		}
		for (uint32_t i = first; i < last; i += 100)
			std::thread([&] { write_some(fd, i, std::min(i + 100, last)); }).join();
	}

private:
	void write_some(int listener, uint32_t first, uint32_t last) // or where it writes
	{
		for (uint32_t i = first; i < last; i++) {
			std::vector<char> message(sizeof(Header) + random_() % load_.longest, static_cast<char>(i));
			if (load_.life > 0 && i % load_.life == 0)
				anew(listener);
			const int fd = load_.life > 0 ? its_ : listener;
			const Header header{kMagic, connection_, writer_, i, static_cast<uint32_t>(message.size())};
			std::memcpy(message.data(), &header, sizeof header);
			Sending one{this_tid(), connection_, writer_, i, header.bytes, icepath_now_ns(), 0};
			if (load_.sends_files && i % 4 < 2) {
				if (!send_file(fd, message, i % 4 == 1))
					fail("send file");
			} else if (write(fd, message.data(), message.size()) != static_cast<ssize_t>(message.size())) {
				fail("write");
			}
			one.after_ns = icepath_now_ns();
			truth_.sent.at(truth_.sendings++) = one;
			if (!load_.floods && random_() % 4 == 0)
				usleep(static_cast<useconds_t>(random_() % 200));
		}
		if (load_.life > 0)
			close(its_);
	}

	void anew(int listener)
	{
		if (its_ >= 0)
			close(its_);
		its_ = connected_to(listener);
		char greeting = 0;
		if (read(its_, &greeting, 1) != 1)
			fail("read");
	}

	const Load &load_;
	Truth &truth_;
	const uint32_t connection_, writer_;
	std::minstd_rand random_;
	int its_ = -1; // where connections have a life, the present one
};

int greeted(int listener)
{
	const int fd = accept(listener, nullptr, nullptr);
	if (write(fd, "", 1) != 1)
		fail("write");
	return fd;
}

// Takes pieces of any size, and notes whose last byte came with which.
void receive(const Load &load, Truth &truth, uint32_t connection, int fd)
{
	const int accepts = fd;
	if (load.life > 0)
		fd = greeted(accepts);
	std::minstd_rand random(connection + 7);
	std::vector<char> held, buffer(2 * load.longest + 100);
	uint64_t left = uint64_t{load.messages} * load.writers;
	while (left > 0) {
		const size_t most = 1 + random() % buffer.size();
		if (load.peeks && random() % 3 == 0)
			(void)recv(fd, buffer.data(), most, MSG_PEEK);
		Receipt one{this_tid(), connection, 0, 0, icepath_now_ns(), 0};
		const ssize_t got = read(fd, buffer.data(), most);
		one.after_ns = icepath_now_ns();
		if (got == 0 && load.life > 0) {
			close(fd);
			fd = greeted(accepts);
			continue;
		}
		if (got <= 0)
			fail("read");
		held.insert(held.end(), buffer.begin(), buffer.begin() + got);
		for (Header header{}; held.size() >= sizeof header;) {
			std::memcpy(&header, held.data(), sizeof header);
			if (header.magic != kMagic || header.connection != connection) { // writers' bytes were mixed
				truth.broken++;
				_exit(1);
			}
			if (held.size() < header.bytes)
				break;
			one.writer = header.writer;
			one.number = header.number;
			truth.received.at(truth.receipts++) = one;
			held.erase(held.begin(), held.begin() + header.bytes);
			left--;
		}
		if (random() % 16 == 0)
			usleep(static_cast<useconds_t>(random() % 500));
	}
}

void send_descriptor(int over, int fd)
{
	char byte = 1;
	iovec data{&byte, 1};
	alignas(cmsghdr) char room[CMSG_SPACE(sizeof fd)] = {};
	msghdr message{};
	message.msg_iov = &data;
	message.msg_iovlen = 1;
	message.msg_control = room;
	message.msg_controllen = sizeof room;
	cmsghdr *control = CMSG_FIRSTHDR(&message);
	*control = {CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
	std::memcpy(CMSG_DATA(control), &fd, sizeof fd);
	if (sendmsg(over, &message, 0) != 1)
		fail("sendmsg");
}

int received_descriptor(int over)
{
	char byte = 0;
	iovec data{&byte, 1};
	alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
	msghdr message{};
	message.msg_iov = &data;
	message.msg_iovlen = 1;
	message.msg_control = room;
	message.msg_controllen = sizeof room;
	int fd = -1;
	if (recvmsg(over, &message, 0) == 1)
		if (const cmsghdr *control = CMSG_FIRSTHDR(&message))
			std::memcpy(&fd, CMSG_DATA(control), sizeof fd);
	return fd;
}

void send_all(const Load &load, Truth &truth, uint32_t connection, int fd)
{
	std::vector<std::thread> writers;
	const bool halves = load.passes_on || load.forks;
	const uint32_t half = halves ? load.messages / 2 : load.messages;
	for (uint32_t i = 0; i < load.writers; i++)
		writers.emplace_back([&, i] { Writer(load, truth, connection, i).write_all(fd, 0, half); });
	for (std::thread &one : writers)
		one.join();
	if (!halves)
		return;
	int over[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, over) != 0)
		fail("socketpair");
	const pid_t child = fork();
	if (child == 0) {
		const int its = load.passes_on ? received_descriptor(over[1]) : fd;
		writers.clear();
		for (uint32_t i = 0; i < load.writers; i++)
			writers.emplace_back([&, i] { Writer(load, truth, connection, i).write_all(its, half, load.messages); });
		for (std::thread &one : writers)
			one.join();
		_exit(0);
	}
	if (load.passes_on)
		send_descriptor(over[0], fd);
	(void)waitpid(child, nullptr, 0);
}

} // namespace

void run_load(const Load &load, Truth &truth, Shared &shared)
{
	std::vector<Joined> ends;
	for (uint32_t i = 0; i < load.connections; i++) {
		const int listener = load.life > 0 ? listening(load.kind) : -1;
		ends.push_back(load.life > 0 ? Joined{listener, listener} : joined_by(load.kind));
	}
	const pid_t sender = fork();
	if (sender == 0) {
		if (!load.begins_before)
			await(shared.goes);
		std::vector<std::thread> all;
		for (uint32_t i = 0; i < load.connections; i++)
			all.emplace_back([&, i] { send_all(load, truth, i, ends[i].writing); });
		for (std::thread &one : all)
			one.join();
		_exit(0);
	}
	std::vector<std::thread> all;
	if (load.begins_before)
		usleep(50'000);
	for (uint32_t i = 0; i < load.connections; i++)
		all.emplace_back([&, i] { receive(load, truth, i, ends[i].reading); });
	shared.is_ready = 1;
	for (std::thread &one : all)
		one.join();
	(void)waitpid(sender, nullptr, 0);
}

std::shared_ptr<Truth> shared_truth()
{
	void *memory = mmap(nullptr, sizeof(Truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		fail("mmap");
	return {new (memory) Truth, [](Truth *truth) { munmap(truth, sizeof *truth); }};
}

} // namespace icepath::attach
