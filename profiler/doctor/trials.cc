// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/trials.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "cpuset/affinity.h"
#include "cpuset/isolation.h"
#include "icepath/plugin.h"
#include "profiler/model/counters.h"
#include "profiler/model/layers.h"
#include "profiler/privilege/identity.h"

namespace icepath::doctor {
namespace {

constexpr uint64_t kRounds = 20000;
constexpr uint64_t kGiveUpNs = 500'000'000;

// Two threads take turns; the second leaves its clock reading for the first.
struct Table {
	alignas(64) std::atomic<uint64_t> turn{0};
	alignas(64) std::array<std::atomic<uint64_t>, 2> stamp{};
	std::atomic<bool> stop{false};
};

bool await(const Table &table, uint64_t turn, uint64_t give_up_ns)
{
	while (table.turn.load(std::memory_order_acquire) != turn)
		if (table.stop.load(std::memory_order_relaxed) || icepath_now_ns() > give_up_ns)
			return false;
	return true;
}

uint64_t cost_of_reading()
{
	std::vector<uint64_t> costs(1001);
	for (uint64_t &cost : costs) {
		const uint64_t begin = icepath_now_ns();
		for (int i = 0; i < 8; i++)
			(void)icepath_now_ns();
		cost = (icepath_now_ns() - begin) / 9;
	}
	std::nth_element(costs.begin(), costs.begin() + 500, costs.end());
	return costs[500];
}

} // namespace

ClockTrial try_clock(uint32_t first_cpu, uint32_t second_cpu)
{
	ClockTrial trial;
	std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> trial.source;
	trial.read_ns = cost_of_reading();
	if (first_cpu == second_cpu)
		return trial;
	Table table;
	const uint64_t give_up_ns = icepath_now_ns() + kGiveUpNs;
	std::thread echo([&] {
		if (cpuset::pin(0, second_cpu))
			table.stop = true;
		for (uint64_t round = 0; round < kRounds && await(table, 2 * round + 1, give_up_ns); round++) {
			table.stamp[1].store(icepath_now_ns(), std::memory_order_relaxed);
			table.turn.store(2 * round + 2, std::memory_order_release);
		}
		table.stop = true;
	});
	int64_t shortest = INT64_MAX;
	std::thread caller([&] {
		if (cpuset::pin(0, first_cpu))
			return;
		for (uint64_t round = 0; round < kRounds; round++) {
			const uint64_t sent = icepath_now_ns();
			table.turn.store(2 * round + 1, std::memory_order_release);
			if (!await(table, 2 * round + 2, give_up_ns))
				break;
			const uint64_t back = icepath_now_ns();
			const uint64_t there = table.stamp[1].load(std::memory_order_relaxed);
			trial.backward += there < sent || back < there;
			const auto trip = static_cast<int64_t>(back - sent);
			if (trip < shortest) {
				shortest = trip;
				trial.error_ns = trip / 2;
				trial.offset_ns = (static_cast<int64_t>(there - sent) + static_cast<int64_t>(there - back)) / 2;
			}
		}
	});
	caller.join();
	table.stop = true;
	echo.join();
	return trial;
}

namespace {

// Runs `trial` in a child with no more rights than that user has. Returns its errno, or why it can't be run.
template <typename Trial> int32_t tried_as_the_invoking_user(const Trial &trial)
{
	const uid_t id = privilege::invoking_user().uid;
	const pid_t child = fork();
	if (child < 0)
		return errno;
	if (child == 0) {
		// The group id doesn't matter here.
		if (id != 0 && geteuid() == 0 && (setgroups(0, nullptr) || setresgid(id, id, id) || setresuid(id, id, id)))
			_exit(errno);
		_exit(trial());
	}
	int status = 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int32_t try_cycles(bool user_only)
{
	return tried_as_the_invoking_user([user_only] {
		perf_event_attr wish{};
		wish.type = PERF_TYPE_HARDWARE;
		wish.size = sizeof(wish);
		wish.config = PERF_COUNT_HW_CPU_CYCLES;
		wish.exclude_kernel = user_only;
		wish.exclude_hv = 1;
		return syscall(SYS_perf_event_open, &wish, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0 ? errno : 0;
	});
}

} // namespace

CounterTrial try_counters()
{
	return {try_cycles(false), try_cycles(true),
			tried_as_the_invoking_user([] { return access("/proc/thread-self/sched", R_OK) ? errno : 0; })};
}

Check counters_check(const CounterTrial &trial)
{
	const std::string no_migrations =
		trial.migrations == 0 ? "" : fmt::format("no migrations: {}", model::why_absent(trial.migrations, false));
	Check check{"counters", Verdict::Ok, "", "", ""};
	if (trial.hardware == 0) {
		check.found = "cycles, instructions, cache and branch misses, in user and kernel mode";
	} else if (trial.user_mode == 0) {
		check.verdict = Verdict::Warn;
		check.found = "cycles, instructions, cache and branch misses, in user mode only";
		check.effect = "what the kernel does for a message isn't counted: most of it, for a kernel transport";
		check.remedy = "sudo sysctl kernel.perf_event_paranoid=1";
	} else {
		check.verdict = Verdict::Warn;
		check.found = fmt::format("no hardware counters: {}", model::why_absent(trial.user_mode, true));
		check.effect = "cycles, instructions, cache and branch misses are absent from run.json";
		if (trial.user_mode == EACCES)
			check.remedy = "sudo sysctl kernel.perf_event_paranoid=1";
		else if (trial.user_mode != EPERM && trial.user_mode != ENOSYS)
			check.possible = Possible::NotHere,
			check.remedy = "use bare metal, or a virtual machine with a PMU (KVM: -cpu host,pmu=on)";
	}
	if (!no_migrations.empty()) {
		check.verdict = Verdict::Warn;
		check.found += "; " + no_migrations;
		check.effect += std::string(check.effect.empty() ? "" : "; ") + "migrations are absent from run.json";
	}
	return check;
}

Check interrupts_check(const std::vector<model::InterruptCount> &untraced, const cpuset::Machine &machine)
{
	std::string came;
	for (const model::InterruptCount &row : untraced)
		if (cpuset::is_often(row.count, machine))
			came += fmt::format("{}{} ({}) {} times", came.empty() ? "" : ", ", row.name, row.label, row.count);
	if (came.empty())
		return {"interrupts", Verdict::Ok, "each kind that comes to these CPUs has a probe", "", ""};
	return {"interrupts", Verdict::Warn, "no probe shows, since boot: " + came,
			"their time is in the layers that they interrupted; a run says how many came meanwhile", ""};
}

namespace {

// The stamps that show a layer without probes, on every kernel; empty: none do.
constexpr std::string_view stamps_of(model::Layer layer)
{
	switch (layer) {
	case model::Layer::SenderUser:
	case model::Layer::SenderKernel:
		return "the sender's stamps around each call";
	case model::Layer::Queue:
	case model::Layer::ReceiverKernel:
	case model::Layer::ReceiverUser:
		return "the receiver's stamps around each call";
	case model::Layer::Propagation:
		return "the stamps of publishing and observing, in shared memory";
	default:
		return "";
	}
}

std::string with_note(std::string_view name, std::string_view note)
{
	return note.empty() ? std::string(name) : fmt::format("{} ({})", name, note);
}

void append(std::string &all, const std::string &one, const char *separator)
{
	if (!one.empty())
		all += (all.empty() ? "" : separator) + one;
}

Check layer_check(model::Layer layer, const capture::Selection &tried)
{
	Check check{fmt::format("layer {}", name(layer)), Verdict::Ok, std::string(stamps_of(layer)), "", ""};
	std::array<std::string, std::size(capture::kTierNames)> by_tier;
	std::map<std::string_view, std::string> missing; // by the substitute
	for (size_t i = 0; i < capture::kProbes.size(); i++) {
		const capture::Probe &probe = capture::kProbes[i];
		const auto use = probe.uses.of(layer);
		if (!use)
			continue;
		const capture::Trial &trial = tried[i];
		if (trial.works) {
			append(by_tier[static_cast<size_t>(trial.candidate.tier)], with_note(trial.candidate.target, *use), ", ");
			continue;
		}
		check.verdict = std::max(check.verdict, is_essential(probe) ? Verdict::Fail : Verdict::Warn);
		append(missing[probe.instead], with_note(probe.name, *use), ", ");
	}
	for (size_t tier = 0; tier < by_tier.size(); tier++)
		if (!by_tier[tier].empty())
			append(check.found, fmt::format("{} {}", capture::kTierNames[tier], by_tier[tier]), "; ");
	for (const auto &[instead, probes] : missing)
		append(check.effect, fmt::format("without {}: shown by {}", probes, instead), "; ");
	// Probes of a layer's parts are useless without its essential probes.
	if (check.found.empty() || (check.verdict == Verdict::Fail && stamps_of(layer).empty()))
		check.found = "nothing shows it here";
	return check;
}

} // namespace

std::vector<Check> layer_checks(const capture::Selection &tried)
{
	std::vector<Check> checks;
	for (size_t layer = 0; layer < model::kLayerCount; layer++)
		checks.push_back(layer_check(static_cast<model::Layer>(layer), tried));
	return checks;
}

} // namespace icepath::doctor
