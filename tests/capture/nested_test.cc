// SPDX-License-Identifier: Apache-2.0
// Packets come by interrupts into a program that runs for another socket: the kernel skips the inner run, and the
// second program at the tracepoint does what the first one was skipped for.
#include <bpf/bpf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "icepath/plugin.h"
#include "profiler/capture/bpf_object.h"
#include "tests/capture/exchange.h"
#include "tests/capture/player.h"

namespace icepath::capture {
namespace {

constexpr uint32_t kDatagrams = 20'000;
// At least so many are sent while the busy process has its CPU. Both processes have the highest priority of ordinary
// tasks, so another of the usual priority gets the 87th part of a CPU: it takes some eighty to come near this limit.
constexpr uint32_t kJudged = kDatagrams / 10;
// What is sent so shortly before the busy process loses its CPU, or after, may arrive while it is away.
constexpr uint64_t kOnItsWayNs = 100'000;

// A network namespace of the test's own, in which `cpu` handles packets of others by an interrupt (receive packet
// steering).
class Steered {
public:
	explicit Steered(uint32_t cpu) : before_(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC))
	{
		EXPECT_EQ(unshare(CLONE_NEWNET), 0);
		const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		ifreq lo{};
		std::strcpy(lo.ifr_name, "lo");
		lo.ifr_flags = IFF_UP | IFF_RUNNING;
		EXPECT_EQ(ioctl(any, SIOCSIFFLAGS, &lo), 0);
		close(any);
		const pid_t child = fork(); // whose /sys shows this namespace
		if (child == 0) {
			if (unshare(CLONE_NEWNS) || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
				mount("sysfs", "/sys", "sysfs", 0, nullptr))
				_exit(1);
			const int file = open("/sys/class/net/lo/queues/rx-0/rps_cpus", O_WRONLY | O_CLOEXEC);
			std::string mask = fmt::format("{:x}", 1u << cpu % 32);
			for (uint32_t group = 0; group < cpu / 32; group++)
				mask += ",00000000";
			_exit(write(file, mask.data(), mask.size()) < 0 ? 2 : 0);
		}
		int status = 0;
		waitpid(child, &status, 0);
		EXPECT_EQ(status, 0) << "receive packet steering";
	}
	~Steered()
	{
		EXPECT_EQ(setns(before_, CLONE_NEWNET), 0);
		close(before_);
	}
	Steered(const Steered &) = delete;
	Steered &operator=(const Steered &) = delete;

private:
	const int before_;
};

// Connected to itself.
int datagram_socket()
{
	const int it = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	sockaddr_in at{};
	at.sin_family = AF_INET;
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t bytes = sizeof(at);
	EXPECT_TRUE(bind(it, reinterpret_cast<sockaddr *>(&at), bytes) == 0 &&
				getsockname(it, reinterpret_cast<sockaddr *>(&at), &bytes) == 0 &&
				connect(it, reinterpret_cast<sockaddr *>(&at), bytes) == 0);
	return it;
}

void take_precedence() { EXPECT_EQ(setpriority(PRIO_PROCESS, 0, -20), 0); }

bool send_all(int socket)
{
	take_precedence();
	char byte = 0;
	for (uint32_t i = 0; i < kDatagrams; i++) {
		if (send(socket, "x", 1, 0) != 1)
			return false;
		while (recv(socket, &byte, 1, 0) != 1)
			if (errno != EAGAIN)
				return false;
	}
	return true;
}

// What the busy process has to say, in memory that it shares with the test.
struct Busy {
	std::atomic<bool> is_over;
	uint32_t away = 0;
	std::array<std::pair<uint64_t, uint64_t>, 4096> away_ns; // when another task had its CPU

