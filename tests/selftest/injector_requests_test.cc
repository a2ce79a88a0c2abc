// SPDX-License-Identifier: Apache-2.0
// What the injecting process does or refuses on request, with its rights and filter: which processes it touches, and
// that it leaves others' settings on the machine as they are.
#include "profiler/selftest/injector_requests.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "profiler/selftest/cpu_group.h"
#include "profiler/selftest/network_injection.h"
#include "tests/selftest/raw_injector.h"

namespace icepath::selftest {
namespace {

using Kind = InjectorRequest::Kind;
using namespace std::chrono_literals;

class InjectorRequests : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}
	// Its sentence; empty: done.
	std::string ask(RawInjector &injector, const InjectorRequest &request, const std::vector<int> &fds = {})
	{
		const auto reply = injector.ask(request, fds);
		if (!reply)
			return "no answer";
		return reply->failed ? reply->why.data() : "";
	}
	std::string begin(RawInjector &injector, const std::string &name, const Worker &worker)
	{
		return ask(injector, request_of(Kind::Begin, name), {worker.pidfd(), worker.pidfd()});
	}
};

bool comes_true(const std::function<bool()> &condition)
{
	for (int i = 0; i < 1000 && !condition(); i++)
		std::this_thread::sleep_for(10ms);
	return condition();
}

constexpr bpf_tc_hook kIncoming = [] {
	bpf_tc_hook hook{};
	hook.sz = sizeof(hook);
	hook.ifindex = 1;
	hook.attach_point = BPF_TC_INGRESS;
	return hook;
}();

Fd program()
{
	bpf_insn all[2] = {};
	all[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
	all[1].code = BPF_JMP | BPF_EXIT;
	return Fd(bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "icepath_test", "GPL", all, 2, nullptr));
}

uint32_t number_of(const Fd &program)
{
	bpf_prog_info info{};
	__u32 size = sizeof(info);
	return bpf_obj_get_info_by_fd(program.get(), &info, &size) == 0 ? info.id : 0;
}

// Somebody else's filter on the loopback device, installed in another way.
class OthersFilter {
public:
	explicit OthersFilter(int process) : process_(process)
	{
		const InOtherNetwork inside(process_);
		options_.sz = sizeof(options_);
		const Fd his = program();
		options_.prog_fd = his.get();
		bpf_tc_hook hook = kIncoming;
		is_there_ = bpf_tc_hook_create(&hook) == 0 && bpf_tc_attach(&hook, &options_) == 0;
	}
	bool is_there() const
	{
		const InOtherNetwork inside(process_);
		bpf_tc_opts query{};
		query.sz = sizeof(query);
		query.handle = options_.handle;
		query.priority = options_.priority;
		return is_there_ && bpf_tc_query(&kIncoming, &query) == 0;
	}

private:
	const int process_;
	bpf_tc_opts options_{};
	bool is_there_ = false;
};

TEST_F(InjectorRequests, LeaveTheMachinesOwnNetworkAlone)
{
	RawInjector injector;
	const Worker worker(Worker::Network::OfTheMachine);
	const std::string why_not = begin(injector, "device-delay", worker);
	EXPECT_NE(why_not.find("no network namespace of their own"), std::string::npos) << why_not;
	EXPECT_TRUE(injector.is_well());
}

TEST_F(InjectorRequests, LeaveFiltersOfOthers)
{
	RawInjector injector;
	const Worker worker;
	const OthersFilter others(worker.pidfd());
	ASSERT_TRUE(others.is_there());
	EXPECT_EQ(begin(injector, "device-delay", worker), "");
	EXPECT_TRUE(others.is_there());
	EXPECT_EQ(ask(injector, request_of(Kind::End)), "");
	EXPECT_TRUE(others.is_there());
}

// Even on a kernel with links for it.
TEST_F(InjectorRequests, LeaveFiltersOfOthersWhereTheirsIsOne)
{
	const Worker worker;
	const OthersFilter others(worker.pidfd());
	ASSERT_TRUE(others.is_there());
	Fd own = program();
	const uint32_t number = number_of(own);
	std::unique_ptr<Effect> attached;
	{
		const InOtherNetwork inside(worker.pidfd());
		attached = attach_by_filter(own.get());
	}
	ASSERT_NE(attached, nullptr);
	own.reset();
	EXPECT_TRUE(Fd(bpf_prog_get_fd_by_id(number))) << "it is in";
	attached.reset();
	EXPECT_TRUE(comes_true([&] { return !Fd(bpf_prog_get_fd_by_id(number)); })) << "its own stayed";
	EXPECT_TRUE(others.is_there());
}

TEST_F(InjectorRequests, TouchNoStranger)
{
	RawInjector injector;
	const Worker of_another_user(Worker::Network::Own, 65531);
	EXPECT_NE(begin(injector, "", of_another_user), "");
	const Fd own = pidfd_of(getpid());
	EXPECT_NE(ask(injector, request_of(Kind::Begin), {own.get(), own.get()}), "");
	const Worker worker;
	EXPECT_EQ(begin(injector, "", worker), "");
}

