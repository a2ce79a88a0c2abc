// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "profiler/stats/quantity.h"

namespace icepath::explain {
namespace {

using Kind = path::Culprit::Kind;
using model::Layer;
using model::Part;

template <typename Is> double ns_of_causes(const Symptoms &symptoms, Is is)
{
	double ns = 0;
	for (const Cause &cause : symptoms.causes)
		if (is(cause))
			ns += cause.growth_ns;
	return ns;
}

template <typename Is> double ns_of_rows(const Symptoms &symptoms, Is is)
{
	int64_t ns = 0;
	for (const KindDifference &kind : symptoms.difference.kinds)
		for (const DifferenceRow &row : kind.rows)
			if (is(row))
				ns += row.of.ns();
	return static_cast<double>(ns);
}

template <Part kPart> double ns_of_part(const Symptoms &symptoms)
{
	return ns_of_rows(symptoms, [](const DifferenceRow &row) { return row.part == kPart; });
}

// The names are those of path::culprit_name().
bool is_of_tick(const Cause &cause)
{
	static const std::set<std::string_view> kOfTick = {"timer interrupt", "TIMER softirq", "HRTIMER softirq",
													   "SCHED softirq", "RCU softirq"};
	return cause.kind == Kind::Interrupt && kOfTick.contains(cause.name);
}

bool is_of_device(const Cause &cause) { return cause.kind == Kind::Interrupt && cause.name.starts_with("interrupt "); }

bool is_softirq(const Cause &cause)
{
	return cause.kind == Kind::Interrupt && cause.name.ends_with(" softirq") && !is_of_tick(cause);
}

bool shares_a_cpu(const model::Cell &cell)
{
	const std::vector<uint32_t> cpus = model::cpus_by_side(cell);
	return std::set(cpus.begin(), cpus.end()).size() < cpus.size();
}

double ns_of_tasks(const Symptoms &symptoms)
{
	return ns_of_causes(symptoms, [](const Cause &cause) { return cause.kind == Kind::Task; });
}

// 0 where sides share a CPU. Elsewhere these are threads of libraries and daemons.
double ns_of_own_threads(const Symptoms &symptoms)
{
	return shares_a_cpu(symptoms.cell) ? 0
									   : ns_of_causes(symptoms, [](const Cause &cause) { return cause.is_own_thread; });
}

// A CPU on its way out of idle shows as a part of layers and as the culprit of a wait: the same time seen twice.
double ns_of_idle(const Symptoms &symptoms)
{
	return std::max(ns_of_part<Part::IdleExit>(symptoms),
					ns_of_causes(symptoms, [](const Cause &cause) { return cause.kind == Kind::IdleCpu; }));
}

bool is_handled(const model::Cell &cell) { return cell.wait == model::Wait::Callback; }

bool sleeps(const model::Cell &cell) { return !model::never_sleeps(cell.wait); }

constexpr double kWorthARemedy = 0.1; // of the difference

struct Row {
	const char *cause;
	double (*ns)(const Symptoms &); // the part of the difference that the cause took
	const char *advice;
	double worth = kWorthARemedy; // the least share for which it is given
};

// The waker's cost of such a waking lies in the waker's system call, and can be most of the difference.
constexpr double kSpuriousIsWorth = 0.02;

constexpr Row kRemedies[] = {
	{"tick", [](const Symptoms &symptoms) { return ns_of_causes(symptoms, is_of_tick); },
	 "the timer tick and what it starts: nohz_full= and rcu_nocbs= with these CPUs, on the kernel's command line"},
	{"deep_idle",
	 [](const Symptoms &symptoms) {
		 return symptoms.cell.idle_states == model::IdleStates::Own ? ns_of_idle(symptoms) : 0.0;
	 },
	 "CPUs that had gone idle: hold /dev/cpu_dma_latency at 0, as icepath run does without --idle-states (not for "
	 "sparse)"},
	{"own_thread", [](const Symptoms &symptoms) { return is_handled(symptoms.cell) ? 0 : ns_of_own_threads(symptoms); },
	 "threads of the middleware itself, on the CPU of their side: handle messages in them (-w callback, where icepath "
	 "list has it), or give them other CPUs (--free-library-threads, --daemon-cpus)"},
	{"own_thread", [](const Symptoms &symptoms) { return is_handled(symptoms.cell) ? ns_of_own_threads(symptoms) : 0; },
	 "threads of the middleware itself, on the CPU of their side: give them other CPUs (--free-library-threads, "
	 "--daemon-cpus)"},
	{"task",
	 [](const Symptoms &symptoms) {
		 return shares_a_cpu(symptoms.cell) ? 0 : ns_of_tasks(symptoms) - ns_of_own_threads(symptoms);
	 },
	 "tasks on these CPUs: keep them off (icepath run --isolate full, where icepath doctor calls it possible), or take "
	 "other CPUs (--cpus)"},
	{"shared_cpu", [](const Symptoms &symptoms) { return shares_a_cpu(symptoms.cell) ? ns_of_tasks(symptoms) : 0; },
	 "sides of the cell share a CPU: give each its own (--cpus)"},
	{"device_interrupt", [](const Symptoms &symptoms) { return ns_of_causes(symptoms, is_of_device); },
	 "interrupts of devices: send them to other CPUs (/proc/irq/N/smp_affinity_list, or icepath run --isolate full)"},
	{"softirq", [](const Symptoms &symptoms) { return ns_of_causes(symptoms, is_softirq); },
	 "softirqs of others' work: send the interrupts that raise them to other CPUs (/proc/irq/N/smp_affinity_list)"},
	{"throttled",
	 [](const Symptoms &symptoms) {
		 return ns_of_causes(symptoms, [](const Cause &cause) { return cause.kind == Kind::Throttled; });
	 },
	 "a control group's limit: raise its cpu.max"},
	{"nagle", ns_of_part<Part::Held>,
	 "TCP held small messages back until earlier ones were acknowledged: set TCP_NODELAY, or uncork"},
	{"full_queue", ns_of_part<Part::Backpressure>,
	 "the queue was full: a deeper one (--qos depth=), a lower rate (--rate), or a faster receiver"},
	{"busy_receiver", ns_of_part<Part::Busy>,
	 "the receiver was busy with something else: less work per message, a lower rate (--rate), or more receivers"},
	{"spurious_wakeup", ns_of_part<Part::Spurious>,
	 "wakings without a message: a UNIX stream also wakes its reader when the peer has read what it sent "
	 "(unix_write_space()), within the peer's receiving call; epoll avoids this: -w epoll, or "
	 "compare uds-dgram",
	 kSpuriousIsWorth},
	{"page_fault", ns_of_part<Part::Fault>, "page faults: lock memory (mlockall()), and touch it before it is needed"},
	{"lock", ns_of_part<Part::Lock>, "a lock that another thread held: icepath report -v names who released it"},
	{"waking",
	 [](const Symptoms &symptoms) {
		 return sleeps(symptoms.cell) ? ns_of_rows(symptoms,
												   [](const DifferenceRow &row) {
													   return row.layer == Layer::Wakeup &&
															  row.part != Part::IdleExit && row.part != Part::Spurious;
												   })
									  : 0.0;
	 },
	 "wakings of sleeping threads: a receiver that polls has none (-w poll, -w spin) and takes a whole CPU"},
};

} // namespace

std::vector<Remedy> remedies_of(const Symptoms &symptoms)
{
	std::vector<Remedy> remedies;
	const auto whole = static_cast<double>(symptoms.difference.of.ns());
	for (const Row &row : kRemedies)
		if (const double ns = row.ns(symptoms); whole > 0 && ns >= row.worth * whole)
			remedies.push_back({row.cause, ns / whole, ns, row.advice});
	std::ranges::stable_sort(remedies, std::ranges::greater(), &Remedy::share);
	return remedies;
}

std::vector<Step> steps_of(const std::vector<Remedy> &remedies, std::string_view of, bool with_shares)
{
	std::vector<Step> steps;
	for (const Remedy &remedy : remedies)
		steps.push_back({fmt::format("{} of {}: {}",
									 with_shares ? stats::percent(std::min(remedy.share, 1.0))
												 : stats::microseconds(remedy.ns) + " µs",
									 of, remedy.advice)});
	return steps;
}

} // namespace icepath::explain
