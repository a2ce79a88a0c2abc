// SPDX-License-Identifier: Apache-2.0
// The keeper on this machine: what it changes is as it was, whatever ends it, and nobody but icepath has a word in it.
#include "profiler/isolation/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>

#include "cpuset/topology.h"
#include "profiler/isolation/journalled_changes.h"
#include "tests/isolation/keeper_fixture.h"
#include "tests/isolation/raw_keeper.h"
#include "tests/privilege/no_filters.h"
#include "tests/privilege/random_request.h"
#include "tests/privilege/taken_over.h"

namespace icepath::isolation {
namespace {

using Kind = KeeperRequest::Kind;

// It has isolated a CPU.
struct Icepath : IcepathWithKeeper {
	explicit Icepath(uint32_t cpu) : IcepathWithKeeper([&](Keeper &keeper) { keeper.isolate({cpu}); }) {}
};

TEST_F(KeeperTest, ChangesTheMachineAndPutsItBackWhenAsked)
{
	Keeper keeper(nobody());
	const auto steps = keeper.isolate({cpu});
	ASSERT_GE(steps.size(), 7u);
	for (const cpuset::Step &step : steps) {
		EXPECT_NE(step.state, cpuset::StepState::Left) << step.name;
		EXPECT_FALSE(step.found.empty()) << step.name;
	}
	EXPECT_NE(knobs_of_this_machine(), before);
	EXPECT_EQ(keeper.look(), std::vector<std::string>());
	EXPECT_EQ(keeper.put_back(), std::vector<std::string>());
	EXPECT_EQ(knobs_of_this_machine(), before) << "at once";
	EXPECT_EQ(keeper.put_back(), std::vector<std::string>()) << "again";
}

TEST_F(KeeperTest, RaisesLimitsAndPutsThemBack)
{
	const std::string path = "proc/sys/net/core/rmem_max";
	const uint64_t wanted = std::stoull(before.at(path)) + 4096;
	Keeper keeper(nobody());
	const auto steps = keeper.tune({{0, 0, wanted}});
	ASSERT_GE(steps.size(), 1u);
	EXPECT_LE(steps.size(), 2u) << "the keeper may be ended where memory runs out";
	EXPECT_EQ(steps[0].name, "net.core.rmem_max");
	EXPECT_EQ(steps[0].state, cpuset::StepState::Done) << steps[0].found;
	auto raised = before;
	raised[path] = std::to_string(wanted);
	EXPECT_EQ(knobs_of_this_machine(), raised);
	EXPECT_EQ(keeper.isolate({}), std::vector<cpuset::Step>()) << "no CPU";
	EXPECT_EQ(knobs_of_this_machine(), raised);
	EXPECT_THROW(keeper.tune({{0, 0, wanted + 4096}}), Failure) << "once";
	EXPECT_EQ(keeper.put_back(), std::vector<std::string>());
	EXPECT_EQ(knobs_of_this_machine(), before);
}

TEST_F(KeeperTest, RaisesNoLimitBeyondItsBoundsAndNoOther)
{
	const auto of_namespace =
		static_cast<uint32_t>(std::ranges::find(kLimits, nullptr, &Limit::knob) - std::begin(kLimits));
	for (const Tuning &refused :
		 {Tuning{0, 0, kMostSocketBytes + 1}, Tuning{0, 0, 0}, Tuning{of_namespace, 0, 11}, Tuning{UINT32_MAX, 0, 1}}) {
		RawKeeper keeper;
		KeeperRequest request = request_of(Kind::Tune);
		request.tunings[0] = refused;
		for (const uint32_t count : {1u, UINT32_MAX, 0u}) {
			request.tuning_count = count;
			EXPECT_NE(keeper.ask(request).at(0).exit_code, 0);
			EXPECT_EQ(knobs_of_this_machine(), before);
		}
	}
}

TEST_F(KeeperTest, PutsBackWhenIcepathIsKilled)
{
	Icepath icepath(cpu);
	ASSERT_NE(knobs_of_this_machine(), before);
	icepath.end();
	EXPECT_EQ(knobs_after(before), before);
}

TEST_F(KeeperTest, PutsBackWhenIcepathIsKilledThoughAChildHoldsItsSocket)
{
	RawKeeper *keeper = nullptr;
	int told[2];
	ASSERT_EQ(pipe2(told, O_CLOEXEC), 0);
	const pid_t icepath = fork();
	if (icepath == 0) {
		keeper = new RawKeeper; // never closed: its child has the socket, too
		keeper->ask(request_of(Kind::Isolate, {cpu}));
		const pid_t child = fork();
		if (child == 0)
			for (;;)
				pause();
		(void)!write(told[1], &child, sizeof(child));
		for (;;)
			pause();
	}
	pid_t child = -1;
	ASSERT_EQ(read(told[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
	EXPECT_NE(knobs_of_this_machine(), before);
	kill(icepath, SIGKILL);
	waitpid(icepath, nullptr, 0);
	EXPECT_EQ(knobs_after(before), before);
	kill(child, SIGKILL);
	close(told[0]);
	close(told[1]);
}

TEST_F(KeeperTest, PutsBackOnSigterm)
{
	RawKeeper keeper;
	ASSERT_FALSE(keeper.ask(request_of(Kind::Isolate, {cpu})).empty());
	ASSERT_NE(knobs_of_this_machine(), before);
	kill(keeper.pid(), SIGTERM);
	EXPECT_TRUE(keeper.has_ended());
	EXPECT_EQ(knobs_of_this_machine(), before);
}

// Only root can have stopped it. Nobody but root can continue it, so the next one doesn't wait for that.
TEST_F(KeeperTest, ThatWasStoppedIsEndedByTheNextOne)
{
	Icepath icepath(cpu);
	ASSERT_EQ(kill(icepath.keeper(), SIGSTOP), 0);
	Keeper next(nobody());
	EXPECT_THROW(next.isolate({cpu}), Failure) << "its icepath runs";
	EXPECT_NE(knobs_of_this_machine(), before);
	icepath.end();
	Keeper another(nobody());
	EXPECT_FALSE(another.isolate({cpu}).empty());
	EXPECT_EQ(another.put_back(), std::vector<std::string>());
	EXPECT_EQ(knobs_of_this_machine(), before);
}

TEST_F(KeeperTest, ThatIsKilledLeavesItToTheNextOne)
{
	Icepath icepath(cpu);
	ASSERT_EQ(kill(icepath.keeper(), SIGKILL), 0);
	icepath.end();
	EXPECT_NE(knobs_of_this_machine(), before);
	EXPECT_TRUE(journal_is_left(tree));
	Keeper next(nobody());
	EXPECT_EQ(next.put_back_leftovers(), std::vector<std::string>());
	EXPECT_EQ(knobs_of_this_machine(), before);
	EXPECT_FALSE(journal_is_left(tree));
	EXPECT_FALSE(next.isolate({cpu}).empty()) << "and goes on";
}

TEST_F(KeeperTest, TellsIcepathThatItIsLost)
{
	Keeper keeper(nobody());
	keeper.isolate({cpu});
	kill(keeper.pid(), SIGKILL);
	try {
		keeper.look();
		ADD_FAILURE() << "it isn't lost";
	} catch (const KeeperLost &lost) {
		EXPECT_NE(std::string(lost.what()).find("sudo icepath doctor --restore"), std::string::npos) << lost.what();
	}
	EXPECT_EQ(put_back_leftovers(tree), std::vector<std::string>());
}

TEST_F(KeeperTest, IsOneAtATime)
{
	const Icepath icepath(cpu);
	Keeper second(nobody());
	try {
		second.isolate({cpu});
		ADD_FAILURE() << "both have isolated";
	} catch (const Failure &failure) {
		EXPECT_NE(std::string(failure.what()).find(fmt::format("another icepath (pid {})", icepath.pid())),
				  std::string::npos)
			<< failure.what();
	}
	EXPECT_EQ(second.put_back(), std::vector<std::string>());
	EXPECT_NE(knobs_of_this_machine(), before) << "the first one's stay";
}

TEST_F(KeeperTest, ThatCannotGiveUpItsRightsPutsBackAndEnds)
{
	const pid_t child = fork();
	if (child == 0) {
		if (!privilege::let_no_filter_be_set())
			_exit(1);
		RawKeeper keeper;
		const auto isolated = keeper.ask(request_of(Kind::Isolate, {cpu}));
		if (isolated.empty() || isolated[0].exit_code == 0)
			_exit(2);
		_exit(keeper.has_ended() ? 0 : 3);
	}
	int status = 0;
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0) << WEXITSTATUS(status) << " (3: it didn't end)";
}

TEST_F(KeeperTest, LeavesACpuToTheRestOfTheMachine)
{
	std::vector<uint32_t> all;
	for (const cpuset::Cpu &one : cpuset::read_machine({}).cpus)
		all.push_back(one.number);
	for (const std::vector<uint32_t> &cpus : {all, {}, {kMaxIsolatedCpus * 1000}, {UINT32_MAX}}) {
		RawKeeper keeper;
		const auto replies = keeper.ask(request_of(Kind::Isolate, cpus));
		ASSERT_FALSE(replies.empty());
		EXPECT_NE(replies[0].exit_code, 0);
		EXPECT_NE(replies[0].text.front(), 0);
		EXPECT_EQ(knobs_of_this_machine(), before);
	}
	RawKeeper keeper;
	KeeperRequest request = request_of(Kind::Isolate, {cpu});
	request.cpu_count = UINT32_MAX;
	EXPECT_NE(keeper.ask(request).at(0).exit_code, 0);
}

TEST_F(KeeperTest, CannotBeEndedByItsUser)
{
	const Icepath icepath(cpu);
	const pid_t user = fork();
	if (user == 0) {
		privilege::become(nobody());
		bool may = false;
		for (const int number : {SIGTERM, SIGKILL, SIGSTOP})
			may = may || kill(icepath.keeper(), number) == 0;
		_exit(may ? 1 : 0);
	}
	int status = -1;
	waitpid(user, &status, 0);
	EXPECT_EQ(status, 0);
}

TEST_F(KeeperTest, AdmitsNobodyButWorkersOfItsIcepath)
{
	RawKeeper keeper;
	ASSERT_EQ(keeper.ask(request_of(Kind::Isolate, {cpu})).at(0).exit_code, 0);
	for (const pid_t stranger : {getpid(), pid_t{1}}) { // this is icepath, and not its child
		const Fd pidfd = pidfd_of(stranger);
		const auto replies = keeper.ask(request_of(Kind::Admit), {pidfd.get()});
		ASSERT_FALSE(replies.empty());
		EXPECT_NE(std::string(replies[0].text.data()).find("only workers"), std::string::npos)
			<< replies[0].text.data();
	}
	EXPECT_NE(keeper.ask(request_of(Kind::Admit)).at(0).exit_code, 0) << "none was sent";
	const pid_t worker = fork();
	if (worker == 0) {
		privilege::become(nobody());
		for (;;)
			pause();
	}
	const Fd pidfd = pidfd_of(worker);
	poll(nullptr, 0, 100); // until it is nobody's
	EXPECT_EQ(keeper.ask(request_of(Kind::Admit), {pidfd.get()}).at(0).exit_code, 0);
	kill(worker, SIGKILL);
	waitpid(worker, nullptr, 0);
}

TEST_F(KeeperTest, EndsWhereAMessageIsNoneOfItsProtocol)
{
	const std::vector<char> bytes(sizeof(KeeperRequest) * 4);
	for (const size_t size :
		 {size_t{0}, size_t{1}, sizeof(KeeperRequest) - 1, sizeof(KeeperRequest) + 1, bytes.size()}) {
		RawKeeper keeper;
		ASSERT_EQ(keeper.ask(request_of(Kind::Isolate, {cpu})).at(0).exit_code, 0);
		ASSERT_TRUE(keeper.send(bytes.data(), size));
		EXPECT_TRUE(keeper.has_ended()) << size;
		EXPECT_EQ(knobs_of_this_machine(), before) << size;
	}
	int sockets[2];
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	const Fd one(sockets[0]), other(sockets[1]), file(open("/dev/null", O_RDONLY | O_CLOEXEC)), event(eventfd(0, 0));
	for (const Fd *hostile : {&one, &file, &event}) {
		RawKeeper keeper;
		ASSERT_EQ(keeper.ask(request_of(Kind::Isolate, {cpu})).at(0).exit_code, 0);
		EXPECT_TRUE(keeper.ask(request_of(Kind::Look), {hostile->get()}).empty());
		EXPECT_TRUE(keeper.has_ended());
		EXPECT_EQ(knobs_of_this_machine(), before);
	}
}

// Whatever the bytes: an answer, no descriptor kept, and nothing changed that wasn't before.
TEST_F(KeeperTest, RandomRequestsChangeNothing)
{
	std::mt19937 random(1);
	const Fd own = pidfd_of(getpid());
	for (const bool isolated : {false, true}) {
		RawKeeper keeper;
		if (isolated) {
			ASSERT_EQ(keeper.ask(request_of(Kind::Isolate, {cpu})).at(0).exit_code, 0);
		}
		const auto with = knobs_of_this_machine();
		const size_t descriptors = keeper.open_descriptors();
		for (int i = 0; i < 2000; i++) {
			auto request = privilege::random_request<KeeperRequest>(random);
			request.kind = static_cast<Kind>(1 + random() % 7); // but PutBack, which is sound whatever the rest
			if (request.kind == Kind::Isolate) // a sound one may be
				request.cpu_count |= 1u << 31;
			if (request.kind == Kind::Tune)
				request.tuning_count |= 1u << 31;
			const auto replies = keeper.ask(request, std::vector<int>(random() % 3, own.get()));
			ASSERT_FALSE(replies.empty()) << "the keeper is gone after request " << i;
			EXPECT_TRUE(replies[0].exit_code != 0 || request.kind == Kind::Look) << static_cast<uint32_t>(request.kind);
			EXPECT_EQ(replies[0].text.back(), 0);
		}
		ASSERT_FALSE(keeper.ask(request_of(Kind::Look)).empty()); // what came with a request is closed after it
		EXPECT_EQ(keeper.open_descriptors(), descriptors);
		EXPECT_EQ(knobs_of_this_machine(), with);
	}
}

TEST_F(KeeperTest, PutsBackWhenItsRepliesAreNotRead)
{
	RawKeeper keeper;
	ASSERT_EQ(keeper.ask(request_of(Kind::Isolate, {cpu})).at(0).exit_code, 0);
	ASSERT_NE(knobs_of_this_machine(), before);
	const KeeperRequest look = request_of(Kind::Look);
	while (keeper.send(&look, sizeof(look))) {
	}
	EXPECT_EQ(knobs_after(before), before);
	EXPECT_TRUE(keeper.has_ended());
}

TEST_F(KeeperTest, HasTheCapabilitiesThatThePageSays)
{
	RawKeeper keeper;
	ASSERT_EQ(keeper.ask(request_of(Kind::Isolate, {cpu})).at(0).exit_code, 0);
	std::ifstream status(fmt::format("/proc/{}/status", keeper.pid()));
	std::map<std::string, uint64_t> sets;
	for (std::string key, value; status >> key && std::getline(status, value);)
		if (key.starts_with("Cap"))
			sets[key] = std::stoull(value, nullptr, 16);
	const uint64_t kept = 1ull << CAP_SYS_NICE | 1ull << CAP_DAC_OVERRIDE;
	EXPECT_EQ(sets["CapPrm:"], kept);
	EXPECT_EQ(sets["CapEff:"], kept);
	EXPECT_EQ(sets["CapInh:"] | sets["CapAmb:"], 0u);
}

TEST_F(KeeperTest, ThatIsTakenOverCanDoWhatThePageSays)
{
	RawKeeper keeper;
	ASSERT_EQ(keeper.ask(request_of(Kind::Isolate, {cpu})).at(0).exit_code, 0);
	privilege::expect_as_the_page_says("keeper, isolating", keeper.pid());
}

} // namespace
} // namespace icepath::isolation