TEST_F(InjectorRequests, DoWhatIsListedAndNothingElse)
{
	RawInjector injector;
	EXPECT_NE(ask(injector, request_of(Kind::Begin, "rm -rf")), "");
	InjectorRequest request = request_of(Kind::Begin, "hog");
	request.receiver_cpu = UINT32_MAX;
	EXPECT_NE(ask(injector, request), "");
	request.kind = static_cast<Kind>(99);
	EXPECT_NE(ask(injector, request), "");
	request.kind = Kind::Begin;
	request.name.fill('x'); // not terminated
	EXPECT_NE(ask(injector, request), "");
	EXPECT_TRUE(injector.is_well());
}

TEST_F(InjectorRequests, EndItWhereADescriptorIsNoProcess)
{
	int sockets[2];
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	const Fd one(sockets[0]), other(sockets[1]), file(open("/dev/null", O_RDONLY | O_CLOEXEC));
	const Worker worker;
	for (const Fd *hostile : {&one, &file}) {
		RawInjector injector;
		ASSERT_EQ(begin(injector, "", worker), "");
		EXPECT_FALSE(injector.ask(request_of(Kind::Begin), {worker.pidfd(), hostile->get()}));
		EXPECT_TRUE(injector.has_ended());
	}
}

// However it ends: the group is removed, and its processes are back in their old group.
// Where whoever calls icepath could freeze them: it, and the process that removes its group.
TEST_F(InjectorRequests, FindItOutOfItsCallersControlGroups)
{
	RawInjector injector;
	ASSERT_TRUE(injector.is_well());
	const std::string own = "/proc/" + std::to_string(injector.pid()) + "/";
	std::vector<std::string> processes = {own};
	std::ifstream children(own + "task/" + std::to_string(injector.pid()) + "/children");
	for (std::string child; children >> child;)
		processes.push_back("/proc/" + child + "/");
	EXPECT_GE(processes.size(), 2u) << "icepath-group isn't there";
	for (const std::string &process : processes) {
		std::ifstream groups(process + "cgroup");
		for (std::string line; std::getline(groups, line);)
			EXPECT_TRUE(line.ends_with(":/")) << process << ": " << line;
	}
}

TEST_F(InjectorRequests, LeaveNoGroupWhenItIsKilled)
{
	const auto before = groups_of_selftests();
	const CpuHierarchy hierarchy = find_cpu_hierarchy();
	const Worker worker;
	const std::string home = group_of(worker.pid(), hierarchy);
	RawInjector injector;
	ASSERT_EQ(begin(injector, "throttle", worker), "");
	ASSERT_NE(group_of(worker.pid(), hierarchy), home);
	kill(injector.pid(), SIGKILL);
	EXPECT_TRUE(comes_true([&] { return groups_of_selftests() == before; }));
	EXPECT_EQ(group_of(worker.pid(), hierarchy), home);
}

TEST_F(InjectorRequests, LeaveNoProgramWhenItIsKilled)
{
	const auto count = [] {
		int found = 0;
		for (__u32 id = 0; bpf_prog_get_next_id(id, &id) == 0;) {
			const Fd one(bpf_prog_get_fd_by_id(id));
			bpf_prog_info info{};
			__u32 size = sizeof(info);
			found += one && bpf_obj_get_info_by_fd(one.get(), &info, &size) == 0 &&
							 std::string_view(info.name).starts_with("icepath_self")
						 ? 1
						 : 0;
		}
		return found;
	};
	const int before = count();
	const auto groups_before = groups_of_selftests();
	RawInjector injector;
	std::optional<Worker> worker(std::in_place);
	ASSERT_EQ(begin(injector, "device-delay", *worker), "");
	EXPECT_GT(count(), before);
	kill(injector.pid(), SIGKILL);
	if (load_device_delay().takes_a_filter)
		worker.reset(); // with its namespace
	EXPECT_TRUE(comes_true([&] { return count() == before; }));
	EXPECT_TRUE(comes_true([&] { return groups_of_selftests() == groups_before; })) << "for the next test";
}

// Even if its keeper was killed too: the next one removes its group, but no living one's.
TEST_F(InjectorRequests, TakeAwayWhatDeadOnesLeft)
{
	const auto before = groups_of_selftests();
	RawInjector living;
	ASSERT_TRUE(living.is_well());
	const auto with_one = groups_of_selftests();
	ASSERT_EQ(with_one.size(), before.size() + 1);
	{
		RawInjector killed;
		ASSERT_TRUE(killed.is_well());
		const auto keepers = children_of(killed.pid());
		ASSERT_EQ(keepers.size(), 1u);
		const Fd keeper = pidfd_of(keepers[0]);
		kill(keepers[0], SIGKILL);
		kill(killed.pid(), SIGKILL);
		ASSERT_TRUE(ends(keeper.get()));
		ASSERT_TRUE(killed.has_ended());
	}
	ASSERT_EQ(groups_of_selftests().size(), before.size() + 2);
	{
		RawInjector next;
		ASSERT_TRUE(next.is_well());
		EXPECT_EQ(groups_of_selftests().size(), before.size() + 2) << "its own and the living one's";
	}
	EXPECT_EQ(groups_of_selftests(), with_one);
	EXPECT_EQ(take_back_leftover_groups(), std::vector<std::string>());
	EXPECT_EQ(groups_of_selftests(), with_one);
	const Worker worker;
	EXPECT_EQ(begin(living, "throttle", worker), "") << "which still works";
}

} // namespace
} // namespace icepath::selftest
