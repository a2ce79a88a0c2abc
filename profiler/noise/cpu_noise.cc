// SPDX-License-Identifier: Apache-2.0
#include "profiler/noise/cpu_noise.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <set>

#include "icepath/plugin.h"
#include "profiler/channel.h"
#include "profiler/decode/decode.h"
#include "profiler/failure.h"
#include "profiler/machine/wakes.h"
#include "profiler/noise/gaps.h"
#include "profiler/privilege/root_process.h"

namespace icepath::noise {
namespace {

constexpr uint64_t kWindowNs = 1'000'000'000;
constexpr size_t kMostGaps = 1 << 16; // in a window

// Shared with the child.
struct Room {
	Spun spun;
	Gap gaps[kMostGaps];
};

// The child's side: for each request spins so long, then replies whether it was on its CPU.
[[noreturn]] void serve_spins(uint32_t cpu, int socket, Room &room)
{
	std::memset(static_cast<void *>(&room), 0, sizeof(room)); // page faults come before, not in a gap
	uint64_t ns = 0;
	std::vector<Fd> none;
	while (channel::receive(socket, &ns, sizeof(ns), none)) {
		const uint32_t stays = machine::stay_on(cpu) ? 1 : 0;
		if (stays)
			room.spun = spin(ns, room.gaps);
		if (!channel::send(socket, &stays, sizeof(stays)))
			break;
	}
	_exit(0);
}

class Spinner {
public:
	explicit Spinner(uint32_t cpu) : cpu_(cpu)
	{
		void *memory = mmap(nullptr, sizeof(Room), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			throw cannot(errno);
		room_ = static_cast<Room *>(memory);
		auto [own, its] = channel::open_pair();
		const pid_t icepath = getpid();
		pid_ = fork();
		if (pid_ == 0) {
			for (const int number : {SIGINT, SIGTERM, SIGHUP}) // icepath ends it, after a window
				signal(number, SIG_IGN);
			prctl(PR_SET_NAME, "icepath-noise");
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != icepath || !privilege::close_all_but({its.get()}))
				_exit(1);
			serve_spins(cpu, its.get(), *room_);
		}
		const int error = errno;
		socket_ = std::move(own);
		if (pid_ > 0)
			pidfd_ = pidfd_of(pid_);
		if (!pidfd_) {
			end();
			throw cannot(pid_ < 0 ? error : errno);
		}
	}
	~Spinner() { end(); }
	Spinner(const Spinner &) = delete;
	Spinner &operator=(const Spinner &) = delete;

	uint32_t cpu() const { return cpu_; }
	uint32_t tid() const { return static_cast<uint32_t>(pid_); }
	int pidfd() const { return pidfd_.get(); }

	bool begin(uint64_t ns) { return channel::send(socket_.get(), &ns, sizeof(ns)); }
	// Whether it spun on its CPU; nothing: it died.
	std::optional<bool> await()
	{
		constexpr int kPatienceMs = 60'000; // beside real-time tasks it may not run for long
		uint32_t stayed = 0;
		std::vector<Fd> none;
		if (!channel::receive(socket_.get(), &stayed, sizeof(stayed), none, kPatienceMs))
			return std::nullopt;
		return stayed != 0;
	}
	const Room &room() const { return *room_; }

private:
	static Failure cannot(int error)
	{
		return Failure(
			ExitCode::MachineCannot,
			fmt::format("noise can't be measured: a process to spin can't be started: {}", std::strerror(error)));
	}
	void end()
	{
		if (pid_ > 0) {
			kill(pid_, SIGKILL);
			waitpid(pid_, nullptr, 0);
			pid_ = -1;
		}
		if (room_)
			munmap(room_, sizeof(Room));
		room_ = nullptr;
	}