	// Announces bytes to a socket all the time.
	bool run()
	{
		const auto switches = [] {
			rusage usage{};
			getrusage(RUSAGE_SELF, &usage);
			return usage.ru_nvcsw + usage.ru_nivcsw;
		};
		take_precedence();
		constexpr uint64_t kLongNs = 20'000;
		std::array<int, 2> ends{};
		char byte = 0;
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()))
			return false;
		uint64_t last_ns = icepath_now_ns();
		for (long before = switches(); !is_over;) {
			if (write(ends[0], "x", 1) != 1 || read(ends[1], &byte, 1) != 1)
				return false;
			const uint64_t now_ns = icepath_now_ns();
			if (now_ns - last_ns > kLongNs && before != switches() && away < away_ns.size()) {
				away_ns.at(away++) = {last_ns, now_ns};
				before = switches();
			}
			last_ns = icepath_now_ns();
		}
		return true;
	}
	bool was_away(uint64_t at_ns) const
	{
		return std::any_of(away_ns.begin(), away_ns.begin() + away, [&](const auto &one) {
			return one.first - kOnItsWayNs <= at_ns && at_ns <= one.second + kOnItsWayNs;
		});
	}
};

// How often the kernel skipped the programs of this name.
uint64_t skips_of(std::string_view program)
{
	uint64_t skips = 0;
	for (__u32 id = 0; bpf_prog_get_next_id(id, &id) == 0;) {
		const int fd = bpf_prog_get_fd_by_id(id);
		bpf_prog_info info{};
		__u32 bytes = sizeof(info);
		if (fd < 0)
			continue; // it is gone
		const std::string name = bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 ? info.name : ""; // cut by the kernel
		skips += !name.empty() && program.starts_with(name) ? info.recursion_misses : 0;
		close(fd);
	}
	return skips;
}

TEST(Nested, AnnouncementsAreRecordedOnceEach)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to load BPF programs";
	const auto [sending, receiving] = two_cpus();
	Capture capture({sending, receiving}, 1u << 18);
	if (!is_in_kernel(kProbes[number_of("sk_data_ready")].candidates[0]))
		return; // before 6.3 there is no such tracepoint
	const Steered steered(receiving);
	const int datagrams = datagram_socket();
	auto *busy_in =
		static_cast<Busy *>(mmap(nullptr, sizeof(Busy), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	const Player sender(sending, [&](int) { return send_all(datagrams); });
	const Player busy(receiving, [&](int) { return busy_in->run(); });
	model::Cell udp;
	udp.mechanisms = {model::Mechanism::Socket, model::Mechanism::NetworkDevice};
	capture.attach(needed_by(udp));
	capture.add_socket(datagrams, kFirstKey);
	capture.begin_block({});
	busy.go();
	sender.go();
	sender.await();
	usleep(10'000); // the last announcement comes after its datagram
	const uint64_t skips = skips_of("on_sk_data_ready");
	Seen seen;
	seen.skipped = capture.end_block();
	busy_in->is_over = true;
	busy.await();
	seen.records = copy_slots(capture, seen.heads);
	utsname kernel{};
	uname(&kernel);
	if (!std::strstr(kernel.version, "PREEMPT_RT")) { // where softirqs run in tasks, and interrupt no program
		EXPECT_GT(skips, 10u) << "no packet came while the program ran";
	}
	for (const icepath_slot &head : seen.heads)
		EXPECT_LE(head.position, head.capacity);
	EXPECT_TRUE(seen.skipped.empty());
	// Where another task has the CPU, packets interrupt that. On top of some tasks this kernel may run no program.
	size_t beside = 0;
	for (const icepath_record &sent : seen.of_socket(ICEPATH_RECORD_DEVICE_QUEUE, kFirstKey))
		beside += busy_in->was_away(sent.end_ns);
	const size_t recorded = seen.of_socket(ICEPATH_RECORD_DATA_READY, kFirstKey).size();
	EXPECT_LE(recorded, kDatagrams);
	EXPECT_GE(recorded + beside, kDatagrams);
	EXPECT_LT(busy_in->away, busy_in->away_ns.size()) << "it was away more often than it could note";
	EXPECT_GE(kDatagrams - beside, kJudged);
	RecordProperty("beside", static_cast<int>(beside));
	RecordProperty("skips", static_cast<int>(skips));
	munmap(busy_in, sizeof(*busy_in));
	close(datagrams);
}

} // namespace
} // namespace icepath::capture
