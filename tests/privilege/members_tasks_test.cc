// SPDX-License-Identifier: Apache-2.0
// Whom the helper with file capabilities watches, and whose sockets it records: nobody that its user couldn't trace,
// and nobody else's.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <tuple>
#include <vector>

#include "cpuset/affinity.h"
#include "cpuset/topology.h"
#include "ebpf/records.h"
#include "profiler/privilege/file_capabilities.h"
#include "tests/capture/passing_sockets.h"
#include "tests/privilege/member.h"
#include "tests/privilege/raw_helper.h"
#include "tests/privilege/roots_folder.h"

namespace icepath::privilege {
namespace {

namespace fs = std::filesystem;

capture::ProbeSet probes_of(std::initializer_list<const char *> names)
{
	capture::ProbeSet set = 0;
	for (const char *name : names)
		set |= capture::bit(capture::number_of(name));
	return set;
}

const capture::ProbeSet kOfTasks = probes_of(
	{"sched_switch", "sched_waking", "sched_wakeup", "sys_enter", "sys_exit", "page_fault_user", "page_fault_kernel"});

// A member with one marked worker, which begins to work when it is told to.
class Watcher {
public:
	Watcher(const fs::path &helper, const std::function<void()> &work, HelperRequestKind kind, uint32_t cpu)
		: kind_(kind), go_(make_pipe()), member_(helper, {.workers = {[this, work] {
															  char byte = 0;
															  (void)!read(go_[0].get(), &byte, 1);
															  work();
														  }}})
	{
		ask(claim_of(cpu));
		HelperRequest load = load_of(cpu);
		load.records_per_slot = 1u << 16;
		loaded_ = ask(load);
		slots_ = std::move(member_.received.front());
		worker_ = ask(request_of(kind), {pidfd_of(member_.worker(0)).get()}).worker;
	}
	HelperReply ask(const HelperRequest &request, const std::vector<int> &fds = {})
	{
		const auto reply = member_.ask(request, fds);
		EXPECT_TRUE(reply && reply->exit_code == 0) << (reply ? sentence(*reply) : "the helper is gone");
		return reply.value_or(HelperReply{});
	}
	void attach(capture::ProbeSet probes)
	{
		HelperRequest request = request_of(HelperRequestKind::Attach);
		request.probes = probes;
		ask(request);
	}
	void begin_block()
	{
		HelperRequest request = request_of(HelperRequestKind::BeginBlock);
		if (kind_ == HelperRequestKind::AddWorker) {
			request.worker_count = 1;
			request.workers[0] = worker_;
		} else {
			request.family_count = 1;
			request.families[0] = worker_;
		}
		ask(request);
	}
	void go() { EXPECT_EQ(write(go_[1].get(), "g", 1), 1); }
	HelperReply end_block() { return ask(request_of(HelperRequestKind::EndBlock)); }
	std::vector<icepath_record> records() const
	{
		std::vector<icepath_record> all;
		const size_t bytes = size_t{loaded_.slot_bytes} * loaded_.slot_count;
		void *memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, slots_.get(), 0);
		EXPECT_NE(memory, MAP_FAILED);
		for (uint32_t i = 0; memory != MAP_FAILED && i < loaded_.slot_count; i++) {
			const auto *slot = reinterpret_cast<const icepath_slot *>(static_cast<const char *>(memory) +
																	  size_t{i} * loaded_.slot_bytes);
			const auto *begin = reinterpret_cast<const icepath_record *>(slot + 1);
			EXPECT_LE(slot->position, slot->capacity) << "the log was too short";
			all.insert(all.end(), begin, begin + std::min(slot->position, slot->capacity));
		}
		munmap(memory, bytes);
		return all;
	}
	pid_t worker() const { return member_.worker(0); }

private:
	static std::array<Fd, 2> make_pipe()
	{
		int ends[2] = {-1, -1};
		EXPECT_EQ(pipe(ends), 0);
		return {Fd(ends[0]), Fd(ends[1])};
	}
	const HelperRequestKind kind_;
	std::array<Fd, 2> go_;
	Member member_;
	HelperReply loaded_{};
	Fd slots_;
	uint32_t worker_ = 0;
};

class MembersTasks : public WithHelperForMembers {
protected:
	fs::path dropper(const std::string &name, mode_t mode) const
	{
		const fs::path program = folder / name;
		fs::copy_file(fs::path(helper_path()).parent_path() / "drops_rights", program);
		EXPECT_EQ(chown(program.c_str(), 0, 0) | chmod(program.c_str(), mode), 0);
		return program;
	}
};

// How many records are of a task's own doing.
ptrdiff_t count_of(const std::vector<icepath_record> &records, pid_t tid)
{
	return std::ranges::count_if(records, [&](const icepath_record &one) {
		return one.tid == static_cast<uint32_t>(tid) && one.type != ICEPATH_RECORD_FOREIGN_RUN &&
			   one.type != ICEPATH_RECORD_INTERRUPT;
	});
}

// Waits until it sleeps as its user, in this program.
void await_sleeper(pid_t pid, const fs::path &program)
{
	for (int i = 0; i < 5000; i++, usleep(1000)) {
		std::error_code none;
		if (fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", none) == program &&
			proc_line(pid, "Uid") == "61001\t61001\t61001\t61001" && proc_line(pid, "State").starts_with("S"))
			return;
	}
	FAIL() << program << " doesn't sleep";
}

pid_t child_of(pid_t pid)
{
	for (int i = 0; i < 5000; i++, usleep(1000)) {
		std::ifstream children("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
		if (pid_t child = 0; children >> child)
			return child;
	}
	return -1;
}

struct Way {
	const char *name;
	bool forks, executes; // as drops_rights does
	HelperRequestKind kind;
};

class MembersTasksThatDropRights : public MembersTasks, public testing::WithParamInterface<Way> {
protected:
	// What a block has of a task that was there before the block, and how many tasks aren't watched.
	std::pair<ptrdiff_t, uint32_t> seen(const fs::path &first, const fs::path &last)
	{
		const Way &way = GetParam();
		Watcher watcher(
			helper,
			[&] {
				std::vector<const char *> words = {first.c_str()};
				if (way.forks)
					words.push_back("fork");
				if (way.executes)
					words.push_back(last.c_str());
				words.push_back(nullptr);
				execv(first.c_str(), const_cast<char **>(words.data()));
			},
			way.kind, 0);
		watcher.attach(kOfTasks);
		watcher.go();
		const pid_t task = way.forks ? child_of(watcher.worker()) : watcher.worker();
		await_sleeper(task, way.executes ? last : first);
		watcher.begin_block();
		usleep(300'000);
		const uint32_t unwatched = watcher.end_block().unwatched;
		return {count_of(watcher.records(), task), unwatched};
	}
};

// Its memory and its calls may still tell what it did with them.
TEST_P(MembersTasksThatDropRights, WereNotTheirUsersSoTheyAreNotWatched)
{
	const fs::path plain = dropper("plain", 0755), last = dropper("last", 0755), set_uid = dropper("set-uid", 04755);
	const auto [of_plain, plain_unwatched] = seen(plain, last);
	EXPECT_GT(of_plain, 10) << "of its user's own";
	EXPECT_EQ(plain_unwatched, 0u);
	const auto [of_set_uid, unwatched] = seen(set_uid, last);
	EXPECT_EQ(of_set_uid, 0);
	EXPECT_GE(unwatched, 1u) << "and its user isn't told";
}

INSTANTIATE_TEST_SUITE_P(All, MembersTasksThatDropRights,
						 testing::Values(Way{"worker_sleeps", false, false, HelperRequestKind::AddWorker},
										 Way{"worker_executes", false, true, HelperRequestKind::AddWorker},
										 Way{"family_executes", false, true, HelperRequestKind::Follow},
										 Way{"family_forks", true, false, HelperRequestKind::Follow},
										 Way{"family_forks_executes", true, true, HelperRequestKind::Follow}),
						 [](const auto &which) { return std::string(which.param.name); });

// Only lengths leave, and errors: another result may be an address.
TEST_F(MembersTasks, ResultsThatAreNoLengthsAreNotTold)
{
	Watcher watcher(
		helper,
		[] {
			for (;;) {
				void *memory = mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
				munmap(memory, 1 << 20);
				munmap(reinterpret_cast<void *>(1), 1); // EINVAL
				usleep(1000);
			}
		},
		HelperRequestKind::AddWorker, 0);
	watcher.attach(kOfTasks);
	watcher.begin_block();
	watcher.go();
	usleep(200'000);
	watcher.end_block();
	size_t calls = 0, failed = 0;
	for (const icepath_record &one : watcher.records())
		if (one.type == ICEPATH_RECORD_CALL && one.call.kind == ICEPATH_CALL_OTHER) {
			calls++;
			failed += one.call.result == static_cast<uint64_t>(-EINVAL);
			EXPECT_LE(static_cast<int64_t>(one.call.result), 0) << one.call.number;
		}
	EXPECT_GT(calls, 20u);
	EXPECT_GT(failed, 5u);
}

// On overlayfs the kernel acts with the rights of whoever mounted it, for the length of a call.
TEST_F(MembersTasks, AWorkerOnOverlayfsIsWatched)
{
	for (const char *name : {"/mnt/lower", "/mnt/upper", "/mnt/work", "/mnt/overlay"}) {
		fs::create_directories(name);
		ASSERT_EQ(chmod(name, 0777), 0);
	}
	ASSERT_EQ(
		mount("overlay", "/mnt/overlay", "overlay", 0, "lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work"), 0)
		<< std::strerror(errno);
	{
		constexpr size_t kBytes = 1 << 20;
		Watcher watcher(
			helper,
			[] {
				const int file = open("/mnt/overlay/file", O_RDWR | O_CREAT, 0600);
				for (;;) {
					void *memory = mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
					if (pwrite(file, memory, kBytes, 0) != static_cast<ssize_t>(kBytes)) // faults in the call
						_exit(1);
					munmap(memory, kBytes);
					usleep(10'000);
				}
			},
			HelperRequestKind::AddWorker, 0);
		watcher.attach(kOfTasks);
		watcher.begin_block();
		watcher.go();
		usleep(400'000);
		EXPECT_EQ(watcher.end_block().unwatched, 0u);
		const auto records = watcher.records();
		EXPECT_GT(std::ranges::count_if(records,
										[&](const icepath_record &one) {
											return one.type == ICEPATH_RECORD_OFF_CPU &&
												   one.tid == static_cast<uint32_t>(watcher.worker());
										}),
				  5);
	}
	EXPECT_EQ(umount2("/mnt/overlay", MNT_DETACH), 0); // the worker may not be quite gone
}

// Sees every packet of a TCP port, whoever sends it.
class Observer {
public:
	explicit Observer(uint16_t port) : port_(port), socket_(socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP)))
	{
		const int room = 64 << 20;
		EXPECT_EQ(setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)), 0);
	}
	// Packets with payload so far. One that is sent again, because the other side acknowledges late, counts once.
	size_t count()
	{
		std::array<unsigned char, 2048> packet{};
		sockaddr_ll from{};
		socklen_t size = sizeof(from);
		for (ssize_t bytes = 0; (bytes = recvfrom(socket_.get(), packet.data(), packet.size(), MSG_DONTWAIT,
												  reinterpret_cast<sockaddr *>(&from), &size)) > 0;) {
			const auto *ip = reinterpret_cast<const iphdr *>(packet.data());
			const auto *tcp = reinterpret_cast<const tcphdr *>(packet.data() + ip->ihl * 4);
			if (from.sll_pkttype != PACKET_OUTGOING && ip->protocol == IPPROTO_TCP &&
				(ntohs(tcp->dest) == port_ || ntohs(tcp->source) == port_) &&
				ntohs(ip->tot_len) > ip->ihl * 4 + tcp->doff * 4)
				seen_.emplace(tcp->source, tcp->dest, tcp->seq);
		}
		return seen_.size();
	}

private:
	const uint16_t port_;
	const Fd socket_;
	std::set<std::tuple<uint16_t, uint16_t, uint32_t>> seen_; // ports and sequence numbers
};

uint16_t port_of(int listener)
{
	sockaddr_in at{};
	socklen_t size = sizeof(at);
	EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr *>(&at), &size), 0);
	return ntohs(at.sin_port);
}

