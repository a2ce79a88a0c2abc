// SPDX-License-Identifier: Apache-2.0
// Requests to the root helper that icepath would never make. It refuses them with a sentence, and goes on; or it ends,
// if the message can't be one of the protocol's. One program uses helpers that have loaded nothing, which needs no
// root, another uses loaded ones, which have their filter.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <future>
#include <random>
#include <stdexcept>
#include <thread>

#include "profiler/capture/thread_pidfd.h"
#include "profiler/failure.h"
#include "tests/privilege/random_request.h"
#include "tests/privilege/raw_helper.h"

namespace icepath::privilege {
namespace {

constexpr auto kInternal = static_cast<int32_t>(ExitCode::Internal);

void expect_refused(const std::optional<HelperReply> &reply, int32_t code, const std::string &says)
{
	ASSERT_TRUE(reply) << "the helper is gone";
	EXPECT_EQ(reply->exit_code, code);
	EXPECT_NE(sentence(*reply).find(says), std::string::npos) << sentence(*reply);
}

TEST(Requests, OfAnotherSizeEndTheHelper)
{
	const std::vector<char> bytes(sizeof(HelperRequest) * 8);
	for (const size_t size : {size_t{0}, size_t{1}, sizeof(HelperRequestKind), sizeof(HelperRequest) - 1,
							  sizeof(HelperRequest) + 1, bytes.size()}) {
		RawHelper helper;
		ASSERT_TRUE(helper.send(bytes.data(), size));
		const int status = helper.wait_end();
		EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << size << " bytes: " << status;
	}
}

TEST(Requests, ThatNobodyKnowsAreRefused)
{
	RawHelper helper;
	for (const uint32_t kind : {10u, 11u, 0x80000000u, UINT32_MAX})
		expect_refused(helper.ask(request_of(static_cast<HelperRequestKind>(kind))), kInternal, "doesn't know");
	EXPECT_TRUE(helper.is_well());
}

#ifndef ICEPATH_TEST_LOADED
TEST(Requests, ToCaptureComeAfterLoad)
{
	RawHelper helper;
	const auto [socket, other] = channel::open_pair();
	for (const auto kind : {HelperRequestKind::Attach, HelperRequestKind::EndBlock})
		expect_refused(helper.ask(request_of(kind)), kInternal, "had loaded");
	expect_refused(helper.ask(request_of(HelperRequestKind::AddSocket), {socket.get()}), kInternal, "had loaded");
	expect_refused(helper.ask(request_of(HelperRequestKind::BeginBlock)), kInternal, "");
	const Child child;
	expect_refused(helper.ask(request_of(HelperRequestKind::Follow), {child.pidfd()}), kInternal, "had loaded");
	EXPECT_TRUE(helper.is_well());
}

TEST(Requests, ToLoadAreBounded)
{
	RawHelper helper;
	const auto with = [](uint32_t cpus, uint32_t records) {
		HelperRequest request = request_of(HelperRequestKind::Load);
		request.cpu_count = cpus;
		request.records_per_slot = records;
		return request;
	};
	expect_refused(helper.ask(with(kMaxCaptureCpus + 1, 1024)), kInternal, "out of range");
	expect_refused(helper.ask(with(UINT32_MAX, 1024)), kInternal, "out of range");
	expect_refused(helper.ask(with(1, 0)), kInternal, "out of range");
	expect_refused(helper.ask(with(1, (1u << 20) + 1)), kInternal, "out of range");
	expect_refused(helper.ask(with(1, UINT32_MAX)), kInternal, "out of range");
	EXPECT_TRUE(helper.is_well());
}
#endif

TEST(Requests, NeedTheDescriptorsThatBelongToThem)
{
	RawHelper helper;
	const Child child;
	for (const auto kind : {HelperRequestKind::AddWorker, HelperRequestKind::Follow}) {
		const HelperRequest request = request_of(kind);
		expect_refused(helper.ask(request), kInternal, "none was sent");
		expect_refused(helper.ask(request, {child.pidfd(), child.pidfd()}), kInternal, "none was sent");
		expect_refused(helper.ask(request, std::vector<int>(channel::kMaxFds, child.pidfd())), kInternal,
					   "none was sent");
	}
	expect_refused(helper.ask(request_of(HelperRequestKind::AddSocket)), kInternal, "none was sent");
	EXPECT_TRUE(helper.is_well());
}

// Descriptors of every kind but pidfds and sockets: their owner would decide how long the helper takes to close them,
// with all probes attached.
std::vector<Fd> strange_descriptors()
{
	std::vector<Fd> all;
	all.emplace_back(open("/dev/null", O_RDONLY));
	all.emplace_back(memfd_create("file", 0));
	all.emplace_back(open("/", O_PATH));
	all.emplace_back(open("/proc/self", O_RDONLY | O_DIRECTORY)); // pidfd_send_signal(2) accepts it as a pidfd
	int ends[2];
	if (pipe(ends) == 0) {
		all.emplace_back(ends[0]);
		all.emplace_back(ends[1]);
	}
	all.emplace_back(eventfd(0, 0));
	all.emplace_back(epoll_create1(0));
	all.emplace_back(timerfd_create(CLOCK_MONOTONIC, 0));
	all.emplace_back(inotify_init());
	all.emplace_back(open("/proc/self/ns/net", O_RDONLY));
	all.emplace_back(posix_openpt(O_RDWR | O_NOCTTY));
	all.emplace_back(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
	all.emplace_back(socket(AF_INET, SOCK_STREAM, 0));
	const linger an_hour{1, 3600};
	EXPECT_EQ(setsockopt(all.back().get(), SOL_SOCKET, SO_LINGER, &an_hour, sizeof(an_hour)), 0);
	return all;
}

TEST(Requests, WithAStrangeDescriptorEndTheHelper)
{
	size_t number = 0;
	for (const Fd &fd : strange_descriptors()) {
		SCOPED_TRACE(number++);
		ASSERT_TRUE(fd);
		RawHelper helper;
		const HelperRequest request =
			request_of(number % 2 ? HelperRequestKind::AddSocket : HelperRequestKind::EndBlock);
		const Child child;
		ASSERT_TRUE(helper.send(&request, sizeof(request), {child.pidfd(), fd.get()}));
		const int status = helper.wait_end();
		EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
	}
}

TEST(AddWorker, TakesChildrenOfIcepath)
{
	RawHelper helper;
	const HelperRequest request = request_of(HelperRequestKind::AddWorker);
	const Child first, second;
	uint32_t number = 0;
	for (const auto &reply : {helper.ask(request, {first.pidfd()}), helper.ask(request, {second.pidfd()})}) {
		ASSERT_TRUE(reply);
		EXPECT_EQ(reply->exit_code, 0) << sentence(*reply);
		EXPECT_EQ(reply->worker, number++);
	}
}

class Marking : public testing::TestWithParam<HelperRequestKind> {};
INSTANTIATE_TEST_SUITE_P(Both, Marking, testing::Values(HelperRequestKind::AddWorker, HelperRequestKind::Follow));

TEST_P(Marking, TouchesNobodyElse)
{
	RawHelper helper;
	const HelperRequest request = request_of(GetParam());
	const std::string says = "only workers of the icepath that started it";
	const auto [socket, other] = channel::open_pair();
	const Fd own = pidfd_of(getpid()), init = pidfd_of(1);
	for (const Fd *fd : {&socket, &own, &init}) {
		ASSERT_TRUE(*fd);
		expect_refused(helper.ask(request, {fd->get()}), kInternal, says);
	}
	EXPECT_TRUE(helper.is_well());
}

// A process with a second thread; each waits to be ended.
class ChildWithThread {
public:
	ChildWithThread()
	{
		int told[2];
		if (pipe(told))
			throw std::runtime_error("no pipe");
		pid_ = fork();
		if (pid_ == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			std::thread([&] {
				const pid_t tid = gettid();
				(void)!write(told[1], &tid, sizeof(tid));
				for (;;)
					pause();
			}).join();
		}
		(void)!read(told[0], &tid_, sizeof(tid_));
		close(told[0]);
		close(told[1]);
	}
	~ChildWithThread()
	{
		kill(pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}
	pid_t pid() const { return pid_; }
	pid_t tid() const { return tid_; }

private:
	pid_t pid_ = -1, tid_ = -1;
};

class AddThread : public testing::Test {
protected:
	void SetUp() override
	{
		if (const std::string missing = capture::thread_pidfds_missing(); !missing.empty())
			GTEST_SKIP() << missing;
	}
	RawHelper helper;
	HelperRequest request = request_of(HelperRequestKind::AddWorker);
};

TEST_F(AddThread, TakesAThreadOfAChild)
{
	const ChildWithThread child;
	const Fd thread(capture::open_thread(child.tid()));
	ASSERT_TRUE(thread);
	const auto reply = helper.ask(request, {thread.get()});
	ASSERT_TRUE(reply);
	EXPECT_EQ(reply->exit_code, 0) << sentence(*reply);
}

TEST_F(AddThread, TouchesNoThreadOfAnybodyElse)
{
	std::promise<pid_t> number;
	std::promise<void> end;
	std::thread own([&, over = end.get_future()] {
		number.set_value(gettid());
		over.wait();
	});
	const pid_t tid = number.get_future().get();
	const Fd of_icepath(capture::open_thread(tid)), main_thread(capture::open_thread(getpid())),
		init(capture::open_thread(1));
	for (const Fd *fd : {&of_icepath, &main_thread, &init}) {
		ASSERT_TRUE(*fd);
		expect_refused(helper.ask(request, {fd->get()}), kInternal, "only workers");
	}
	end.set_value();
	own.join();
	EXPECT_TRUE(helper.is_well());
}

TEST_F(AddThread, TakesNoThreadOfAGrandchild)
{
	int told[2];
	ASSERT_EQ(pipe(told), 0);
	const pid_t child = fork();
	if (child == 0) {
		const ChildWithThread grandchild;
		const pid_t tid = grandchild.tid();
		(void)!write(told[1], &tid, sizeof(tid));
		for (;;)
			pause();
	}
	pid_t tid = -1;
	ASSERT_EQ(read(told[0], &tid, sizeof(tid)), static_cast<ssize_t>(sizeof(tid)));
	const Fd thread(capture::open_thread(tid));
	expect_refused(helper.ask(request, {thread.get()}), kInternal, "only workers");
	kill(child, SIGKILL); // PR_SET_PDEATHSIG ends the other process
	waitpid(child, nullptr, 0);
	close(told[0]);
	close(told[1]);
}

TEST_F(AddThread, TakesNoneThatHasEnded)
{
	Fd thread;
	{
		const ChildWithThread child;
		thread = Fd(capture::open_thread(child.tid()));
		ASSERT_TRUE(thread);
	}
	expect_refused(helper.ask(request, {thread.get()}), kInternal, "only workers");
	EXPECT_TRUE(helper.is_well());
}

TEST(AddWorker, TakesNoGrandchild)
{
	int told[2];
	ASSERT_EQ(pipe(told), 0);
	const pid_t child = fork();
	if (child == 0) {
		const Child grandchild;
		const pid_t pid = grandchild.pid();
		(void)!write(told[1], &pid, sizeof(pid));
		for (;;)
			pause();
	}
	pid_t grandchild = -1;
	ASSERT_EQ(read(told[0], &grandchild, sizeof(grandchild)), static_cast<ssize_t>(sizeof(grandchild)));
	{
		RawHelper helper;
		const Fd pidfd = pidfd_of(grandchild);
		expect_refused(helper.ask(request_of(HelperRequestKind::AddWorker), {pidfd.get()}), kInternal, "only workers");
	}
	kill(child, SIGKILL); // PR_SET_PDEATHSIG ends the other process
	waitpid(child, nullptr, 0);
	close(told[0]);
	close(told[1]);
}

TEST(AddWorker, TakesNobodyWhoHasEnded)
{
	RawHelper helper;
	Child child;
	child.end();
	expect_refused(helper.ask(request_of(HelperRequestKind::AddWorker), {child.pidfd()}), kInternal, "only workers");
	EXPECT_TRUE(helper.is_well());
}

TEST(AddWorker, TakesNobodyOfAnotherUser)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	constexpr uid_t kNobody = 65534;
	RawHelper helper;
	const Child other(kNobody);
	expect_refused(helper.ask(request_of(HelperRequestKind::AddWorker), {other.pidfd()}), kInternal, "only workers");
}

// Any bytes: refused with a sentence that ends within its field, no descriptor kept, and the helper goes on.
TEST(Requests, RandomBytesAreRefused)
{
	std::mt19937 random(1);
	RawHelper helper;
	const auto [socket, other] = channel::open_pair();
	ASSERT_TRUE(helper.is_well());
	// Descriptors of a request are closed when the next one is read.
	const HelperRequest next = request_of(HelperRequestKind::EndBlock);
	ASSERT_TRUE(helper.ask(next));
	const size_t descriptors = helper.open_descriptors();
	for (int i = 0; i < 2000; i++) {
		auto request = random_request<HelperRequest>(random);
		request.kind = static_cast<HelperRequestKind>(random() % 11);
		if (request.kind == HelperRequestKind::Load) // a valid load would take long
			request.records_per_slot |= 1u << 31;
		if (request.kind == HelperRequestKind::Claim) // another run may measure on an existing CPU
			request.cpus[0] = request.cpu_count |= 1u << 31;
		const auto reply = helper.ask(request, std::vector<int>(random() % 4, socket.get()));
		ASSERT_TRUE(reply) << "the helper is gone after request " << i;
		if (kIsLoaded && reply->exit_code == 0) // it may be valid by chance
			continue;
		EXPECT_NE(reply->exit_code, 0);
		EXPECT_EQ(reply->message.back(), 0);
		EXPECT_NE(reply->message.front(), 0);
	}
	ASSERT_TRUE(helper.ask(request_of(HelperRequestKind::Attach))); // no probes
	ASSERT_TRUE(helper.ask(next));
	EXPECT_EQ(helper.open_descriptors(), descriptors);
	EXPECT_TRUE(helper.is_well());
}

TEST(Helper, EndsWhenItsSocketCloses)
{
	RawHelper helper;
	ASSERT_TRUE(helper.is_well());
	helper.hang_up();
	const int status = helper.wait_end();
	EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Helper, EndsWhenNobodyTakesItsReply)
{
	RawHelper helper;
	const HelperRequest request = request_of(HelperRequestKind::EndBlock);
	for (int i = 0; i < 10; i++)
		ASSERT_TRUE(helper.send(&request, sizeof(request)));
	helper.hang_up();
	const int status = helper.wait_end();
	EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

} // namespace
} // namespace icepath::privilege
