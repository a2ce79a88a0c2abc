// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine/wakes.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "icepath/plugin.h"
#include "profiler/channel.h"
#include "profiler/failure.h"
#include "profiler/privilege/root_process.h"

namespace icepath::machine {
namespace {

constexpr uint64_t kSleepNs = 1'000'000; // long enough for a CPU to halt
constexpr size_t kSamples = 45;

std::optional<model::CpuWake> wake_of(uint32_t cpu)
{
	if (!stay_on(cpu))
		return std::nullopt;
	prctl(PR_SET_TIMERSLACK, 1UL); // of this thread; the default lets a timer expire up to 50 us late (timer_slack_ns)
	std::vector<uint64_t> late;
	const uint64_t give_up_ns = icepath_now_ns() + kWakesNs;
	while (late.size() < kSamples && icepath_now_ns() < give_up_ns) {
		const uint64_t due_ns = icepath_now_ns() + kSleepNs;
		const timespec due{static_cast<time_t>(due_ns / 1'000'000'000), static_cast<long>(due_ns % 1'000'000'000)};
		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == 0)
			late.push_back(icepath_now_ns() - due_ns);
	}
	if (late.empty())
		return std::nullopt;
	std::ranges::sort(late);
	return model::CpuWake{cpu, late[late.size() / 2], late[late.size() * 9 / 10]};
}

// A process that sleeps on a CPU: unlike a thread of icepath's, it can be in a partition where icepath isn't.
class Sleeper {
public:
	explicit Sleeper(uint32_t cpu)
	{
		auto [own, its] = channel::open_pair();
		const pid_t icepath = getpid();
		pid_ = fork();
		if (pid_ == 0) {
			for (const int number : {SIGINT, SIGTERM, SIGHUP})
				signal(number, SIG_DFL);
			prctl(PR_SET_NAME, "icepath-wakes");
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != icepath || !privilege::close_all_but({its.get()}))
				_exit(1);
			serve(cpu, its.get());
		}
		socket_ = std::move(own);
		if (pid_ > 0)
			pidfd_ = pidfd_of(pid_);
	}
	~Sleeper()
	{
		if (pid_ <= 0)
			return;
		kill(pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}
	Sleeper(const Sleeper &) = delete;
	Sleeper &operator=(const Sleeper &) = delete;

	// One that isn't admitted may not run on its CPU, which is seen there.
	void admit(const std::function<void(int pidfd)> &to)
	{
		try {
			if (pidfd_)
				to(pidfd_.get());
		} catch (const Failure &) {
		}
	}
	void begin() { (void)channel::send(socket_.get(), &kBegin, sizeof(kBegin)); }
	std::optional<model::CpuWake> await()
	{
		constexpr int kPatienceMs = 10'000; // beside real-time tasks it may not run for long
		model::CpuWake wake;
		std::vector<Fd> none;
		if (pid_ <= 0 || !channel::receive(socket_.get(), &wake, sizeof(wake), none, kPatienceMs))
			return std::nullopt;
		return wake;
	}

private:
	static constexpr char kBegin = 1;

	[[noreturn]] static void serve(uint32_t cpu, int socket)
	{
		char begin = 0;
		std::vector<Fd> none;
		if (channel::receive(socket, &begin, sizeof(begin), none))
			if (const auto wake = wake_of(cpu))
				(void)channel::send(socket, &*wake, sizeof(*wake));
		_exit(0);
	}

	pid_t pid_ = -1;
	Fd socket_, pidfd_;
};

} // namespace

bool stay_on(uint32_t cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	if (!set)
		return false;
	CPU_ZERO_S(CPU_ALLOC_SIZE(cpu + 1), set);
	CPU_SET_S(cpu, CPU_ALLOC_SIZE(cpu + 1), set);
	const bool stays = sched_setaffinity(0, CPU_ALLOC_SIZE(cpu + 1), set) == 0;
	CPU_FREE(set);
	return stays;
}

std::vector<model::CpuWake> measure_wakes(const std::vector<uint32_t> &cpus,
										  const std::function<void(int pidfd)> &admit)
{
	std::vector<std::unique_ptr<Sleeper>> sleepers;
	try {
		for (const uint32_t cpu : std::set<uint32_t>(cpus.begin(), cpus.end()))
			sleepers.push_back(std::make_unique<Sleeper>(cpu));
	} catch (const Failure &) { // too many open files
	}
	if (admit)
		for (const auto &sleeper : sleepers)
			sleeper->admit(admit);
	for (const auto &sleeper : sleepers)
		sleeper->begin();
	std::vector<model::CpuWake> wakes;
	for (const auto &sleeper : sleepers)
		if (const auto wake = sleeper->await())
			wakes.push_back(*wake);
	return wakes;
}

std::optional<uint64_t> steal_ns(const std::vector<uint32_t> &cpus)
{
	std::ifstream file("/proc/stat");
	const auto ticks_a_second = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
	std::optional<uint64_t> sum;
	for (std::string line; std::getline(file, line);)
		for (const uint32_t cpu : std::set<uint32_t>(cpus.begin(), cpus.end())) {
			const std::string name = fmt::format("cpu{} ", cpu);
			if (!line.starts_with(name))
				continue;
			std::istringstream fields(line.substr(name.size()));
			uint64_t ticks = 0; // user nice system idle iowait irq softirq steal: proc_stat(5)
			for (int field = 0; field < 8; field++)
				fields >> ticks;
			if (fields)
				sum = sum.value_or(0) + ticks * (1'000'000'000 / ticks_a_second);
		}
	return sum;
}

} // namespace icepath::machine
