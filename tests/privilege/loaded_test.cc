// SPDX-License-Identifier: Apache-2.0
// A helper that has loaded the capture: what it refuses from then on, and that a refused load does no harm.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "ebpf/records.h"
#include "ebpf/user_stack.h"
#include "tests/privilege/no_filters.h"
#include "tests/privilege/raw_helper.h"

namespace icepath::privilege {
namespace {

class LoadedHelper : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
	void load()
	{
		const auto reply = helper.ask(load_of(0));
		ASSERT_TRUE(reply);
		ASSERT_EQ(reply->exit_code, 0) << sentence(*reply);
		ASSERT_EQ(helper.received.size(), 2u);
		slots = std::move(helper.received[0]);
		slot_bytes = reply->slot_bytes;
		EXPECT_EQ(reply->slot_count, 2u);
		EXPECT_NE(reply->available, 0u);
	}
	void expect_refused(const HelperRequest &request, const std::vector<int> &fds, const std::string &says)
	{
		const auto reply = helper.ask(request, fds);
		ASSERT_TRUE(reply) << "the helper is gone";
		EXPECT_NE(reply->exit_code, 0);
		EXPECT_NE(sentence(*reply).find(says), std::string::npos) << sentence(*reply);
	}
	uint32_t add(const Child &child)
	{
		const auto reply = helper.ask(request_of(HelperRequestKind::AddWorker), {child.pidfd()});
		EXPECT_TRUE(reply && reply->exit_code == 0) << sentence(*reply);
		return reply->worker;
	}

