// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/one_way.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "icepath/plugin.h"

namespace icepath::capture {
namespace {

sockaddr_in loopback(int bound_socket)
{
	sockaddr_in address{};
	socklen_t size = sizeof(address);
	EXPECT_EQ(getsockname(bound_socket, reinterpret_cast<sockaddr *>(&address), &size), 0);
	return address;
}

int bound(int type)
{
	const int socket = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
	sockaddr_in address{};
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EXPECT_EQ(bind(socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
	return socket;
}

int connected_to(const sockaddr_in &address, int type)
{
	const int socket = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
	EXPECT_EQ(connect(socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address)), 0);
	return socket;
}

} // namespace

struct OneWay::Shared {
	std::atomic<int> asked, sent, taken; // numbers of messages
	std::array<Stamps, kMessages> stamps;
};

OneWay::OneWay(Mechanism mechanism, Receiver receiver, std::pair<uint32_t, uint32_t> cpus)
	: mechanism_(mechanism), how_(receiver)
{
	void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		throw std::runtime_error("no memory to share");
	shared_ = new (memory) Shared{};
	open(mechanism);
	receiver_ = std::make_unique<Player>(cpus.second, [this](int turn) { return take_turn(turn); });
	sender_ = std::make_unique<Player>(cpus.first, [this](int turn) { return send_turn(turn); });
}

OneWay::~OneWay()
{
	sender_.reset();
	receiver_.reset();
	close(out_);
	close(in_);
	munmap(shared_, sizeof(Shared));
}

void OneWay::open(Mechanism mechanism)
{
	std::array<int, 2> ends{-1, -1}; // in, out
	switch (mechanism) {
	case Mechanism::Stream:
	case Mechanism::Datagram:
	case Mechanism::SeqPacket: {
		const int type = mechanism == Mechanism::Stream     ? SOCK_STREAM
						 : mechanism == Mechanism::Datagram ? SOCK_DGRAM
															: SOCK_SEQPACKET;
		EXPECT_EQ(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()), 0);
		break;
	}
	case Mechanism::Tcp: {
		const int listener = bound(SOCK_STREAM), on = 1;
		EXPECT_EQ(listen(listener, 1), 0);
		ends[1] = connected_to(loopback(listener), SOCK_STREAM);
		ends[0] = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
		EXPECT_EQ(setsockopt(ends[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
		close(listener);
		break;
	}
	case Mechanism::Udp:
		ends[0] = bound(SOCK_DGRAM);
		ends[1] = connected_to(loopback(ends[0]), SOCK_DGRAM);
		break;
	case Mechanism::Pipe:
		EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
		break;
	case Mechanism::MessageQueue: {
		const std::string name = "/icepath-test-" + std::to_string(getpid());
		mq_attr sizes{};
		sizes.mq_maxmsg = 4;
		sizes.mq_msgsize = kPayloadBytes;
		ends[1] = mq_open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &sizes);
		ends[0] = mq_open(name.c_str(), O_RDONLY | O_CLOEXEC);
		mq_unlink(name.c_str());
		break;
	}
	}
	in_ = ends[0];
	out_ = ends[1];
	EXPECT_GE(in_, 0);
	EXPECT_GE(out_, 0);
}

bool OneWay::send_turn(int turn)
{
	const std::array<char, kPayloadBytes> payload{};
	for (int i = turn * kMessagesOfTurn; i < (turn + 1) * kMessagesOfTurn; i++) {
		while (shared_->taken < i || (how_ == Receiver::Asleep && (shared_->asked <= i || !is_asleep(receiver_->pid))))
			sched_yield();
		Stamps &stamps = shared_->stamps[static_cast<size_t>(i)];
		stamps.send_begin_ns = icepath_now_ns();
		const bool sent = mechanism_ == Mechanism::MessageQueue
							  ? mq_send(out_, payload.data(), payload.size(), 0) == 0
							  : write(out_, payload.data(), payload.size()) == ssize_t{kPayloadBytes};
		stamps.send_end_ns = icepath_now_ns();
		if (!sent)
			return false;
		shared_->sent = i + 1;
	}
	return true;
}

bool OneWay::take_turn(int turn)
{
	std::array<char, kPayloadBytes> payload{};
	for (int i = turn * kMessagesOfTurn; i < (turn + 1) * kMessagesOfTurn; i++) {
		while (how_ == Receiver::Away && shared_->sent <= i)
			sched_yield();
		Stamps &stamps = shared_->stamps[static_cast<size_t>(i)];
		shared_->asked = i + 1;
		stamps.take_begin_ns = icepath_now_ns();
		const ssize_t taken = mechanism_ == Mechanism::MessageQueue
								  ? mq_receive(in_, payload.data(), payload.size(), nullptr)
								  : read(in_, payload.data(), payload.size());
		stamps.take_end_ns = icepath_now_ns();
		if (taken != ssize_t{kPayloadBytes})
			return false;
		shared_->taken = i + 1;
	}
	return true;
}

void OneWay::play_turn()
{
	receiver_->go();
	sender_->go();
	sender_->await();
	receiver_->await();
}

std::span<const Stamps> OneWay::stamps() const { return shared_->stamps; }

} // namespace icepath::capture
