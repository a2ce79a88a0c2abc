// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/external_tracer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cpuset/affinity.h"
#include "cpuset/topology.h"
#include "profiler/capture/probes.h"
#include "profiler/failure.h"
#include "tests/bench/child_program.h"

namespace icepath::bench {
namespace {

constexpr int kStartMs = 30000;

std::pair<Fd, Fd> open_pipe()
{
	std::array<int, 2> ends{};
	if (pipe2(ends.data(), O_CLOEXEC))
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot open a pipe: {}", std::strerror(errno)));
	return {Fd(ends[0]), Fd(ends[1])};
}

bool wait_readable(int fd)
{
	pollfd wait{fd, POLLIN, 0};
	return poll(&wait, 1, kStartMs) == 1 && (wait.revents & POLLIN);
}

// Its events go to a file in memory.
class Bpftrace : public ExternalTracer {
public:
	Bpftrace(const std::string &script, const std::vector<uint32_t> &tids)
		: output_(open_output()), child_({"bpftrace", script, std::to_string(tids[0]), std::to_string(tids[1])},
										 {.cpu = {}, .output = output_.get(), .keep = {}})
	{}
	// "Attaching N probes..." comes before they are; a page of text is more than that.
	bool recording() const override { return text_of(output_).size() > 4096; }

private:
	Fd output_;
	ChildProgram child_;
};

std::string perf_event_list()
{
	static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kSystems = {{{"sched_", "sched"},
																							   {"cpu_idle", "power"},
																							   {"softirq", "irq"},
																							   {"irq_handler", "irq"},
																							   {"sk_", "sock"},
																							   {"nmi_", "nmi"},
																							   {"", "irq_vectors"}}};
	std::string list;
	for (const capture::Probe &probe : capture::kProbes) {
		if (probe.candidates[0].tier != capture::Tier::Tracepoint)
			continue; // a function
		if (probe.group == capture::Group::DeviceQueue || probe.group == capture::Group::SocketTaken)
			continue; // a blocking UNIX socket needs neither
		if (probe.name.ends_with("_tp"))
			continue; // not in tracefs
		if (probe.name.starts_with("irq_work"))
			continue; // perf uses irq_work itself and may not sample it (TRACE_EVENT_PERF_PERM in irq_vectors.h)
		for (const auto &[prefix, system] : kSystems) {
			if (!probe.name.starts_with(prefix))
				continue;
			list += fmt::format("{}{}:{}", list.empty() ? "" : ",", system, probe.name);
			break;
		}
	}
	return list;
}

class PerfRecord : public ExternalTracer {
public:
	explicit PerfRecord(const std::vector<std::string> &target)
	{
		auto [control_out, control_in] = open_pipe();
		auto [ack_out, ack_in] = open_pipe();
		std::vector<std::string> command = {"perf",
											"record",
											"-q",
											"-D",
											"-1",
											"--control",
											fmt::format("fd:{},{}", control_out.get(), ack_in.get()),
											"-e",
											perf_event_list(),
											"-o",
											"/dev/null"};
		command.insert(command.end(), target.begin(), target.end());
		child_ = std::make_unique<ChildProgram>(
			command, ChildProgram::How{.cpu = {}, .output = -1, .keep = {control_out.get(), ack_in.get()}});
		const std::string_view enable = "enable\n";
		if (write(control_in.get(), enable.data(), enable.size()) != static_cast<ssize_t>(enable.size()) ||
			!wait_readable(ack_out.get()))
			throw Failure(ExitCode::MachineCannot,
						  "perf record doesn't start (is linux-perf installed, is tracefs mounted?)");
	}

	bool recording() const override { return true; } // it has acknowledged

private:
	std::unique_ptr<ChildProgram> child_;
};

} // namespace

void enter_tracing_namespace()
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr))
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("cannot make a mount namespace for tracefs: {}", std::strerror(errno)));
	for (const auto &[type, path] : {std::pair{"debugfs", "/sys/kernel/debug"}, {"tracefs", "/sys/kernel/tracing"}})
		mount("none", path, type, 0, nullptr); // already mounted is as good
	if (access("/sys/kernel/tracing/events", F_OK))
		throw Failure(ExitCode::MachineCannot, "cannot mount tracefs on /sys/kernel/tracing: tracers find no events");
}

std::unique_ptr<ExternalTracer> start_bpftrace(const std::string &script, const std::vector<uint32_t> &tids)
{
	return std::make_unique<Bpftrace>(script, tids);
}
std::unique_ptr<ExternalTracer> start_perf_record(const std::vector<std::string> &target)
{
	return std::make_unique<PerfRecord>(target);
}

void stay_off(uint32_t cpu)
{
	cpuset::CpuList others = cpuset::read_permission().affinity;
	std::erase(others, cpu);
	if (!others.empty() && cpuset::confine_process(others))
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot keep the tracers off CPU {}", cpu));
}

} // namespace icepath::bench