	RawHelper helper;
	Fd slots;
	uint32_t slot_bytes = 0;
};

TEST_F(LoadedHelper, HandsOutItsSlots)
{
	load();
	void *memory = mmap(nullptr, size_t{slot_bytes} * 2, PROT_READ, MAP_SHARED, slots.get(), 0);
	ASSERT_NE(memory, MAP_FAILED);
	EXPECT_EQ(static_cast<const icepath_slot *>(memory)->capacity, 64u);
	munmap(memory, size_t{slot_bytes} * 2);
}

TEST_F(LoadedHelper, MakesTheSystemCallsOfCapturingOnly)
{
	load();
	std::ifstream status("/proc/" + std::to_string(helper.pid()) + "/status");
	bool filtered = false;
	for (std::string line; std::getline(status, line);)
		filtered |= line == "Seccomp:\t2";
	EXPECT_TRUE(filtered);
}

TEST_F(LoadedHelper, FollowsAChildAndWatchesItsFamily)
{
	load();
	const Child child;
	for (uint32_t family = 1; family <= 2; family++) {
		const auto reply = helper.ask(request_of(HelperRequestKind::Follow), {child.pidfd()});
		ASSERT_TRUE(reply);
		EXPECT_EQ(reply->exit_code, 0) << sentence(*reply);
		EXPECT_EQ(reply->worker, family);
	}
	HelperRequest request = request_of(HelperRequestKind::BeginBlock);
	request.families = {1, 2};
	request.family_count = 2;
	const auto begun = helper.ask(request);
	ASSERT_TRUE(begun);
	EXPECT_EQ(begun->exit_code, 0) << sentence(*begun);
	EXPECT_TRUE(helper.ask(request_of(HelperRequestKind::EndBlock)));
	for (const uint32_t nobody : {0u, 3u, uint32_t{ICEPATH_FAMILIES}, UINT32_MAX}) {
		request.families[1] = nobody;
		expect_refused(request, {}, "a family that doesn't exist");
	}
	request.families.fill(1);
	request.family_count = UINT32_MAX; // more than fit
	EXPECT_TRUE(helper.ask(request));
	EXPECT_TRUE(helper.is_well());
}

TEST_F(LoadedHelper, SamplesOnlyIfItHasTimers)
{
	load();
	HelperRequest request = request_of(HelperRequestKind::BeginBlock);
	request.sample_period_ns = 250'000;
	expect_refused(request, {}, "without timers");
	EXPECT_TRUE(helper.is_well());
}

TEST_F(LoadedHelper, SamplesWithPeriodsInRangeAndGivesNamesOfFunctions)
{
	const auto loaded = helper.ask(load_with_samples(0));
	ASSERT_TRUE(loaded);
	ASSERT_EQ(loaded->exit_code, 0) << sentence(*loaded);
	ASSERT_EQ(helper.received.size(), 4u);
	const Fd named = std::move(helper.received[2]);
	EXPECT_EQ(fcntl(named.get(), F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW);
	HelperRequest request = request_of(HelperRequestKind::BeginBlock);
	for (const uint64_t period_ns : {uint64_t{1}, uint64_t{9'999}, uint64_t{1'000'000'001}, UINT64_MAX}) {
		request.sample_period_ns = period_ns;
		expect_refused(request, {}, "out of range");
	}
	request.sample_period_ns = 10'000;
	const auto begun = helper.ask(request);
	ASSERT_TRUE(begun);
	EXPECT_EQ(begun->exit_code, 0) << sentence(*begun);
	const auto ended = helper.ask(request_of(HelperRequestKind::EndBlock));
	ASSERT_TRUE(ended);
	EXPECT_EQ(ended->exit_code, 0) << sentence(*ended);
	EXPECT_TRUE(helper.is_well());
}

// Busy on a CPU until it is killed, once it has done `prepare`.
pid_t busy_child(uint32_t cpu, const std::function<bool()> &prepare)
{
	int ready[2];
	EXPECT_EQ(pipe(ready), 0);
	const pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		cpu_set_t only;
		CPU_ZERO(&only);
		CPU_SET(cpu, &only);
		if (sched_setaffinity(0, sizeof only, &only) || !prepare() || write(ready[1], "r", 1) != 1)
			_exit(1);
		for (volatile uint64_t i = 0;;)
			i = i + 1;
	}
	close(ready[1]);
	char byte = 0;
	EXPECT_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return child;
}

// Samples that the helper takes of a process, and how many of the first have a copy of its stack.
struct Sampled {
	size_t samples = 0, copies = 0;
};

Sampled sampled(RawHelper &helper, pid_t process)
{
	constexpr size_t kFirst = 16;
	const auto loaded = helper.ask(load_with_samples(0));
	if (!loaded || loaded->exit_code != 0 || helper.received.size() != 4) {
		ADD_FAILURE() << (loaded ? sentence(*loaded) : "the helper doesn't answer");
		return {};
	}
	const Fd slots = std::move(helper.received[0]), stacks = std::move(helper.received[3]);
	const auto added = helper.ask(request_of(HelperRequestKind::AddWorker), {pidfd_of(process).get()});
	HelperRequest begin = request_of(HelperRequestKind::BeginBlock);
	begin.worker_count = 1;
	EXPECT_TRUE(added && added->exit_code == 0);
	begin.workers[0] = added ? added->worker : 0;
	begin.sample_period_ns = 1'000'000;
	const size_t bytes = kFirst * sizeof(icepath_user_stack);
	void *slot = mmap(nullptr, loaded->slot_bytes, PROT_READ, MAP_SHARED, slots.get(), 0);
	void *copies = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, stacks.get(), 0);
	EXPECT_TRUE(slot != MAP_FAILED && copies != MAP_FAILED);
	Sampled result;
	for (int tries = 0; tries < 100 && result.samples == 0; ++tries) { // the CPU may have other work
		const auto begun = helper.ask(begin);
		EXPECT_TRUE(begun && begun->exit_code == 0);
		usleep(50'000);
		EXPECT_TRUE(helper.ask(request_of(HelperRequestKind::EndBlock)));
		const auto *head = static_cast<const icepath_slot *>(slot);
		const auto *records = reinterpret_cast<const icepath_record *>(head + 1);
		for (size_t i = 0; i < std::min(head->position, head->capacity); ++i)
			result.samples += records[i].type == ICEPATH_RECORD_SAMPLE;
	}
	for (size_t i = 0; i < std::min(result.samples, kFirst); ++i)
		result.copies += static_cast<const icepath_user_stack *>(copies)[i].bytes > 0;
	munmap(copies, bytes);
	munmap(slot, loaded->slot_bytes);
	return result;
}

bool set_traceable(bool may) { return prctl(PR_SET_DUMPABLE, may ? 1 : 0) == 0; }

bool take_ids(uid_t user, gid_t group)
{
	return setgroups(0, nullptr) == 0 && setresgid(group, group, group) == 0 && setresuid(user, user, user) == 0;
}

bool take_ids_and_capability(uid_t user, gid_t group)
{
	__user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
	std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
	sets[CAP_TO_INDEX(CAP_NET_RAW)].permitted = CAP_TO_MASK(CAP_NET_RAW);
	return prctl(PR_SET_KEEPCAPS, 1) == 0 && take_ids(user, group) && syscall(SYS_capset, &header, sets.data()) == 0;
}

// Whether the kernel lets that user look into the process (PTRACE_MODE_READ).
bool may_trace(uid_t user, gid_t group, pid_t process)
{
	const pid_t child = fork();
	if (child == 0) {
		const std::string file = "/proc/" + std::to_string(process) + "/auxv";
		_exit(take_ids(user, group) ? open(file.c_str(), O_RDONLY) < 0 : 2);
	}
	int status = 0;
	waitpid(child, &status, 0);
	EXPECT_LT(WEXITSTATUS(status), 2);
	return status == 0;
}

TEST_F(LoadedHelper, CopiesTheStacksOfWhatItsUserMayTrace)
{
	for (const bool may : {true, false}) {
		RawHelper other;
		const pid_t child = busy_child(0, [&] { return set_traceable(may); });
		const auto [samples, copies] = sampled(other, child);
		kill(child, SIGKILL);
		waitpid(child, nullptr, 0);
		EXPECT_GT(samples, 0u);
		EXPECT_EQ(copies > 0, may) << copies << " of " << samples;
	}
}

// A program that takes the group of its file as all of its own and then executes another one looks as if it had never
// had others; so does one that leaves a capability to another one.
TEST_F(LoadedHelper, CopiesNoStackOfWhatHasMoreRightsThanItsUser)
{
	constexpr uid_t kUser = 61004, kOther = 61005;
	const gid_t group = getgid(); // of icepath, which is this test
	const struct {
		const char *what;
		std::function<bool()> prepare;
		bool may;
	} children[] = {
		{"the user's own", [&] { return take_ids(kUser, group); }, true},
		{"of another group", [&] { return take_ids(kUser, kOther); }, false},
		{"with a capability", [&] { return take_ids_and_capability(kUser, group); }, false},
	};
	for (const auto &[what, prepare, may] : children) {
		SCOPED_TRACE(what);
		Identity user;
		user.uid = kUser;
		RawHelper other(user);
		const pid_t child = busy_child(0, [&] { return prepare() && set_traceable(true); });
		EXPECT_EQ(may_trace(kUser, group, child), may) << "what the kernel decides";
		const auto [samples, copies] = sampled(other, child);
		kill(child, SIGKILL);
		waitpid(child, nullptr, 0);
		EXPECT_GT(samples, 0u);
		EXPECT_EQ(copies > 0, may) << copies << " of " << samples;
	}
}

// A parent's filter may refuse the helper's own. A helper that kept all that loading takes would go on to
// serve requests with it.
TEST_F(LoadedHelper, EndsIfItCannotGiveUpWhatLoadingTakes)
{
	const pid_t child = fork();
	if (child == 0) {
		if (!let_no_filter_be_set())
			_exit(1);
		RawHelper unfiltered;
		const auto loaded = unfiltered.ask(load_of(0));
		if (!loaded || loaded->exit_code == 0 || sentence(*loaded).find("doesn't run without it") == std::string::npos)
			_exit(2);
		if (!unfiltered.received.empty())
			_exit(3);
		_exit(unfiltered.ask(request_of(HelperRequestKind::Attach)) ? 4 : 0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0) << WEXITSTATUS(status) << " (4: it served a request)";
}

TEST_F(LoadedHelper, LoadsOnce)
{
	load();
	expect_refused(load_of(0), {}, "twice");
	EXPECT_TRUE(helper.received.empty());
	EXPECT_TRUE(helper.is_well());
}

TEST_F(LoadedHelper, RefusesCpusThatTheCaptureDoesNotKnow)
{
	for (const uint32_t cpu : {1024u, UINT32_MAX})
		expect_refused(load_of(cpu), {}, std::to_string(cpu));
	HelperRequest twice = load_of(0);
	twice.cpu_count = 2;
	expect_refused(twice, {}, "twice for it");
	HelperRequest offline = load_of(0);
	offline.cpus[0] = static_cast<uint32_t>(get_nprocs_conf());
	expect_refused(offline, {}, "offline");
	load();
}

TEST_F(LoadedHelper, MarksSocketsOnly)
{
	load();
	HelperRequest request = request_of(HelperRequestKind::AddSocket);
	request.key = 1;
	const Child child;
	const Fd socket(::socket(AF_UNIX, SOCK_DGRAM, 0));
	expect_refused(request, {child.pidfd()}, "cannot mark a socket");
	expect_refused(request, {socket.get(), socket.get()}, "none was sent");
	const auto reply = helper.ask(request, {socket.get()});
	EXPECT_TRUE(reply && reply->exit_code == 0);
}

// Those of each transport.
TEST_F(LoadedHelper, MarksSocketsOfEachFamily)
{
	load();
	HelperRequest request = request_of(HelperRequestKind::AddSocket);
	request.key = 1;
	for (const int family : {AF_UNIX, AF_INET, AF_INET6, AF_VSOCK}) {
		const Fd socket(::socket(family, SOCK_STREAM, 0));
		if (!socket && errno == EAFNOSUPPORT) // then no transport has it
			continue;
		ASSERT_TRUE(socket) << family;
		const auto reply = helper.ask(request, {socket.get()});
		ASSERT_TRUE(reply) << "the helper ended at a socket of family " << family;
		EXPECT_EQ(reply->exit_code, 0) << reply->message.data();
	}
}

TEST_F(LoadedHelper, RefusesBlocksOfWorkersThatItDoesNotKnow)
{
	load();
	const Child child;
	HelperRequest request = request_of(HelperRequestKind::BeginBlock);
	const uint32_t known = add(child);
	for (const uint32_t unknown : {known + 1, UINT32_MAX}) {
		request.worker_count = 2;
		request.workers = {known, unknown};
		expect_refused(request, {}, "worker");
	}
	request.worker_count = 2;
	request.workers = {known, known};
	auto reply = helper.ask(request);
	EXPECT_TRUE(reply && reply->exit_code == 0);
	reply = helper.ask(request_of(HelperRequestKind::EndBlock));
	EXPECT_TRUE(reply && reply->exit_code == 0);
}

// A worker may die at any time: the block that names it is still begun and ended, because it belongs to the other
// workers too, and its cell reports the death.
TEST_F(LoadedHelper, BeginsAndEndsBlocksWithoutWorkersThatHaveEnded)
{
	load();
	Child first, second;
	HelperRequest request = request_of(HelperRequestKind::BeginBlock);
	request.worker_count = 2;
	request.workers = {add(first), add(second)};
	second.end();
	for (Child *more : {&second, &first}) { // before a block, and during one
		const auto begun = helper.ask(request);
		EXPECT_TRUE(begun && begun->exit_code == 0);
		more->end();
		const auto ended = helper.ask(request_of(HelperRequestKind::EndBlock));
		EXPECT_TRUE(ended && ended->exit_code == 0);
	}
}

uint64_t waits_of(pid_t pid)
{
	constexpr std::string_view kName = "voluntary_ctxt_switches:";
	std::ifstream file("/proc/" + std::to_string(pid) + "/status");
	for (std::string line; std::getline(file, line);)
		if (line.starts_with(kName))
			return std::stoull(line.substr(kName.size()));
	return 0;
}

TEST_F(LoadedHelper, WakesWithinABlockOnlyToLookForSkippedPrograms)
{
	load();
	HelperRequest request = request_of(HelperRequestKind::BeginBlock);
	for (const bool looks : {true, false, true}) {
		request.looks = looks;
		ASSERT_TRUE(helper.ask(request));
		usleep(50'000); // waits by now
		const uint64_t before = waits_of(helper.pid());
		for (int i = 0; i < 100 && (i < 4 || (looks && waits_of(helper.pid()) < before + 2)); i++)
			usleep(100'000);
		if (looks) {
			EXPECT_GE(waits_of(helper.pid()), before + 2);
		} else {
			EXPECT_EQ(waits_of(helper.pid()), before);
		}
		const auto ended = helper.ask(request_of(HelperRequestKind::EndBlock));
		ASSERT_TRUE(ended && ended->exit_code == 0);
		EXPECT_LE(ended->skipped_count, ended->skipped.size());
		const uint64_t after = waits_of(helper.pid());
		usleep(300'000);
		EXPECT_LE(waits_of(helper.pid()), after + 1) << "no block, nothing to look for";
	}
	request.looks = true;
	ASSERT_TRUE(helper.ask(request));
	helper.hang_up();
	EXPECT_EQ(helper.wait_end(), 0);
}

TEST_F(LoadedHelper, AttachesNothingThatItDoesNotHave)
{
	load();
	HelperRequest request = request_of(HelperRequestKind::Attach);
	request.probes = ~capture::ProbeSet{0};
	const auto reply = helper.ask(request);
	ASSERT_TRUE(reply);
	EXPECT_EQ(reply->exit_code, 0) << sentence(*reply);
	EXPECT_LT(uint64_t{reply->available}, uint64_t{1} << capture::kProbes.size());
	request.probes = 0;
	EXPECT_TRUE(helper.ask(request));
}

} // namespace
} // namespace icepath::privilege
