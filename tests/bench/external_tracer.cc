// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/external_tracer.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cpuset/affinity.h"
#include "cpuset/topology.h"
#include "profiler/failure.h"
#include "tests/bench/child_program.h"
#include "tests/bench/ring_buffer_tracer.h"
#include "tests/bench/tracer_output.h"

namespace icepath::bench {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

constexpr const char *kFolder = "/mnt"; // there by the Filesystem Hierarchy Standard; ours is mounted on top of it
const std::string kPerfFile = std::string(kFolder) + "/perf.data";

// Those that a process has open.
size_t perf_events_of(pid_t pid)
{
	size_t count = 0;
	std::error_code error;
	for (const auto &fd : fs::directory_iterator(fmt::format("/proc/{}/fd", pid), error))
		count += fs::read_symlink(fd.path(), error).string().find("[perf_event]") != std::string::npos;
	return count;
}

// A tracer whose events are all perf_event_open(2)'s: it records once it opens no more of them.
class PerfEventTracer : public ExternalTracer {
public:
	using Count = std::function<uint64_t(const std::string &output)>;
	PerfEventTracer(const Command &command, Count count)
		: name_(command[0]), count_(std::move(count)), output_(open_output()),
		  child_(command, {.cpu = {}, .output = output_.get(), .keep = {}})
	{}

	bool recording() override
	{
		// For half a second: it attaches one after the other, and a busy host delays each.
		constexpr uint32_t kLooksAlike = 25;
		if (const auto code = child_.wait(0))
			throw failure_of(name_, {*code, text_of(output_)});
		const size_t open = perf_events_of(child_.pid());
		alike_ = open > 0 && open == open_ ? alike_ + 1 : 0;
		open_ = open;
		return alike_ >= kLooksAlike;
	}

	uint64_t end() override
	{
		child_.end();
		return count_(text_of(output_));
	}

private:
	std::string name_;
	Count count_;
	Fd output_;
	ChildProgram child_;
	size_t open_ = 0;
	uint32_t alike_ = 0;
};

auto started_with(PerfEventTracer::Count count)
{
	return [count = std::move(count)](const Command &command, const Traced &) -> std::unique_ptr<ExternalTracer> {
		return std::make_unique<PerfEventTracer>(command, count);
	};
}

uint64_t events_in_perf_file(const std::string &)
{
	constexpr uint64_t kMostBytesOfEvent = 256;
	std::error_code error;
	const auto bytes = fs::file_size(kPerfFile, error);
	fs::remove(kPerfFile, error);
	return bytes == static_cast<uintmax_t>(-1) ? 0 : bytes / kMostBytesOfEvent;
}

std::string perf_event_list()
{
	std::string list;
	for (const std::string &event : captured_events())
		// perf uses irq_work itself and may not sample it (TRACE_EVENT_PERF_PERM in irq_vectors.h).
		if (event.find("irq_work") == std::string::npos)
			list += (list.empty() ? "" : ",") + event;
	return list;
}

std::vector<TracerKind> bpftrace_kinds(const std::string &scripts, const Traced &traced)
{
	const auto command = [&](const std::string &script, Command before = {}) {
		before.insert(before.end(), {"bpftrace", scripts + "/" + script, std::to_string(traced.tids.at(0)),
									 std::to_string(traced.tids.at(1))});
		return before;
	};
	const Command version = {"bpftrace", "--version"};
	constexpr double kAim = 1.0 / 3;
	const std::string printed = "prints time and task of each event; each wakes bpftrace";
	return {{"bpftrace, histograms", "histograms of the intervals between icepath's events, in maps",
			 command("histograms.bt"), version, started_with(events_in_histograms), kAim},
			{"bpftrace, histograms of wakes",
			 "histograms of the intervals between four tracepoints, in maps",
			 command("wakes.bt"),
			 version,
			 started_with(events_in_histograms),
			 {}},
			{"bpftrace, printing", printed, command("record.bt"), version, started_with(events_in_lines), {}},
			{"bpftrace, printing, larger buffer",
			 printed + ", whose buffer is 64 times larger",
			 command("record.bt", {"env", "BPFTRACE_PERF_RB_PAGES=4096"}),
			 version,
			 started_with(events_in_lines),
			 {}}};
}

std::vector<TracerKind> perf_kinds(const Traced &traced)
{
	// It reads the file again at its end for build ids (-N, -B), which is no part of recording.
	const auto record = [&](const Command &options) {
		Command command = {"perf", "record", "-q", "-N", "-B", "-e", perf_event_list(), "-o", kPerfFile};
		command.insert(command.end(), options.begin(), options.end());
		return command;
	};
	const std::string cpu = std::to_string(traced.cpu), tids = fmt::format("{},{}", traced.tids[0], traced.tids[1]);
	const Command version = {"perf", "--version"};
	constexpr double kAim = 1.0 / 6;
	const std::string stored = "stores icepath's events of ";
	return {
		{"perf record -p", stored + "both tasks", record({"-p", tids}), version, started_with(events_in_perf_file),
		 kAim},
		{"perf record -C", stored + "the CPU", record({"-C", cpu}), version, started_with(events_in_perf_file), kAim},
		{"perf record -C, larger buffers", stored + "the CPU, by way of 16 MiB", record({"-C", cpu, "-m", "4096"}),
		 version, started_with(events_in_perf_file), kAim},
		{"perf sched record",
		 "stores the scheduler's events of the CPU",
		 {"perf", "sched", "record", "-q", "-N", "-B", "-C", cpu, "-o", kPerfFile},
		 version,
		 started_with(events_in_perf_file),
		 {}},
		{"perf trace -s",
		 "sums up the system calls of both tasks, and nothing of the scheduler",
		 {"perf", "trace", "-s", "-m", "4096", "-p", tids},
		 version,
		 started_with(events_in_summary),
		 {}}};
}

} // namespace

std::vector<TracerKind> tracer_kinds(const std::string &scripts, const Traced &traced)
{
	std::vector<TracerKind> kinds = bpftrace_kinds(scripts, traced);
	for (std::vector<TracerKind> &more : std::vector{perf_kinds(traced), ring_buffer_kinds(kFolder, traced)})
		kinds.insert(kinds.end(), more.begin(), more.end());
	return kinds;
}

void enter_tracing_namespace()
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr))
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("cannot make a mount namespace for tracefs: {}", std::strerror(errno)));
	for (const auto &[type, path] : {std::pair{"debugfs", "/sys/kernel/debug"}, {"tracefs", "/sys/kernel/tracing"}})
		mount("none", path, type, 0, nullptr); // already mounted is as good
	if (access("/sys/kernel/tracing/events", F_OK))
		throw Failure(ExitCode::MachineCannot, "cannot mount tracefs on /sys/kernel/tracing: tracers find no events");
	if (mount("icepath-bench", kFolder, "tmpfs", 0, nullptr))
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot mount a folder for what tracers write on {}: {}",
														   kFolder, std::strerror(errno)));
}

void stay_off(uint32_t cpu)
{
	cpuset::CpuList others = cpuset::read_permission().affinity;
	std::erase(others, cpu);
	if (!others.empty() && cpuset::confine_process(others))
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot keep the tracers off CPU {}", cpu));
}

} // namespace icepath::bench
