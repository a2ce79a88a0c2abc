// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/remedies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "icepath/plugin.h"
#include "profiler/stats/quantity.h"

namespace icepath::explain {
namespace {

using analysis::Origin;
using model::Layer;
using model::Mechanism;
using model::Part;

// What takes no part of the difference for certain has no remedy.
template <typename Is> double ns_of_causes(const Symptoms &symptoms, Is is)
{
	double ns = 0;
	for (const Cause &cause : symptoms.causes)
		if (cause.counts() && is(cause))
			ns += cause.growth_ns;
	return ns;
}

template <typename Is> double ns_of_rows(const Symptoms &symptoms, Is is)
{
	int64_t ns = 0;
	for (const KindDifference &kind : symptoms.difference.kinds)
		for (const DifferenceRow &row : kind.rows)
			if (row.of.is_told() && is(row))
				ns += row.of.ns();
	return static_cast<double>(ns);
}

template <Part kPart> double ns_of_part(const Symptoms &symptoms)
{
	return ns_of_rows(symptoms, [](const DifferenceRow &row) { return row.part == kPart; });
}

// Names of causes, the greatest first: "python3, bash and 3 more". Where only all together are told: "python3, bash and
// 3 more, and not told which".
template <typename Is> std::string names_of(const Symptoms &symptoms, Is is)
{
	constexpr size_t kNamed = 2;
	std::vector<std::string> names;
	const bool is_told =
		std::ranges::any_of(symptoms.causes, [&](const Cause &cause) { return cause.is_told() && is(cause); });
	for (const Cause &cause : symptoms.causes) // in the order of their growth
		if ((is_told ? cause.is_told() : cause.counts()) && is(cause) &&
			std::ranges::find(names, cause.name) == names.end())
			names.push_back(cause.name);
	const size_t more = names.size() - std::min(names.size(), kNamed);
	names.resize(names.size() - more);
	return fmt::format("{}{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "",
					   is_told ? "" : ", and not told which");
}

template <Origin kOrigin> bool took_cpu(const Cause &cause) { return cause.origin == kOrigin && !cause.ended_sleep; }

// The names are those of path::culprit_name().
bool is_of_device(const Cause &cause)
{
	return took_cpu<Origin::OthersInterrupt>(cause) && cause.name.starts_with("interrupt ");
}

// HRTIMER softirqs come from timers of this CPU, not from a device.
bool is_softirq(const Cause &cause)
{
	return took_cpu<Origin::OthersInterrupt>(cause) && cause.name.ends_with(" softirq") &&
		   cause.name != "HRTIMER softirq";
}

bool is_own_timer(const Cause &cause) { return cause.origin == Origin::OwnTimer; }

bool shares_a_cpu(const model::Cell &cell)
{
	const std::vector<uint32_t> cpus = model::cpus_by_side(cell);
	return std::set(cpus.begin(), cpus.end()).size() < cpus.size();
}

// A CPU on its way out of idle shows as a part of layers and as the culprit of a wait: the same time seen twice.
double ns_of_idle(const Symptoms &symptoms)
{
	return std::max(ns_of_part<Part::IdleExit>(symptoms), ns_of_causes(symptoms, took_cpu<Origin::IdleCpu>));
}

bool offers(const model::Cell &cell, model::Wait wait) { return cell.offers && cell.offers->waits.has(wait); }

bool offers(const model::Cell &cell, icepath_qos_policy policy)
{
	return cell.offers && (cell.offers->qos >> policy & 1u) != 0;
}

bool is_isolated_fully(const Symptoms &symptoms)
{
	return symptoms.head.isolation.level == model::IsolationLevel::Full;
}

bool is_unix_stream(const model::Cell &cell)
{
	return cell.mechanisms.has_all({Mechanism::Socket, Mechanism::ByteStream}) &&
		   !cell.mechanisms.has_any({Mechanism::NetworkDevice, Mechanism::KernelThread, Mechanism::LibraryCalls});
}

bool is_tcp(const model::Cell &cell)
{
	return cell.mechanisms.has_all({Mechanism::Socket, Mechanism::ByteStream, Mechanism::NetworkDevice}) &&
		   !cell.mechanisms.has(Mechanism::LibraryCalls);
}

// "a, b, or c"
std::string one_of(std::vector<std::string> choices)
{
	if (choices.size() > 1)
		choices.back() = "or " + choices.back();
	return fmt::format("{}", fmt::join(choices, choices.size() > 2 ? ", " : " "));
}

std::string against_own_threads(const Symptoms &symptoms)
{
	const model::Cell &cell = symptoms.cell;
	std::vector<std::string> ways;
	if (cell.wait != model::Wait::Callback && offers(cell, model::Wait::Callback))
		ways.emplace_back("handle messages in them (-w callback)");
	if (cell.mechanisms.has(Mechanism::LibraryThreads))
		ways.emplace_back("let the library's run on other CPUs (--free-library-threads)");
	if (cell.offers && cell.offers->daemon)
		ways.emplace_back("give the daemon other CPUs (--daemon-cpus)");
	if (ways.empty())
		ways.emplace_back("they and the messages share its CPUs (icepath run --stacks shows what they do)");
	return fmt::format("threads of the target itself on these CPUs ({}): {}",
					   names_of(symptoms, took_cpu<Origin::OwnThread>), one_of(ways));
}

std::string against_full_queue(const Symptoms &symptoms)
{
	const model::Cell &cell = symptoms.cell;
	std::vector<std::string> ways;
	if (offers(cell, ICEPATH_QOS_DEPTH))
		ways.emplace_back("a deeper one (--qos depth=)");
	if (is_unix_stream(cell))
		ways.emplace_back("a larger send buffer (SO_SNDBUF, or --tune net.core.wmem_default=8M)");
	if (is_tcp(cell))
		ways.emplace_back("larger buffers (net.ipv4.tcp_wmem and net.ipv4.tcp_rmem)");
	if (cell.mechanisms.has(Mechanism::Pipe))
		ways.emplace_back("a larger pipe (F_SETPIPE_SZ)");
	if (cell.rate_hz)
		ways.emplace_back("a lower rate (--rate)");
	ways.emplace_back("a faster receiver");
	return fmt::format("{} was full: {}", is_unix_stream(cell) || is_tcp(cell) ? "the socket's buffer" : "the queue",
					   one_of(ways));
}

std::string against_waking(const Symptoms &symptoms)
{
	std::vector<std::string> ways;
	for (const auto &[wait, option] : {std::pair{model::Wait::Poll, "-w poll"}, {model::Wait::Spin, "-w spin"}})
		if (offers(symptoms.cell, wait))
			ways.emplace_back(option);
	return ways.empty() || model::never_sleeps(symptoms.cell.wait)
			   ? ""
			   : fmt::format("wakings of sleeping threads: a receiver that polls has none ({}) and takes a whole CPU",
							 fmt::join(ways, ", "));
}

constexpr double kWorthARemedy = 0.1; // of the difference

struct Row {
	const char *cause;
	double (*ns)(const Symptoms &); // the part of the difference that the cause took
	// Empty: nothing that would help applies to this target and this machine, as far as the run says.
	std::string (*advice)(const Symptoms &);
	double worth = kWorthARemedy; // the least share for which it is given
};

// The waker's cost of such a waking lies in the waker's system call, and can be most of the difference.
constexpr double kSpuriousIsWorth = 0.02;

constexpr Row kRemedies[] = {
	{"own_code",
	 [](const Symptoms &symptoms) {
		 return ns_of_rows(symptoms, [](const DifferenceRow &row) { return is_own_code(row); });
	 },
	 [](const Symptoms &symptoms) -> std::string {
		 return std::string(symptoms.cell.kind == model::kAdapter ? "the library's own code" : "the sides' own code") +
				": icepath run --stacks shows in which functions";
	 }},
	{"own_timer", [](const Symptoms &symptoms) { return ns_of_causes(symptoms, is_own_timer); },
	 [](const Symptoms &symptoms) {
		 return fmt::format("timers that the target itself had set ({}): its own sleeps, timeouts or pacing, which no "
							"setting of the machine shortens",
							names_of(symptoms, is_own_timer));
	 }},
	{"tick", [](const Symptoms &symptoms) { return ns_of_causes(symptoms, took_cpu<Origin::Tick>); },
	 [](const Symptoms &symptoms) -> std::string {
		 return symptoms.head.host.nohz_full.value_or(false)
					? "the timer tick and what it starts: nohz_full= and rcu_nocbs= with these CPUs, on the kernel's "
					  "command line"
					: "";
	 }},
	{"deep_idle", ns_of_idle,
	 [](const Symptoms &symptoms) -> std::string {
		 return symptoms.cell.idle_states == model::IdleStates::Own && symptoms.cell.pattern != model::Pattern::Sparse
					? "CPUs that had gone idle: hold /dev/cpu_dma_latency at 0, as icepath run does without "
					  "--idle-states"
				: symptoms.cell.idle_states == model::IdleStates::Own
					? "CPUs that had gone idle: hold /dev/cpu_dma_latency at 0"
					: "";
	 }},
	{"own_thread",
	 [](const Symptoms &symptoms) {
		 return shares_a_cpu(symptoms.cell) ? 0.0 : ns_of_causes(symptoms, took_cpu<Origin::OwnThread>);
	 },
	 against_own_threads},
	{"task", [](const Symptoms &symptoms) { return ns_of_causes(symptoms, took_cpu<Origin::OthersTask>); },
	 [](const Symptoms &symptoms) {
		 return fmt::format("tasks on these CPUs ({}): {}", names_of(symptoms, took_cpu<Origin::OthersTask>),
							is_isolated_fully(symptoms)
								? "take other CPUs (--cpus)"
								: "keep them off (icepath run --isolate full, where icepath doctor calls it "
								  "possible), or take other CPUs (--cpus)");
	 }},
	{"other_target", [](const Symptoms &symptoms) { return ns_of_causes(symptoms, took_cpu<Origin::OtherTarget>); },
	 [](const Symptoms &symptoms) {
		 return fmt::format("other targets of this run, which had these CPUs meanwhile ({}): measure {} without them "
							"(-t {})",
							names_of(symptoms, took_cpu<Origin::OtherTarget>), symptoms.cell.target,
							symptoms.cell.target);
	 }},
	{"shared_cpu",
	 [](const Symptoms &symptoms) {
		 return shares_a_cpu(symptoms.cell) ? ns_of_causes(symptoms, took_cpu<Origin::OwnThread>) : 0.0;
	 },
	 [](const Symptoms &) -> std::string { return "sides of the cell share a CPU: give each its own (--cpus)"; }},
	{"device_interrupt", [](const Symptoms &symptoms) { return ns_of_causes(symptoms, is_of_device); },
	 [](const Symptoms &symptoms) -> std::string {
		 return std::string("interrupts of devices: send them to other CPUs (/proc/irq/N/smp_affinity_list") +
				(is_isolated_fully(symptoms) ? ")" : ", or icepath run --isolate full)");
	 }},
	{"softirq", [](const Symptoms &symptoms) { return ns_of_causes(symptoms, is_softirq); },
	 [](const Symptoms &symptoms) {
		 return fmt::format("softirqs of others' work ({}): send the interrupts that raise them to other CPUs "
							"(/proc/irq/N/smp_affinity_list)",
							names_of(symptoms, is_softirq));
	 }},
	{"throttled", [](const Symptoms &symptoms) { return ns_of_causes(symptoms, took_cpu<Origin::Limit>); },
	 [](const Symptoms &) -> std::string {
		 return "a control group's limit: raise its cpu.max (cpu.cfs_quota_us, of version 1)";
	 }},
	{"nagle", ns_of_part<Part::Held>,
	 [](const Symptoms &) -> std::string {
		 return "TCP held small messages back until earlier ones were acknowledged: set TCP_NODELAY, or uncork";
	 }},
	{"full_queue", ns_of_part<Part::Backpressure>, against_full_queue},
	{"busy_receiver", ns_of_part<Part::Busy>,
	 [](const Symptoms &symptoms) -> std::string {
		 return std::string("the receiver was busy with something else: less work per message") +
				(symptoms.cell.rate_hz ? ", or a lower rate (--rate)" : "");
	 }},
	// Its wait for a CPU is that of whoever had the CPU.
	{"spurious_wakeup",
	 [](const Symptoms &symptoms) {
		 return ns_of_rows(symptoms, [](const DifferenceRow &row) {
			 return row.part == Part::Spurious && row.layer != Layer::Runqueue;
		 });
	 },
	 [](const Symptoms &symptoms) -> std::string {
		 const std::string epoll = symptoms.cell.wait != model::Wait::Epoll && offers(symptoms.cell, model::Wait::Epoll)
									   ? "epoll avoids this: -w epoll, or compare uds-dgram"
									   : "compare uds-dgram";
		 return is_unix_stream(symptoms.cell)
					? "wakings without a message: a UNIX stream also wakes its reader when the peer has read what it "
					  "sent (unix_write_space()), within the peer's receiving call; " +
						  epoll
					: "";
	 },
	 kSpuriousIsWorth},
	{"page_fault", ns_of_part<Part::Fault>,
	 [](const Symptoms &) -> std::string {
		 return "page faults: lock memory (mlockall()), and touch it before it is needed";
	 }},
	{"lock", ns_of_part<Part::Lock>,
	 [](const Symptoms &) -> std::string {
		 return "a lock that another thread held: icepath report -v names who released it";
	 }},
	{"waking",
	 [](const Symptoms &symptoms) {
		 return ns_of_rows(symptoms, [](const DifferenceRow &row) {
			 return row.layer == Layer::Wakeup && row.part != Part::IdleExit && row.part != Part::Spurious;
		 });
	 },
	 against_waking},
};

} // namespace

std::vector<Remedy> remedies_of(const Symptoms &symptoms)
{
	std::vector<Remedy> remedies;
	const auto whole = static_cast<double>(symptoms.difference.of.ns());
	for (const Row &row : kRemedies)
		if (const double ns = row.ns(symptoms); whole > 0 && ns >= row.worth * whole)
			if (std::string advice = row.advice(symptoms); !advice.empty())
				remedies.push_back({row.cause, ns / whole, ns, std::move(advice)});
	std::ranges::stable_sort(remedies, std::ranges::greater(), &Remedy::share);
	return remedies;
}

std::vector<std::string_view> remedy_ids()
{
	std::vector<std::string_view> ids;
	for (const Row &row : kRemedies)
		ids.emplace_back(row.cause);
	return ids;
}

std::vector<Step> steps_of(const std::vector<Remedy> &remedies, std::string_view of, bool with_shares)
{
	std::vector<Step> steps;
	for (const Remedy &remedy : remedies)
		steps.push_back({fmt::format("{} of {}: {}",
									 with_shares ? stats::percent(std::min(remedy.share, 1.0))
												 : stats::microseconds(remedy.ns) + " µs",
									 of, remedy.advice),
						 "", remedy.cause});
	return steps;
}

} // namespace icepath::explain
