// SPDX-License-Identifier: Apache-2.0
// What a peer may do to the other end of a channel: send too little or too much, signal, vanish, or do nothing.
#include "profiler/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "profiler/failure.h"

namespace icepath {
namespace {

using Message = std::array<char, 64>;

// The kernel drops descriptors beyond the process's limit, and reports it; that isn't the message's fault.
TEST(Descriptors, ThatCannotBeHadAreNamed)
{
	auto [one, other] = channel::open_pair();
	Message message{};
	ASSERT_TRUE(channel::send(one.get(), message.data(), message.size(), {STDIN_FILENO}));
	rlimit before{};
	ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	const rlimit none{0, before.rlim_max};
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	std::vector<Fd> received;
	EXPECT_THROW(channel::receive(other.get(), message.data(), message.size(), received), Failure);
	ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

std::atomic<int> signals_handled{0};

// Without SA_RESTART: an interrupted call fails with EINTR.
void catch_signals()
{
	struct sigaction action = {};
	action.sa_handler = [](int) { signals_handled++; };
	sigaction(SIGUSR1, &action, nullptr);
}

// A thread that does one thing with a channel, and a way to see that it sleeps in it.
class Doing {
public:
	template <class What>
	explicit Doing(What what)
		: thread_([this, what] {
			  tid_ = gettid();
			  what();
			  done_ = true;
		  })
	{}
	~Doing() { thread_.join(); }
	bool done() const { return done_; }
	void await_sleep() const
	{
		for (char state = 0; !done_ && state != 'S'; std::this_thread::yield()) {
			std::ifstream stat("/proc/self/task/" + std::to_string(tid_) + "/stat");
			std::string number, name;
			stat >> number >> name >> state;
		}
	}
	void signal()
	{
		const int before = signals_handled;
		pthread_kill(thread_.native_handle(), SIGUSR1);
		while (!done_ && signals_handled == before)
			std::this_thread::yield();
	}

private:
	std::atomic<pid_t> tid_{0};
	std::atomic<bool> done_{false};
	std::thread thread_;
};

class Channel : public testing::Test {
protected:
	Channel() { std::tie(ours, theirs) = channel::open_pair(); }
	bool receive(int timeout_ms = 10'000) { return channel::receive(ours.get(), &got, sizeof(got), fds, timeout_ms); }

	Fd ours, theirs;
	const Message message = {"what is sent"};
	Message got{};
	std::vector<Fd> fds;
};

size_t open_descriptors()
{
	const std::filesystem::directory_iterator all("/proc/self/fd");
	return static_cast<size_t>(std::distance(begin(all), end(all)));
}

TEST_F(Channel, CarriesAMessageBothWays)
{
	ASSERT_TRUE(channel::send(theirs.get(), &message, sizeof(message)));
	ASSERT_TRUE(receive());
	EXPECT_EQ(got, message);
	ASSERT_TRUE(channel::send(ours.get(), &message, sizeof(message)));
	got = {};
	EXPECT_TRUE(channel::receive(theirs.get(), &got, sizeof(got), fds));
	EXPECT_EQ(got, message);
	EXPECT_TRUE(fds.empty());
}

TEST_F(Channel, KeepsMessagesApart)
{
	for (char i = 0; i < 3; i++)
		ASSERT_TRUE(channel::send(theirs.get(), &(got = {i}), sizeof(got)));
	for (char i = 0; i < 3; i++) {
		ASSERT_TRUE(receive());
		EXPECT_EQ(got, Message{i});
	}
}

TEST_F(Channel, RefusesAMessageOfAnotherSize)
{
	const std::array<char, 2 * sizeof(Message)> longer{};
	for (const size_t bytes : {size_t{0}, size_t{1}, sizeof(Message) - 1, sizeof(Message) + 1, longer.size()}) {
		ASSERT_TRUE(channel::send(theirs.get(), &longer, bytes));
		EXPECT_FALSE(receive()) << bytes;
	}
	ASSERT_TRUE(channel::send(theirs.get(), &message, sizeof(message)));
	EXPECT_TRUE(receive()) << "the rest of a refused message was taken for the next one";
	EXPECT_EQ(got, message);
}

TEST_F(Channel, TellsThatThePeerIsGone)
{
	theirs.reset();
	EXPECT_FALSE(receive(-1));
	EXPECT_FALSE(receive(1000));
	EXPECT_FALSE(channel::send(ours.get(), &message, sizeof(message))); // a SIGPIPE would end the test
}

TEST_F(Channel, DeliversWhatThePeerSentBeforeItWent)
{
	ASSERT_TRUE(channel::send(theirs.get(), &message, sizeof(message)));
	theirs.reset();
	EXPECT_TRUE(receive());
	EXPECT_FALSE(receive());
}

TEST_F(Channel, WakesAReceiverWhosePeerGoes)
{
	for (const int timeout_ms : {-1, 3'600'000}) {
		std::tie(ours, theirs) = channel::open_pair();
		bool received = true;
		{
			const Doing receiver([&] { received = receive(timeout_ms); });
			receiver.await_sleep();
			theirs.reset();
		}
		EXPECT_FALSE(received);
	}
}

TEST_F(Channel, GivesUpAtTheDeadline)
{
	EXPECT_FALSE(receive(0));
	EXPECT_FALSE(receive(20));
	ASSERT_TRUE(channel::send(theirs.get(), &message, sizeof(message)));
	EXPECT_TRUE(receive(0)) << "what is there already needs no time";
}

TEST_F(Channel, WaitsOnAfterASignal)
{
	catch_signals();
	for (const int timeout_ms : {-1, 3'600'000}) {
		bool received = false;
		{
			Doing receiver([&] { received = receive(timeout_ms); });
			for (int i = 0; i < 3; i++) {
				receiver.await_sleep();
				receiver.signal();
			}
			EXPECT_FALSE(receiver.done());
			EXPECT_TRUE(channel::send(theirs.get(), &message, sizeof(message)));
		}
		EXPECT_TRUE(received);
	}
}

// A deadline that restarted with each signal would never come.
TEST_F(Channel, KeepsItsDeadlineUnderSignals)
{
	catch_signals();
	bool received = true;
	{
		Doing receiver([&] { received = receive(100); });
		while (!receiver.done())
			receiver.signal();
	}
	EXPECT_FALSE(received);
}

TEST_F(Channel, SendsOnAfterASignal)
{
	catch_signals();
	const int room = 1; // the kernel's minimum
	setsockopt(theirs.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	constexpr int kMessages = 100;
	int sent = 0;
	{
		Doing sender([&] {
			while (sent < kMessages && channel::send(theirs.get(), &message, sizeof(message)))
				sent++;
		});
		for (int i = 0; i < 3; i++) {
			sender.await_sleep();
			sender.signal();
		}
		EXPECT_FALSE(sender.done());
		for (int i = 0; i < kMessages && receive(); i++)
			;
	}
	EXPECT_EQ(sent, kMessages);
}

TEST_F(Channel, CarriesDescriptorsInOrder)
{
	std::array<Fd, channel::kMaxFds> files;
	std::vector<int> numbers;
	for (Fd &file : files) {
		file = Fd(open("/tmp", O_TMPFILE | O_RDWR, 0600));
		ASSERT_TRUE(file);
		numbers.push_back(file.get());
		const auto index = static_cast<char>(numbers.size());
		ASSERT_EQ(pwrite(file.get(), &index, 1, 0), 1);
	}
	ASSERT_TRUE(channel::send(theirs.get(), &message, sizeof(message), numbers));
	ASSERT_TRUE(receive());
	ASSERT_EQ(fds.size(), files.size());
	for (size_t i = 0; i < fds.size(); i++) {
		char index = 0;
		EXPECT_EQ(pread(fds[i].get(), &index, 1, 0), 1);
		EXPECT_EQ(index, static_cast<char>(i + 1));
		EXPECT_TRUE(fcntl(fds[i].get(), F_GETFD) & FD_CLOEXEC) << "a program that is started later would have it";
	}
	EXPECT_FALSE(channel::send(theirs.get(), &message, sizeof(message), std::vector<int>(channel::kMaxFds + 1, 0)));
}

// The kernel closes descriptors beyond the limit, and the message counts.
TEST_F(Channel, KeepsNoDescriptorBeyondTheLimit)
{
	constexpr size_t kSent = 3 * channel::kMaxFds;
	std::array<int, kSent> numbers{};
	numbers.fill(theirs.get());
	alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(numbers))> control{};
	iovec part{const_cast<Message *>(&message), sizeof(message)};
	msghdr header{};
	header.msg_iov = &part;
	header.msg_iovlen = 1;
	header.msg_control = control.data();
	header.msg_controllen = control.size();
	cmsghdr *rights = CMSG_FIRSTHDR(&header);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(numbers));
	std::memcpy(CMSG_DATA(rights), numbers.data(), sizeof(numbers));
	const size_t before = open_descriptors();
	ASSERT_EQ(sendmsg(theirs.get(), &header, 0), static_cast<ssize_t>(sizeof(message)));
	receive();
	EXPECT_LE(fds.size(), channel::kMaxFds);
	EXPECT_EQ(open_descriptors(), before + fds.size());
	fds.clear();
	EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Channel, LeavesNoDescriptorOfARefusedMessage)
{
	const size_t before = open_descriptors();
	ASSERT_TRUE(channel::send(theirs.get(), &message, 1, {0, 1, 2}));
	EXPECT_FALSE(receive());
	fds.clear();
	EXPECT_EQ(open_descriptors(), before);
}

TEST(FdTest, ClosesWhatItOwnsOnce)
{
	const size_t before = open_descriptors();
	Fd first(dup(0)), second(dup(0));
	EXPECT_EQ(open_descriptors(), before + 2);
	first = std::move(second);
	second.reset();
	EXPECT_EQ(open_descriptors(), before + 1);
	const int kept = first.release();
	first.reset();
	EXPECT_EQ(open_descriptors(), before + 1);
	close(kept);
}

} // namespace
} // namespace icepath
