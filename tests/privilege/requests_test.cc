// SPDX-License-Identifier: Apache-2.0
// What the root helper does with requests that icepath would never make: it refuses, in a sentence, and goes on; or, where
// the message can't be one of the protocol's, it ends. It needs no root for that: what it could break it isn't asked for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <random>
#include <stdexcept>
#include <thread>

#include "profiler/capture/thread_pidfd.h"
#include "profiler/failure.h"
#include "tests/privilege/raw_helper.h"

namespace icepath::privilege {
namespace {

constexpr auto kInternal = static_cast<int32_t>(ExitCode::Internal);
constexpr auto kMachineCannot = static_cast<int32_t>(ExitCode::MachineCannot);

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
	for (const uint32_t kind : {8u, 9u, 0x80000000u, UINT32_MAX})
		expect_refused(helper.ask(request_of(static_cast<HelperRequestKind>(kind))), kInternal, "doesn't know");
	EXPECT_TRUE(helper.is_well());
}

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

// Its owner would decide how long the helper takes to close it, with all probes attached.
TEST(Requests, WithAFileEndTheHelper)
{
	const Fd file(open("/dev/null", O_RDONLY)), in_memory(memfd_create("file", 0)), folder(open("/", O_PATH));
	Fd lingers(socket(AF_INET, SOCK_STREAM, 0));
	const linger an_hour{1, 3600};
	ASSERT_EQ(setsockopt(lingers.get(), SOL_SOCKET, SO_LINGER, &an_hour, sizeof(an_hour)), 0);
	for (const int fd : {file.get(), in_memory.get(), folder.get(), lingers.get()})
		for (const auto kind : {HelperRequestKind::AddSocket, HelperRequestKind::EndBlock}) {
			RawHelper helper;
			const HelperRequest request = request_of(kind);
			const Child child;
			ASSERT_TRUE(helper.send(&request, sizeof(request), {child.pidfd(), fd}));
			const int status = helper.wait_end();
			EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
		}
}

TEST(AddWorker, PinsAChildOfIcepath)
{
	RawHelper helper;
	HelperRequest request = request_of(HelperRequestKind::AddWorker);
	request.cpu = static_cast<uint32_t>(sched_getcpu());
	const Child first, second;
	const auto replies = {helper.ask(request, {first.pidfd()}), helper.ask(request, {second.pidfd()})};
	uint32_t number = 0;
	for (const auto &reply : replies) {
		ASSERT_TRUE(reply);
		EXPECT_EQ(reply->exit_code, 0) << sentence(*reply);
		EXPECT_EQ(reply->worker, number++);
	}
	cpu_set_t cpus;
	ASSERT_EQ(sched_getaffinity(first.pid(), sizeof(cpus), &cpus), 0);
	EXPECT_EQ(CPU_COUNT(&cpus), 1);
	EXPECT_TRUE(CPU_ISSET(request.cpu, &cpus));
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

// A process with a thread beside its main one, each of which waits for its end.
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

int cpus_of(pid_t tid)
{
	cpu_set_t cpus;
	return sched_getaffinity(tid, sizeof(cpus), &cpus) ? -1 : CPU_COUNT(&cpus);
}

class AddThread : public testing::Test {
protected:
	void SetUp() override
	{
		if (const std::string missing = capture::thread_pidfds_missing(); !missing.empty())
			GTEST_SKIP() << missing;
		if (std::thread::hardware_concurrency() < 2)
			GTEST_SKIP() << "needs two CPUs, or a thread that is pinned looks like any other";
	}
	RawHelper helper;
	HelperRequest request = request_of(HelperRequestKind::AddWorker);
};

TEST_F(AddThread, PinsAThreadOfAChildAndNoOther)
{
	const ChildWithThread child;
	const int before = cpus_of(child.pid());
	const Fd thread(capture::open_thread(child.tid()));
	ASSERT_TRUE(thread);
	request.cpu = static_cast<uint32_t>(sched_getcpu());
	const auto reply = helper.ask(request, {thread.get()});
	ASSERT_TRUE(reply);
	EXPECT_EQ(reply->exit_code, 0) << sentence(*reply);
	EXPECT_EQ(cpus_of(child.tid()), 1);
	EXPECT_EQ(cpus_of(child.pid()), before) << "its main thread";
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
	const int before = cpus_of(tid);
	const Fd of_icepath(capture::open_thread(tid)), main_thread(capture::open_thread(getpid())),
		init(capture::open_thread(1));
	for (const Fd *fd : {&of_icepath, &main_thread, &init}) {
		ASSERT_TRUE(*fd);
		expect_refused(helper.ask(request, {fd->get()}), kInternal, "only workers");
	}
	EXPECT_EQ(cpus_of(tid), before);
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
	const int before = cpus_of(tid);
	expect_refused(helper.ask(request, {thread.get()}), kInternal, "only workers");
	EXPECT_EQ(cpus_of(tid), before);
	kill(child, SIGKILL); // PR_SET_PDEATHSIG ends the other
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
	kill(child, SIGKILL); // PR_SET_PDEATHSIG ends the other
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
	cpu_set_t before, after;
	sched_getaffinity(other.pid(), sizeof(before), &before);
	expect_refused(helper.ask(request_of(HelperRequestKind::AddWorker), {other.pidfd()}), kInternal, "only workers");
	sched_getaffinity(other.pid(), sizeof(after), &after);
	EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(AddWorker, RefusesACpuThatIsNotThere)
{
	RawHelper helper;
	const Child child;
	cpu_set_t before, after;
	sched_getaffinity(child.pid(), sizeof(before), &before);
	for (const uint32_t cpu : {1000u, 100'000u, 0x80000000u, UINT32_MAX}) {
		HelperRequest request = request_of(HelperRequestKind::AddWorker);
		request.cpu = cpu;
		expect_refused(helper.ask(request, {child.pidfd()}), kMachineCannot, "CPU " + std::to_string(cpu));
	}
	sched_getaffinity(child.pid(), sizeof(after), &after);
	EXPECT_TRUE(CPU_EQUAL(&before, &after));
	EXPECT_TRUE(helper.is_well());
}

// Whatever the bytes: a refusal in a sentence that ends within its field, no descriptor kept, and the helper goes on.
TEST(Requests, RandomBytesAreRefused)
{
	std::mt19937 random(1);
	RawHelper helper;
	const auto [socket, other] = channel::open_pair();
	ASSERT_TRUE(helper.is_well());
	// What came with a request is closed when the next one is read.
	const HelperRequest next = request_of(HelperRequestKind::EndBlock);
	ASSERT_TRUE(helper.ask(next));
	const size_t descriptors = helper.open_descriptors();
	for (int i = 0; i < 2000; i++) {
		HelperRequest request{};
		auto *words = reinterpret_cast<uint32_t *>(&request);
		for (size_t word = 0; word < sizeof(request) / sizeof(*words); word++)
			words[word] = random() % 3 ? static_cast<uint32_t>(random()) : random() % 4;
		request.kind = static_cast<HelperRequestKind>(random() % 9);
		if (request.kind == HelperRequestKind::Load) // a sound one would take long
			request.records_per_slot |= 1u << 31;
		if (request.kind == HelperRequestKind::Claim) // another run may measure on one that there is
			request.cpus[0] = request.cpu_count |= 1u << 31;
		const auto reply = helper.ask(request, std::vector<int>(random() % 4, socket.get()));
		ASSERT_TRUE(reply) << "the helper is gone after request " << i;
		EXPECT_NE(reply->exit_code, 0);
		EXPECT_EQ(reply->message.back(), 0);
		EXPECT_NE(reply->message.front(), 0);
	}
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