	const uint32_t cpu_;
	Room *room_ = nullptr;
	pid_t pid_ = -1;
	Fd socket_, pidfd_;
};

using Spinners = std::vector<std::unique_ptr<Spinner>>;

// Spins once. False: a child died.
bool spin_once(Spinners &spinners, uint64_t ns)
{
	for (const auto &spinner : spinners)
		if (!spinner->begin(ns))
			return false;
	bool all = true;
	std::erase_if(spinners, [&](const auto &spinner) {
		const auto stayed = spinner->await();
		all = all && stayed.has_value();
		return stayed == false;
	});
	return all;
}

// A number of a line such as "Tgid:\t17" of a task's status; 0: it has ended.
pid_t number_of(uint32_t tid, const std::string &label)
{
	std::ifstream status(fmt::format("/proc/{}/status", tid));
	for (std::string line; std::getline(status, line);)
		if (line.starts_with(label))
			return static_cast<pid_t>(std::strtol(line.c_str() + label.size(), nullptr, 10));
	return 0;
}

path::Observations decoded(const Spinners &spinners, const std::vector<model::SlotCapture> &slots,
						   std::vector<capture::SkippedPrograms> skipped, uint64_t begin_ns)
{
	model::Window window;
	window.probed = true;
	window.begin.monotonic_ns = begin_ns;
	window.finish.monotonic_ns = icepath_now_ns();
	for (const auto &spinner : spinners)
		window.threads.push_back({spinner->tid(), spinner->cpu(), "icepath-noise"});
	window.slots = slots;
	window.skipped = std::move(skipped);
	path::Observations seen = decode::decode_window(window).seen;
	for (auto &[tid, name] : seen.task_names)
		name = named_as_own_or_not(name, tid);
	return seen;
}

} // namespace

std::string named_as_own_or_not(const std::string &name, uint32_t tid)
{
	if (!name.starts_with("icepath"))
		return name;
	const pid_t process = number_of(tid, "Tgid:");
	pid_t ancestor = process;
	while (ancestor > 1 && ancestor != getpid())
		ancestor = number_of(static_cast<uint32_t>(ancestor), "PPid:");
	if (ancestor == getpid())
		return fmt::format("{} (own)", name);
	return fmt::format("{} (process {}, not own)", name, process != 0 ? static_cast<uint32_t>(process) : tid);
}

capture::ProbeSet needed_probes()
{
	capture::ProbeSet probes = 0;
	for (size_t i = 0; i < capture::kProbes.size(); i++)
		if (capture::kProbes[i].group == capture::Group::Scheduling ||
			capture::kProbes[i].group == capture::Group::Interrupts)
			probes |= capture::bit(i);
	return probes;
}

std::vector<model::CpuNoise> measure(const std::vector<uint32_t> &cpus, uint64_t duration_ns, const Capture *capture,
									 const std::function<void(int pidfd)> &admit,
									 const std::function<bool()> &is_interrupted)
{
	Spinners spinners;
	std::vector<uint32_t> numbers; // the helper's, by spinner
	std::vector<model::CpuNoise> noise;
	for (const uint32_t cpu : std::set<uint32_t>(cpus.begin(), cpus.end())) {
		const Spinner &spinner = *spinners.emplace_back(std::make_unique<Spinner>(cpu));
		if (admit)
			admit(spinner.pidfd());
		if (capture)
			numbers.push_back(capture->helper.add_worker(spinner.pidfd()));
		noise.emplace_back().cpu = cpu;
	}
	constexpr uint64_t kShortNs = 1'000'000;
	if (!spin_once(spinners, kShortNs)) // pins each; the first gaps are of moving there
		return {};
	std::erase_if(noise, [&](const model::CpuNoise &one) {
		return std::ranges::none_of(spinners, [&](const auto &spinner) { return spinner->cpu() == one.cpu; });
	});
	for (uint64_t left_ns = duration_ns; left_ns > 0 && !(is_interrupted && is_interrupted());) {
		const uint64_t ns = std::min(left_ns, kWindowNs), begin_ns = icepath_now_ns();
		left_ns -= ns;
		if (capture)
			capture->helper.begin_block(numbers, {}, false);
		const bool all = spin_once(spinners, ns);
		std::optional<path::Observations> seen;
		if (capture) {
			auto skipped = capture->helper.end_block();
			if (all)
				seen = decoded(spinners, capture->slots.copy(), std::move(skipped), begin_ns);
		}
		if (!all)
			break;
		for (const auto &spinner : spinners) {
			const Spun spun = spinner->room().spun;
			const size_t stored = std::min<size_t>(spun.gaps, kMostGaps);
			add(spun, {spinner->room().gaps, stored}, seen ? &*seen : nullptr, spinner->tid(),
				*std::ranges::find(noise, spinner->cpu(), &model::CpuNoise::cpu));
		}
	}
	return noise;
}

} // namespace icepath::noise
