// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/remedies.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <set>

#include "ebpf/contexts.h"
#include "icepath/plugin.h"
#include "profiler/model/cell_title.h"

namespace icepath::explain {
namespace {

using analysis::Origin;
using model::Layer;
using model::Mechanism;
using model::Part;

using Is = bool (*)(const Cause &);

// What takes no part of the difference for certain has no remedy.
template <typename IsCause> double ns_of_causes(const Symptoms &symptoms, IsCause is)
{
	double ns = 0;
	for (const Cause &cause : symptoms.causes)
		if (cause.counts() && is(cause))
			ns += cause.growth_ns;
	return ns;
}

template <typename IsRow> double ns_of_rows(const Symptoms &symptoms, IsRow is)
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

CauseNames names_of(const Symptoms &symptoms, Is is)
{
	// Of many tasks that are told together, one that is told by itself may be the least.
	const double told_ns = ns_of_causes(symptoms, [&](const Cause &cause) { return cause.is_told() && is(cause); });
	const bool told = told_ns > 0 && 2 * told_ns >= ns_of_causes(symptoms, is);
	std::vector<Cause> of_told, of_all;
	for (const Cause &cause : symptoms.causes)
		if (is(cause) && cause.counts()) {
			of_all.push_back(cause);
			if (cause.is_told())
				of_told.push_back(cause);
		}
	CauseNames of = some_names_of(told ? of_told : of_all);
	of.told = told;
	if (!told)
		of.told_names = some_names_of(of_told).names;
	return of;
}

template <Origin kOrigin> bool took_cpu(const Cause &cause) { return cause.origin == kOrigin && !cause.ended_sleep; }

bool is_of_device(const Cause &cause)
{
	return took_cpu<Origin::OthersInterrupt>(cause) && cause.interrupt == ICEPATH_INTERRUPT_DEVICE;
}

// Softirqs of timers come from those of this CPU, not from a device.
bool is_softirq(const Cause &cause)
{
	constexpr uint32_t kTimer = 1, kHrtimer = 8;
	return took_cpu<Origin::OthersInterrupt>(cause) && cause.interrupt == ICEPATH_INTERRUPT_SOFTIRQ &&
		   cause.vector != kTimer && cause.vector != kHrtimer;
}

bool is_unknown(const Cause &cause) { return cause.kind == path::Culprit::Kind::Unknown; }
bool is_own_timer(const Cause &cause) { return cause.origin == Origin::OwnTimer; }

size_t count_cpus(const model::Cell &cell)
{
	const std::vector<uint32_t> cpus = model::cpus_by_side(cell);
	return std::set(cpus.begin(), cpus.end()).size();
}

bool shares_a_cpu(const model::Cell &cell) { return count_cpus(cell) < cell.graph.sides.size(); }

// A CPU on its way out of idle shows as a part of layers and as the culprit of a wait: the same time seen twice.
double ns_of_idle(const Symptoms &symptoms)
{
	return std::max(ns_of_part<Part::IdleExit>(symptoms), ns_of_causes(symptoms, took_cpu<Origin::IdleCpu>));
}

// Its wait for a CPU is that of whoever had the CPU.
double ns_of_spurious_wakeups(const Symptoms &symptoms)
{
	return ns_of_rows(
		symptoms, [](const DifferenceRow &row) { return row.part == Part::Spurious && row.layer != Layer::Runqueue; });
}

double ns_of_waking(const Symptoms &symptoms)
{
	return ns_of_rows(symptoms, [](const DifferenceRow &row) {
		return row.layer == Layer::Wakeup && row.part != Part::IdleExit && row.part != Part::Spurious;
	});
}

// Whether a way applies to the target and the machine.
bool always(const Symptoms &) { return true; }

bool offers(const model::Cell &cell, model::Wait wait)
{
	return cell.wait != wait && cell.offers && cell.offers->waits.has(wait);
}

template <model::Wait kWait> bool offers_wait(const Symptoms &symptoms) { return offers(symptoms.cell, kWait); }

bool offers_depth(const Symptoms &symptoms)
{
	return symptoms.cell.offers && (symptoms.cell.offers->qos >> ICEPATH_QOS_DEPTH & 1u) != 0;
}

// Whether the machine has CPUs besides those of the cell, as far as the run says.
bool has_other_cpus(const Symptoms &symptoms)
{
	return symptoms.head.host.cpus_online.value_or(SIZE_MAX) > count_cpus(symptoms.cell);
}

bool has_cpu_for_each(const Symptoms &symptoms)
{
	return symptoms.head.host.cpus_online.value_or(SIZE_MAX) >= symptoms.cell.graph.sides.size();
}

template <analysis::Owner kOwner> bool has_threads_of(const Symptoms &symptoms)
{
	return std::ranges::any_of(symptoms.causes, [](const Cause &cause) {
		return cause.owner == kOwner && cause.counts() && took_cpu<Origin::OwnThread>(cause);
	});
}

bool can_handle_in_callback(const Symptoms &symptoms)
{
	return has_threads_of<analysis::Owner::Library>(symptoms) && offers(symptoms.cell, model::Wait::Callback);
}

bool can_free_library_threads(const Symptoms &symptoms)
{
	return has_threads_of<analysis::Owner::Library>(symptoms) &&
		   symptoms.cell.mechanisms.has(Mechanism::LibraryThreads) && has_other_cpus(symptoms);
}

bool can_free_daemon(const Symptoms &symptoms)
{
	return has_threads_of<analysis::Owner::Daemon>(symptoms) && has_other_cpus(symptoms);
}

bool has_stacks(const Symptoms &symptoms) { return symptoms.has_stacks; }
bool has_no_stacks(const Symptoms &symptoms) { return !symptoms.has_stacks; }
bool has_pipe(const Symptoms &symptoms) { return symptoms.cell.mechanisms.has(Mechanism::Pipe); }
bool has_rate(const Symptoms &symptoms) { return symptoms.cell.rate_hz.has_value(); }
bool has_own_idle_states(const Symptoms &symptoms) { return symptoms.cell.idle_states == model::IdleStates::Own; }
bool is_virtual(const Symptoms &symptoms) { return symptoms.head.host.hypervisor.value_or(false); }
bool can_stop_tick(const Symptoms &symptoms) { return symptoms.head.host.nohz_full.value_or(false); }

// Full isolation moves the others to CPUs that the run doesn't use.
bool can_isolate(const Symptoms &symptoms)
{
	return has_other_cpus(symptoms) && symptoms.head.isolation.level != model::IsolationLevel::Full;
}

bool has_fifo_cell(const Symptoms &symptoms)
{
	return symptoms.cell.levels.fifo_priority == 0 && std::ranges::any_of(symptoms.head.cells, [&](model::Cell other) {
			   const bool is_fifo = other.levels.fifo_priority != 0;
			   other.levels.fifo_priority = 0;
			   return is_fifo && model::title(other) == model::title(symptoms.cell);
		   });
}

// Over tasks of others sides under SCHED_FIFO come first. Sides that never sleep must each have a CPU: they don't take
// turns.
bool can_run_fifo(const Symptoms &symptoms)
{
	const model::Host &host = symptoms.head.host;
	const bool may = (symptoms.cell.kind == model::kAdapter ? host.fifo_of_middleware : host.fifo).value_or(false);
	return may && symptoms.cell.levels.fifo_priority == 0 && !has_fifo_cell(symptoms) &&
		   !(model::never_sleeps(symptoms.cell.wait) && shares_a_cpu(symptoms.cell));
}

bool is_unix_stream(const Symptoms &symptoms)
{
	const model::Mechanisms &uses = symptoms.cell.mechanisms;
	return uses.has_all({Mechanism::Socket, Mechanism::ByteStream}) &&
		   !uses.has_any({Mechanism::NetworkDevice, Mechanism::KernelThread, Mechanism::LibraryCalls});
}

// The sockets of such a target limit what is under way by their send buffer, and by messages that wait to be received
// (unix_recvq_full()).
bool is_unix_datagrams(const Symptoms &symptoms)
{
	const model::Mechanisms &uses = symptoms.cell.mechanisms;
	return uses.has(Mechanism::Socket) && !uses.has_any({Mechanism::ByteStream, Mechanism::NetworkDevice,
														 Mechanism::KernelThread, Mechanism::LibraryCalls});
}

bool is_unix_socket(const Symptoms &symptoms) { return is_unix_stream(symptoms) || is_unix_datagrams(symptoms); }

bool has_other_targets(const Symptoms &symptoms)
{
	return std::ranges::any_of(symptoms.head.cells,
							   [&](const model::Cell &cell) { return cell.target != symptoms.cell.target; });
}

bool is_tcp(const Symptoms &symptoms)
{
	const model::Mechanisms &uses = symptoms.cell.mechanisms;
	return uses.has_all({Mechanism::Socket, Mechanism::ByteStream, Mechanism::NetworkDevice}) &&
		   !uses.has(Mechanism::LibraryCalls);
}

struct WayRow {
	Way way;
	bool (*applies)(const Symptoms &);
};
constexpr std::array<WayRow, static_cast<size_t>(Way::Count)> kWays = {
	{{Way::SampleStacks, has_no_stacks},
	 {Way::ReadStacks, has_stacks},
	 {Way::HandleInCallback, can_handle_in_callback},
	 {Way::WaitByEpoll, offers_wait<model::Wait::Epoll>},
	 {Way::WaitByPoll, offers_wait<model::Wait::Poll>},
	 {Way::WaitBySpin, offers_wait<model::Wait::Spin>},
	 {Way::FreeLibraryThreads, can_free_library_threads},
	 {Way::FreeDaemon, can_free_daemon},
	 {Way::Isolate, can_isolate},
	 {Way::ReadFifo, has_fifo_cell},
	 {Way::RunFifo, can_run_fifo},
	 {Way::TakeOtherCpus, has_other_cpus},
	 {Way::StopThem, always},
	 {Way::TakeCpuForEach, has_cpu_for_each},
	 {Way::MeasureAlone, has_other_targets},
	 {Way::MoveInterrupts, has_other_cpus},
	 {Way::StopTick, can_stop_tick},
	 {Way::HoldAwake, has_own_idle_states},
	 {Way::RaiseQuota, always},
	 {Way::SetNoDelay, always},
	 {Way::ChangeCongestionControl, always},
	 {Way::DeepenQueue, offers_depth},
	 {Way::EnlargeSendBuffer, is_unix_socket},
	 {Way::LengthenUnixQueue, is_unix_datagrams},
	 {Way::EnlargeTcpBuffers, is_tcp},
	 {Way::EnlargePipe, has_pipe},
	 {Way::LowerRate, has_rate},
	 {Way::SpeedUpReceiver, always},
	 {Way::UseDatagrams, is_unix_stream},
	 {Way::LockMemory, always},
	 {Way::ReadReleaser, always},
	 {Way::OwnMachine, is_virtual},
	 {Way::MeasureLonger, always}}};
static_assert(std::ranges::is_sorted(kWays, {}, &WayRow::way), "a row for each Way, in their order");

constexpr double kWorthARemedy = 0.1; // of the difference
// The waker's cost of such a waking lies in the waker's system call, and can be most of the difference.
constexpr double kSpuriousIsWorth = 0.02;

struct Row {
	RemedyId id;
	double (*ns)(const Symptoms &); // the part of the difference that it takes
	std::initializer_list<Way> ways;
	Is is = nullptr; // the causes whose names it has; where `ns` is nothing, also whose time it is
	bool (*applies)(const Symptoms &) = always;
	bool needs_a_way = true;
	double worth = kWorthARemedy; // the least share for which it is given
};

double ns_of_own_code(const Symptoms &symptoms)
{
	const double ns = ns_of_rows(symptoms, [](const DifferenceRow &row) { return is_own_code(row); });
	// Probes at system calls run between the stamps, as a library's code does: what may all be theirs isn't its.
	return ns > symptoms.of_probes_ns ? ns : 0;
}

const Row kRemedies[] = {
	{.id = RemedyId::OwnCode, .ns = ns_of_own_code, .ways = {Way::SampleStacks, Way::ReadStacks}},
	{.id = RemedyId::OwnTimer, .ns = nullptr, .ways = {}, .is = is_own_timer, .needs_a_way = false},
	{.id = RemedyId::Tick, .ns = nullptr, .ways = {Way::StopTick}, .is = took_cpu<Origin::Tick>},
	{.id = RemedyId::DeepIdle, .ns = ns_of_idle, .ways = {Way::HoldAwake}},
	{.id = RemedyId::OwnThread,
	 .ns = nullptr,
	 .ways = {Way::HandleInCallback, Way::FreeLibraryThreads, Way::FreeDaemon, Way::SampleStacks, Way::ReadStacks},
	 .is = took_cpu<Origin::OwnThread>,
	 .applies = [](const Symptoms &symptoms) { return !shares_a_cpu(symptoms.cell); }},
	{.id = RemedyId::Task,
	 .ns = nullptr,
	 .ways = {Way::Isolate, Way::ReadFifo, Way::RunFifo, Way::TakeOtherCpus, Way::StopThem},
	 .is = took_cpu<Origin::OthersTask>},
	{.id = RemedyId::OtherTarget, .ns = nullptr, .ways = {Way::MeasureAlone}, .is = took_cpu<Origin::OtherTarget>},
	{.id = RemedyId::SharedCpu,
	 .ns = nullptr,
	 .ways = {Way::TakeCpuForEach},
	 .is = took_cpu<Origin::OwnThread>,
	 .applies = [](const Symptoms &symptoms) { return shares_a_cpu(symptoms.cell); }},
	{.id = RemedyId::DeviceInterrupt, .ns = nullptr, .ways = {Way::MoveInterrupts, Way::Isolate}, .is = is_of_device},
	{.id = RemedyId::Softirq, .ns = nullptr, .ways = {Way::MoveInterrupts}, .is = is_softirq},
	{.id = RemedyId::Throttled, .ns = nullptr, .ways = {Way::RaiseQuota}, .is = took_cpu<Origin::Limit>},
	{.id = RemedyId::Nagle,
	 .ns = ns_of_part<Part::Held>,
	 .ways = {Way::SetNoDelay},
	 .applies = [](const Symptoms &symptoms) { return !symptoms.no_delay; }},
	{.id = RemedyId::HeldByWindow,
	 .ns = ns_of_part<Part::Held>,
	 .ways = {Way::EnlargeTcpBuffers, Way::ChangeCongestionControl},
	 .applies = [](const Symptoms &symptoms) { return symptoms.no_delay; }},
	{.id = RemedyId::FullQueue,
	 .ns = ns_of_part<Part::Backpressure>,
	 .ways = {Way::DeepenQueue, Way::EnlargeSendBuffer, Way::LengthenUnixQueue, Way::EnlargeTcpBuffers,
			  Way::EnlargePipe, Way::LowerRate, Way::SpeedUpReceiver}},
	{.id = RemedyId::BusyReceiver, .ns = ns_of_part<Part::Busy>, .ways = {Way::SpeedUpReceiver, Way::LowerRate}},
	{.id = RemedyId::SpuriousWakeup,
	 .ns = ns_of_spurious_wakeups,
	 .ways = {Way::WaitByEpoll, Way::UseDatagrams},
	 .applies = is_unix_stream,
	 .worth = kSpuriousIsWorth},
	{.id = RemedyId::PageFault, .ns = ns_of_part<Part::Fault>, .ways = {Way::LockMemory}},
	{.id = RemedyId::Lock, .ns = ns_of_part<Part::Lock>, .ways = {Way::ReadReleaser}},
	{.id = RemedyId::Unknown, .ns = nullptr, .ways = {Way::OwnMachine}, .is = is_unknown, .needs_a_way = false},
	{.id = RemedyId::Waking,
	 .ns = ns_of_waking,
	 .ways = {Way::WaitByPoll, Way::WaitBySpin},
	 .applies = [](const Symptoms &symptoms) { return !model::never_sleeps(symptoms.cell.wait); }},
};

} // namespace

CauseNames some_names_of(const std::vector<Cause> &causes)
{
	constexpr size_t kNamed = 2;
	CauseNames of;
	for (const Cause &cause : causes)
		if (std::ranges::find(of.names, cause.name) == of.names.end())
			of.names.push_back(cause.name);
	of.more = of.names.size() - std::min(of.names.size(), kNamed);
	of.names.resize(of.names.size() - of.more);
	return of;
}

std::vector<Remedy> remedies_of(const Symptoms &symptoms)
{
	std::vector<Remedy> remedies;
	const auto whole = static_cast<double>(symptoms.difference.of.ns());
	for (const Row &row : kRemedies) {
		if (!row.applies(symptoms))
			continue;
		const double ns = row.ns ? row.ns(symptoms) : ns_of_causes(symptoms, row.is);
		if (whole <= 0 || ns < row.worth * whole)
			continue;
		Remedy remedy{row.id, ns / whole, ns, {}, row.is ? names_of(symptoms, row.is) : CauseNames()};
		std::ranges::copy_if(row.ways, std::back_inserter(remedy.ways),
							 [&](Way way) { return kWays.at(static_cast<size_t>(way)).applies(symptoms); });
		if (!remedy.ways.empty() || !row.needs_a_way)
			remedies.push_back(std::move(remedy));
	}
	std::ranges::stable_sort(remedies, std::ranges::greater(), &Remedy::share);
	return remedies;
}

std::vector<Remedy> remedies_of(const Difference &difference, const std::vector<Cause> &causes,
								const analysis::CellResult &cell, const model::Head &head, double of_probes_ns)
{
	size_t tcp = 0, no_delay = 0;
	for (const analysis::SocketUse::End &end : cell.sockets.ends)
		for (const model::SocketGroup &group : end.groups)
			if (!group.congestion_name().empty()) {
				++tcp;
				no_delay += group.no_delay;
			}
	return remedies_of(
		{difference, causes, cell.cell, head, cell.functions.samples() > 0, tcp > 0 && no_delay == tcp, of_probes_ns});
}

} // namespace icepath::explain
