// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/remedy_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "profiler/analysis/named_cells.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/wording.h"

namespace icepath::text {
namespace {

using explain::Remedy;
using explain::RemedyId;
using explain::Way;
using model::Mechanism;

// "python3, bash and 3 more", "python3, bash and 3 more, and not told which",
// "python3, bash and 3 more; only hog told"
std::string text_of(const explain::CauseNames &of)
{
	return fmt::format("{}{}{}", fmt::join(of.names, ", "), of.more > 0 ? fmt::format(" and {} more", of.more) : "",
					   of.told                 ? ""
					   : of.told_names.empty() ? ", and not told which"
											   : fmt::format("; only {} told", fmt::join(of.told_names, ", ")));
}

struct WayWords {
	Way way;
	const char *words;
};
constexpr std::array<WayWords, static_cast<size_t>(Way::Count)> kWays = {
	{{Way::SampleStacks, "icepath run --stacks shows in which functions"},
	 {Way::ReadStacks, "icepath explain --stacks shows in which functions"},
	 {Way::HandleInCallback, "handle messages in them (-w callback)"},
	 {Way::WaitByEpoll, "wait by epoll (-w epoll)"},
	 {Way::WaitByPoll, "poll (-w poll)"},
	 {Way::WaitBySpin, "spin (-w spin)"},
	 {Way::FreeLibraryThreads, "let the library's run on other CPUs (--free-library-threads)"},
	 {Way::FreeDaemon, "give the daemon other CPUs (--daemon-cpus)"},
	 {Way::Isolate, "keep them off (icepath run --isolate full, where icepath doctor calls it possible)"},
	 {Way::ReadFifo, "compare its cell of this run whose sides run before them (fifo)"},
	 {Way::RunFifo, "run its sides before them (icepath run --sched fifo)"},
	 {Way::TakeOtherCpus, "take other CPUs (--cpus)"},
	 {Way::StopThem, "measure while they don't run"},
	 {Way::TakeCpuForEach, "give each its own (--cpus)"},
	 {Way::MeasureAlone, "measure it without them (-t {})"},
	 {Way::MoveInterrupts, "send them to other CPUs (/proc/irq/N/smp_affinity_list)"},
	 {Way::StopTick, "nohz_full= and rcu_nocbs= with these CPUs, on the kernel's command line"},
	 {Way::HoldAwake, "hold /dev/cpu_dma_latency at 0"},
	 {Way::RaiseQuota, "raise its cpu.max (cpu.cfs_quota_us, of version 1)"},
	 {Way::SetNoDelay, "set TCP_NODELAY, or uncork"},
	 {Way::ChangeCongestionControl, "another congestion control (net.ipv4.tcp_congestion_control)"},
	 {Way::DeepenQueue, "a deeper one (--qos depth=)"},
	 {Way::EnlargeSendBuffer, "a larger send buffer (SO_SNDBUF, or --tune net.core.wmem_default=8M)"},
	 {Way::LengthenUnixQueue, "a longer queue of its socket (net.unix.max_dgram_qlen)"},
	 {Way::EnlargeTcpBuffers, "larger buffers (net.ipv4.tcp_wmem and net.ipv4.tcp_rmem)"},
	 {Way::EnlargePipe, "a larger pipe (F_SETPIPE_SZ)"},
	 {Way::LowerRate, "a lower rate (--rate)"},
	 {Way::SpeedUpReceiver, "less work per message in the receiver"},
	 {Way::UseDatagrams, "compare uds-dgram"},
	 {Way::LockMemory, "lock memory (mlockall()), and touch it before it is needed"},
	 {Way::ReadReleaser, "icepath report -v names who released it"},
	 {Way::OwnMachine, "measure on a machine without a hypervisor, or while its host is less busy"},
	 {Way::MeasureLonger, "measure longer (icepath run -d)"}}};
static_assert(std::ranges::is_sorted(kWays, {}, &WayWords::way), "words of each Way, in their order");

std::string words_of_way(Way way, const model::Cell &cell)
{
	return fmt::format(fmt::runtime(kWays.at(static_cast<size_t>(way)).words), cell.target);
}

// "a, b, or c"
std::string one_of(const std::vector<Way> &ways, const model::Cell &cell)
{
	std::vector<std::string> words;
	for (const Way way : ways)
		words.push_back(words_of_way(way, cell));
	if (words.size() > 1)
		words.back() = "or " + words.back();
	return fmt::format("{}", fmt::join(words, words.size() > 2 ? ", " : " "));
}

// What takes the time. {}: the names of its causes.
constexpr std::array<const char *, explain::kRemedyNames.size()> kWhat = {
	"the sides' own code",
	"timers that the target itself had set ({}): its own sleeps, timeouts or pacing, which no setting of the machine "
	"shortens",
	"the timer tick and what it starts",
	"CPUs that had gone idle",
	"threads of the target itself on these CPUs ({})",
	"tasks on these CPUs ({})",
	"other cells of this run, which had these CPUs meanwhile ({})",
	"sides of the cell share a CPU",
	"interrupts of devices",
	"softirqs of others' work ({}), and the interrupts that raise them",
	"a control group's limit",
	"TCP held small messages back until earlier ones were acknowledged",
	"TCP held data back, for the receiver's window, its congestion control or its pacing",
	"the queue was full",
	"the receiver was busy with something else",
	"wakings without a message: a UNIX stream also wakes its reader when the peer has read what it sent "
	"(unix_write_space()), within the peer's receiving call",
	"page faults",
	"a lock that another thread held",
	"wakings of sleeping threads, of which a receiver that polls has none and takes a whole CPU",
	"no record shows who had the CPU, as where a hypervisor stops it",
	"causes that may be there by chance ({})",
	"steps of the message itself, without a cause that records show",
};

std::string what(const Remedy &remedy, const model::Cell &cell)
{
	if (remedy.id == RemedyId::OwnCode && cell.kind == model::kAdapter)
		return "the library's own code";
	if (remedy.id == RemedyId::FullQueue && cell.mechanisms.has_all({Mechanism::Socket, Mechanism::ByteStream}) &&
		!cell.mechanisms.has(Mechanism::LibraryCalls))
		return "the socket's buffer was full";
	return fmt::format(fmt::runtime(kWhat.at(static_cast<size_t>(remedy.id))), text_of(remedy.of));
}

} // namespace

std::string advice(const Remedy &remedy, const model::Cell &cell)
{
	if (remedy.needed_s)
		return fmt::format("{}: if blocks go on like these, icepath run -d {} tells", what(remedy, cell),
						   duration_option(*remedy.needed_s));
	return what(remedy, cell) + (remedy.ways.empty() ? "" : ": " + one_of(remedy.ways, cell));
}

std::vector<Step> steps_of(const std::vector<Remedy> &remedies, const model::Cell &cell, std::string_view of,
						   bool with_shares)
{
	std::vector<Step> steps;
	for (const Remedy &remedy : remedies)
		steps.push_back({fmt::format("{} of {}: {}",
									 with_shares ? stats::percent(std::min(remedy.share, 1.0))
												 : stats::microseconds(remedy.ns) + " µs",
									 of, advice(remedy, cell))});
	return steps;
}

std::vector<Step> steps_against_mode(const analysis::RunResult &result, size_t index,
									 const explain::TailExplanation &tail)
{
	const auto against = explain::against_mode(result, index, tail);
	if (!against)
		return {};
	constexpr size_t kNamed = 4;
	const analysis::CellResult &cell = result.cells[index];
	const bool is_only = analysis::cells_named(result, cell.cell.target) == std::vector<size_t>{index};
	const std::string explain =
		"icepath explain RUN --cell " + analysis::shell_word(is_only ? cell.cell.target : model::title(cell.cell));
	std::vector<Step> steps = {{"the layers of each mode", explain + " --modes"}};
	if (cell.functions.samples() > 0)
		steps.push_back({"functions, of all messages", explain + " --stacks"});
	std::ranges::move(steps_of(against->remedies, cell.cell,
							   fmt::format("what mode {} takes longer", tail.unprobed->mode + 1), against->has_shares),
					  std::back_inserter(steps));
	std::vector<std::string> without;
	for (const explain::CellOfOneMode &other : against->without_modes)
		without.push_back(other.wait ? fmt::format("{} by {}", other.target, model::name(*other.wait)) : other.target);
	if (!without.empty()) {
		const size_t more = without.size() - std::min(kNamed, without.size());
		without.resize(without.size() - more);
		steps.push_back({fmt::format("in this run these show one mode: {}{}", fmt::join(without, ", "),
									 more > 0 ? fmt::format(" and {} more", more) : "")});
	}
	std::vector<std::string> waits;
	for (const model::Wait wait : against->waits_to_try)
		waits.push_back(fmt::format("-w {}", model::name(wait)));
	if (!waits.empty())
		steps.push_back({fmt::format("to see whether it depends on how the receiver waits, repeat the run with {}",
									 fmt::join(waits, " or "))});
	return steps;
}

} // namespace icepath::text
