// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "icepath/plugin.h"
#include "profiler/failure.h"
#include "profiler/plan/qos_factors.h"
#include "profiler/plan/target_choice.h"

namespace icepath::plan {
namespace {

using model::Pattern;
using model::Trait;
using model::Wait;

// A whole worker::PayloadHead, which identifies the sender and the message.
constexpr uint64_t kLeastFanInBytes = 16;

std::vector<uint64_t> sizes_for(const Wishes &wishes, Pattern pattern)
{
	if (!wishes.sizes.empty())
		return each_once(wishes.sizes);
	return model::is_answered(pattern) ? std::vector<uint64_t>{64, 4096} : std::vector<uint64_t>{64};
}

bool supports(const Target &target, Wait wait) { return target.waits.has(wait); }

// `target` as it is at an end that receives from several senders; nothing, and a notice: it has no such end.
std::optional<Target> in_fan_in(const Target &target, Plan &plan)
{
	if (!target.traits.has(Trait::FanIn)) {
		add_once(plan.notices, fmt::format("{} can't receive from several senders: left out of fanin", target.name));
		return std::nullopt;
	}
	Target there = target;
	there.waits = target.fanin_waits;
	const uint64_t largest = target.fanin_max_bytes ? target.fanin_max_bytes : target.max_part_bytes;
	if (largest != 0 && largest < target.max_payload_bytes) {
		there.max_payload_bytes = largest;
		there.max_payload_why = "longer ones of several senders would be mixed up in one queue";
	}
	return there;
}

// How `target` waits if `asked` is asked for; nothing: it is left out. A notice reports any difference.
std::optional<Wait> wait_for(const Target &target, Wait asked, Pattern pattern, const std::vector<Wait> &all_asked,
							 Plan &plan)
{
	if (supports(target, asked))
		return asked;
	// The floor of the stamps is useful beside every target, whatever its wait; and a library has its own wait.
	const bool floor = target.traits.has(Trait::NotIpc);
	const bool has_own_way = floor || is_middleware(target);
	const auto is_supported = [&](Wait wait) { return supports(target, wait); };
	const auto own = std::ranges::find_if(model::kWaits, is_supported);
	if (has_own_way && own != std::end(model::kWaits) &&
		std::none_of(all_asked.begin(), all_asked.end(), is_supported)) {
		add_once(plan.notices, fmt::format("{} can't wait by {}: measured with {} instead{}", target.name, name(asked),
										   name(*own), floor ? ", as the floor under the others" : ""));
		return asked == all_asked.front() ? std::optional(*own) : std::nullopt;
	}
	// For shared memory, spinning corresponds to the repeated calls of poll.
	if (asked == Wait::Poll && supports(target, Wait::Spin) &&
		std::ranges::find(all_asked, Wait::Spin) == all_asked.end()) {
		add_once(plan.notices,
				 fmt::format("{} has no call to repeat: measured with spin instead of poll", target.name));
		return Wait::Spin;
	}
	std::string of_several;
	if (pattern == Pattern::FanIn) {
		std::vector<std::string_view> possible;
		for (const Wait wait : model::kWaits)
			if (is_supported(wait))
				possible.push_back(name(wait));
		of_several = fmt::format(" for several senders, but by {}", fmt::join(possible, ", "));
	}
	add_once(plan.notices, fmt::format("{} can't wait by {}{}: left out there", target.name, name(asked), of_several));
	return std::nullopt;
}

// CPUs by side: the sender's, then those of the receivers, which get the rest of `cpus` in turn. With several senders:
// those of the senders, which get all but the second in turn, then the receiver's.
std::vector<uint32_t> cpus_for(uint64_t senders, uint64_t receivers, const std::vector<uint32_t> &cpus)
{
	std::vector<uint32_t> of_sides;
	if (senders > 1) {
		std::vector<uint32_t> of_senders = cpus;
		of_senders.erase(of_senders.begin() + 1);
		for (uint64_t i = 0; i < senders; i++)
			of_sides.push_back(of_senders[i % of_senders.size()]);
		of_sides.push_back(cpus[1]);
		return of_sides;
	}
	of_sides.push_back(cpus.front());
	for (uint64_t i = 0; i < receivers; i++)
		of_sides.push_back(cpus[1 + i % (cpus.size() - 1)]);
	return of_sides;
}

// One thread sends a message and then receives it itself. So it needs a pattern in which each message is received
// before the next one is sent, and a target whose send returns before the message is received.
bool fits_one_thread(const Target &target, Pattern pattern, Plan &plan)
{
	if (pattern != Pattern::PingPong && pattern != Pattern::OneWay && pattern != Pattern::Sparse) {
		add_once(plan.notices, fmt::format("{} needs a sender and a receiver at the same time: left out in one thread",
										   name(pattern)));
		return false;
	}
	if (target.traits.has(Trait::Rendezvous)) {
		add_once(plan.notices,
				 fmt::format("{} has its sender wait until the message is taken, at once or before the next one: left "
							 "out in one thread, where nobody takes it meanwhile",
							 target.name));
		return false;
	}
	if (target.traits.has(Trait::Turns) && pattern != Pattern::PingPong) {
		add_once(plan.notices,
				 fmt::format("{} has its sender wait for an answer, or until the next message is asked for: left out "
							 "of {} in one thread, where nobody asks meanwhile",
							 target.name, name(pattern)));
		return false;
	}
	return true;
}

// Some targets work only within a process, some only between processes.
bool has_ends_there(const Target &target, model::Between between, Plan &plan)
{
	const bool in_one_process = between != model::Between::Processes;
	if (!target.traits.has(in_one_process ? Trait::BetweenProcesses : Trait::WithinProcess))
		return true;
	add_once(
		plan.notices,
		in_one_process
			? fmt::format("{} is for two processes: left out within one", target.name)
			: fmt::format("{} has both ends in one process: left out between processes (--between threads measures it)",
						  target.name));
	return false;
}

// Between threads nothing shows which side a library's thread belongs to; a single thread calls nobody back.
bool may_call_back(model::Between between, Wait wait, Plan &plan)
{
	if (wait != Wait::Callback || between == model::Between::Processes)
		return true;
	add_once(plan.notices,
			 fmt::format("by callback, messages are handled by threads of the library, which belong to no "
						 "side within a process: left out {}",
						 name(between)));
	return false;
}

// The wishes that are possible for this target, pattern and wait.
std::vector<model::Between> between_for(const Wishes &wishes, const Target &target, Pattern pattern, Wait wait,
										Plan &plan)
{
	std::vector<model::Between> possible = each_once(wishes.between);
	std::erase_if(possible, [&](model::Between between) {
		if (between == model::Between::Threads && !wishes.no_threads.empty()) {
			add_once(plan.notices, "cells between threads are left out: " + wishes.no_threads);
			return true;
		}
		return !has_ends_there(target, between, plan) || !may_call_back(between, wait, plan) ||
			   (between == model::Between::OneThread && !fits_one_thread(target, pattern, plan));
	});
	return possible;
}

// A cell without the places of its sides and without levels.
model::Cell base_cell(const Wishes &wishes, const Target &target, Pattern pattern, Wait wait, uint64_t size)
{
	model::Cell cell;
	cell.target = target.name;
	cell.library = target.library_version;
	cell.summary = target.summary;
	cell.kind = is_middleware(target) ? model::kAdapter : model::kTransport;
	cell.pattern = pattern;
	cell.wait = wait;
	cell.payload_bytes = size;
	if (const uint64_t part = target.max_part_bytes; part != 0)
		cell.parts = static_cast<uint32_t>((size + part - 1) / part);
	if (pattern == Pattern::OneWay || pattern == Pattern::FanOut || pattern == Pattern::FanIn)
		cell.rate_hz = wishes.rate_hz;
	if (pattern == Pattern::Sparse)
		cell.rate_hz = 1e9 / static_cast<double>(wishes.sparse_period_ns);
	if (pattern == Pattern::MaxRate)
		cell.limits = wishes.limits;
	if (wishes.kept_awake && pattern != Pattern::Sparse)
		cell.idle_states = model::IdleStates::Held;
	cell.mechanisms = target.mechanisms;
	cell.traits = target.traits;
	cell.offers = {pattern == Pattern::FanIn ? target.fanin_waits : target.waits, target.qos, !target.daemon.empty()};
	return cell;
}

// `base` with each combination of levels.
std::vector<model::Cell> with_levels(const Wishes &wishes, const model::Cell &base, model::Between between,
									 const model::Qos &qos, const std::vector<uint32_t> &cpus)
{
	std::vector<model::Cell> cells;
	for (const model::Levels &levels : wishes.levels.combinations(base.pattern)) {
		model::Cell &cell = cells.emplace_back(base);
		cell.levels = levels;
		cell.graph =
			model::star(levels.senders,
						between == model::Between::OneThread ? std::vector{cpus.front(), cpus.front()}
															 : cpus_for(levels.senders, levels.receivers, cpus),
						between, model::is_answered(base.pattern));
		cell.qos = qos;
		if (model::may_lose(qos))
			cell.traits.add(Trait::Lossy);
	}
	return cells;
}

// Whether any chosen target does IPC.
bool has_company(const std::vector<const Target *> &chosen)
{
	return std::ranges::any_of(chosen, [](const Target *one) { return !one->traits.has(Trait::NotIpc); });
}

// Receivers that never sleep and share CPUs wait for each other's time slices: a notice says so. A target without IPC
// is left out then, because it is no floor.
bool is_sensible(const Target &target, const model::Cell &cell, Plan &plan)
{
	std::set<uint32_t> cpus;
	for (size_t side = 0; side < cell.graph.sides.size(); side++)
		if (!model::begins(cell, side))
			cpus.insert(cell.graph.sides[side].cpu);
	if (!model::never_sleeps(cell.wait) || cpus.size() == model::receivers_of(cell))
		return true;
	const bool floor = target.traits.has(Trait::NotIpc);
	add_once(plan.notices,
			 fmt::format("{} receivers that never sleep (wait {}) share fewer CPUs, so they wait for each other's time "
						 "slices{}: give each its own with --cpus",
						 model::receivers_of(cell), name(cell.wait),
						 floor ? fmt::format("; {} is left out", target.name) : ""));
	return !floor;
}

// Two sides of one CPU that never sleep don't take turns under SCHED_FIFO: each runs until it yields (sched(7)). A
// sender spins for the last 60 µs before a message is due, so at high rates it never sleeps either.
bool ends_by_fifo(const model::Cell &cell, Plan &plan)
{
	constexpr double kSleepsBelowHz = 10'000;
	const bool at_high_rate = cell.limits || model::due_hz(cell).value_or(0) > kSleepsBelowHz;
	std::set<uint32_t> cpus, threads;
	for (const model::Side &side : cell.graph.sides) {
		cpus.insert(side.cpu);
		threads.insert(side.thread);
	}
	if (cell.levels.fifo_priority == 0 || !(model::never_sleeps(cell.wait) || at_high_rate) ||
		cpus.size() == threads.size())
		return false;
	add_once(
		plan.notices,
		fmt::format("under SCHED_FIFO, sides that never sleep ({}) and share a CPU would wait for each other for ever: "
					"left out",
					model::never_sleeps(cell.wait) ? name(cell.wait) : "a sender at a high rate"));
	return true;
}

// Whether only targets that stand for their kind are measured in it.
bool is_of_few(const Wishes &wishes, Pattern pattern, const std::vector<const Target *> &chosen)
{
	return wishes.one_of_each_kind && pattern != Pattern::PingPong &&
		   std::ranges::any_of(chosen, [](const Target *one) { return is_first_of_kind(*one); });
}

bool carries(const Wishes &wishes, const Target &target, Pattern pattern, uint64_t size, Plan &plan)
{
	if (pattern == Pattern::FanIn && size < kLeastFanInBytes)
		throw Failure(ExitCode::Usage, fmt::format("--sizes: a message of {} bytes has no room for the number of its "
												   "sender, which fanin needs: give {} or more",
												   size, kLeastFanInBytes));
	if (size != 0 && size <= target.max_payload_bytes)
		return true;
	const std::string why =
		fmt::format("{} can't carry {} bytes{}: its limit is {} ({})", target.name, size,
					pattern == Pattern::FanIn ? " in fanin" : "", target.max_payload_bytes, target.max_payload_why);
	if (is_named(wishes, target) || size == 0)
		throw Failure(ExitCode::Usage, why);
	add_once(plan.notices, why + "; left out");
	return false;
}

} // namespace

std::vector<model::Levels> WantedLevels::combinations(model::Pattern pattern) const
{
	std::vector<model::Levels> all(1);
	for (size_t i = 0; i < model::kFactorCount; ++i) {
		const model::Factor &factor = model::kFactors[i];
		std::vector<uint64_t> values = {model::neutral(factor)};
		if (model::varies(factor, pattern) && !factor.beside_neutral)
			values.clear();
		if (model::varies(factor, pattern))
			values.insert(values.end(), values_[i].begin(), values_[i].end());
		std::vector<model::Levels> more;
		for (const model::Levels &levels : all)
			for (const uint64_t value : each_once(values)) {
				more.push_back(levels);
				more.back().*factor.level = value;
			}
		all = std::move(more);
	}
	return all;
}

Plan make(const Wishes &wishes, const std::vector<Target> &targets, const std::vector<uint32_t> &cpus)
{
	Plan plan;
	const std::vector<const Target *> chosen = choose(wishes, targets, plan);
	check_qos(wishes, chosen);
	const std::vector<Wait> waits = each_once(wishes.waits);
	for (const Pattern pattern : each_once(wishes.patterns)) {
		for (const Wait asked : waits) {
			for (const Target *one : chosen) {
				if (is_of_few(wishes, pattern, chosen) && !is_first_of_kind(*one))
					continue;
				const std::optional<Target> target = pattern == Pattern::FanIn ? in_fan_in(*one, plan) : *one;
				const std::optional<Wait> wait = target ? wait_for(*target, asked, pattern, waits, plan) : std::nullopt;
				if (!wait)
					continue;
				// Left out: it would take as long as all others together, and stamps cost as much in oneway.
				if (pattern == Pattern::Sparse && target->traits.has(Trait::NotIpc) && has_company(chosen))
					continue;
				for (const uint64_t size : sizes_for(wishes, pattern)) {
					if (!carries(wishes, *target, pattern, size, plan))
						continue;
					const model::Cell cell = base_cell(wishes, *target, pattern, *wait, size);
					for (const model::Between between : between_for(wishes, *target, pattern, *wait, plan)) {
						for (const model::Qos &qos : qos_for(wishes, *target, plan.notices))
							for (model::Cell &made : with_levels(wishes, cell, between, qos, cpus)) {
								if (!is_sensible(*target, made, plan) || !bears_loss(made, plan.notices) ||
									ends_by_fifo(made, plan))
									continue;
								plan.cells.push_back(std::move(made));
								plan.plugin_of_cell.push_back(target->plugin);
							}
					}
				}
			}
		}
	}
	if (plan.cells.empty())
		throw Failure(ExitCode::Usage,
					  "nothing is left to measure: " + fmt::format("{}", fmt::join(plan.notices, "; ")));
	return plan;
}

} // namespace icepath::plan