// The member's worker leaves the addresses of its sockets to whoever comes next. What another user then sends over them
// is in no record, and nor is it if that user's process passes its socket to the worker, which uses it.
TEST_F(MembersTasks, NothingOfAnothersConnectionIsRecorded)
{
	const uint32_t cpu = cpuset::read_permission().affinity.front();
	const int listener = capture::loopback_listener();
	const std::array<int, 2> lent = capture::connected({AF_INET, SOCK_STREAM}, listener);
	const int on = 1; // each message is a packet, whenever the last one was acknowledged
	ASSERT_EQ(setsockopt(lent[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
	Watcher watcher(
		helper,
		[&] {
			(void)cpuset::pin(0, cpu);
			char byte = 0;
			for (;;) {
				(void)!recv(lent[1], &byte, 1, MSG_DONTWAIT);
				if (!capture::use_and_close({AF_INET, SOCK_STREAM}))
					_exit(1);
				usleep(20'000);
			}
		},
		HelperRequestKind::AddWorker, cpu);
	watcher.attach(kOfTasks | probes_of({"sk_data_ready", "net_dev_queue", "tcp_queue_rcv"}));
	watcher.begin_block();
	watcher.go();
	ASSERT_FALSE(cpuset::pin(0, cpu));
	Observer observer(port_of(listener));
	const int turns = capture::turns_of_sockets();
	size_t sent = 0;
	for (int turn = 0; turn < turns; turn++) {
		usleep(10'000);
		std::vector<std::array<int, 2>> pairs = {lent};
		for (int i = 0; i < 100; i++)
			pairs.push_back(capture::connected({AF_INET, SOCK_STREAM}, listener));
		for (const auto &pair : pairs)
			sent += write(pair[0], "secret", 6) == 6;
		usleep(1000);
		EXPECT_EQ(observer.count(), sent);
		for (size_t i = 1; i < pairs.size(); i++)
			for (const int end : pairs[i])
				close(end);
	}
	watcher.end_block();
	EXPECT_EQ(sent, static_cast<size_t>(turns) * 101);
	size_t told = 0, calls = 0;
	for (const icepath_record &one : watcher.records()) {
		told += one.type == ICEPATH_RECORD_DATA_READY || one.type == ICEPATH_RECORD_DEVICE_QUEUE ||
				one.type == ICEPATH_RECORD_ENQUEUED;
		calls += one.type == ICEPATH_RECORD_CALL && one.call.kind == ICEPATH_CALL_TAKE;
	}
	EXPECT_EQ(told, 0u) << "of " << sent << " packets of another user";
	EXPECT_GT(calls, capture::kSocketsOfTurn) << "the worker used no sockets";
	for (const int fd : {lent[0], lent[1], listener})
		close(fd);
}

// How many softirqs with packets a member is told of on top of a task of this user, which sends 20 datagrams over the
// loopback device to a socket of its own, in a block without workers.
size_t softirqs_on_a_sender(const fs::path &helper, uid_t user)
{
	const uint32_t cpu = cpuset::read_permission().affinity.front();
	Watcher watcher(helper, [] { pause(); }, HelperRequestKind::AddWorker, cpu);
	watcher.attach(probes_of({"sched_switch", "softirq_entry", "softirq_exit", "netif_receive_skb"}));
	watcher.begin_block();
	const pid_t sender = fork();
	if (sender == 0) {
		if (cpuset::pin(0, cpu) || setresgid(user, user, user) || setresuid(user, user, user))
			_exit(1);
		const int to = socket(AF_INET, SOCK_DGRAM, 0), from = socket(AF_INET, SOCK_DGRAM, 0);
		sockaddr_in at{};
		at.sin_family = AF_INET;
		at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		socklen_t size = sizeof(at);
		auto *address = reinterpret_cast<sockaddr *>(&at);
		if (to < 0 || from < 0 || bind(to, address, size) || getsockname(to, address, &size))
			_exit(1);
		for (int i = 0; i < 20; i++, usleep(5000))
			if (sendto(from, "secret", 6, 0, address, size) != 6)
				_exit(1);
		_exit(0);
	}
	int status = -1;
	waitpid(sender, &status, 0);
	EXPECT_EQ(status, 0);
	watcher.end_block();
	size_t softirqs = 0, runs = 0;
	for (const icepath_record &one : watcher.records())
		if (one.tid == static_cast<uint32_t>(sender)) {
			softirqs += one.type == ICEPATH_RECORD_INTERRUPT && (one.flags & ICEPATH_FLAG_PACKETS) != 0;
			runs += one.type == ICEPATH_RECORD_FOREIGN_RUN;
		}
	EXPECT_GE(runs, 20u) << "when it ran is told";
	return softirqs;
}

// A packet over the loopback device is received on top of the task that sends it.
TEST_F(MembersTasks, NothingTellsWhenAnothersTaskSends)
{
	EXPECT_GE(softirqs_on_a_sender(helper, kMember), 15u) << "of its user's own";
	EXPECT_EQ(softirqs_on_a_sender(helper, kStranger), 0u);
}

} // namespace
} // namespace icepath::privilege
