// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/run_probes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

#include "profiler/capture/probes.h"
#include "profiler/model/cell_title.h"

namespace icepath::run {

privilege::Helper::Loaded RunProbes::load(const std::vector<uint32_t> &cpus, uint32_t records_per_slot,
										  std::optional<capture::Tier> forced, bool samples)
{
	privilege::Helper::Loaded loaded = helper_.load(cpus, records_per_slot, forced, samples);
	available_ = loaded.available;
	slots_ = privilege::SlotsView(loaded, cpus);
	return loaded;
}

void RunProbes::attach(capture::ProbeSet wanted)
{
	if (!works_)
		return;
	const capture::ProbeSet available = helper_.attach(wanted);
	for (size_t probe = 0; probe < capture::kProbes.size(); probe++)
		if ((available_ & ~available & capture::bit(probe)) != 0)
			notices_.add(fmt::format("{} couldn't be attached: what rests on it is inferred or absent",
									 capture::kProbes[probe].name));
	available_ = available;
}

void RunProbes::tell_unwatched(const Visit &visit, const std::vector<model::Cell> &cells)
{
	if (std::exchange(unwatched_, helper_.unwatched_tasks()) == helper_.unwatched_tasks())
		return;
	for (const size_t cell : visit)
		notices_.add(fmt::format("{}: a thread wasn't watched, because its process has or had more rights than its "
								 "user, or hides its memory: what it did is absent from the layers",
								 model::title(cells[cell])));
}

void RunProbes::detach()
{
	if (!works_)
		return;
	try {
		helper_.attach(0);
	} catch (const privilege::HelperDied &) {
		works_ = false; // the kernel detached its probes
	}
}

std::vector<model::ProbeUse> probe_uses(const std::vector<model::Cell> &cells, const privilege::Helper::Loaded &loaded)
{
	capture::ProbeSet needed = 0;
	for (const model::Cell &cell : cells)
		needed |= capture::needed_by(cell);
	std::vector<model::ProbeUse> uses;
	for (size_t i = 0; i < capture::kProbes.size(); i++) {
		if ((needed & capture::bit(i)) == 0)
			continue;
		const capture::Probe &probe = capture::kProbes[i];
		const bool works = (loaded.available & capture::bit(i)) != 0;
		const capture::Trial &trial = loaded.selection[i];
		if (!works) {
			uses.push_back({probe.uses.text(),
							fmt::format("{}, without {} ({})", probe.instead, probe.name, trial.why_not), "none"});
			continue;
		}
		// Names the preferred candidates that failed, if any.
		std::string by(trial.candidate.target);
		if (!trial.why_not.empty())
			by += fmt::format(" ({})", trial.why_not);
		uses.push_back({probe.uses.text(), by, std::string(name(trial.candidate.tier))});
	}
	std::set<std::string> calibrated;
	for (const model::Cell &cell : cells)
		if (cell.calibrated)
			calibrated.insert(cell.target);
	if (!calibrated.empty())
		uses.push_back({fmt::format("sender.kernel, queue, propagation ({}, where no event shows it)",
									fmt::join(calibrated, ", ")),
						"hardware watchpoints of `icepath calibrate`, in a pass of its own", "calibration"});
	uses.push_back({"sender.user, receiver.user, sender.kernel, receiver.kernel",
					"stamps of the workers around each call", "stamp"});
	return uses;
}

capture::ProbeSet probes_of(const Visit &visit, const std::vector<model::Cell> &cells)
{
	capture::ProbeSet probes = 0;
	for (const size_t i : visit)
		probes |= capture::needed_by(cells[i]);
	return probes;
}

std::vector<Visit> in_order_of_probes(std::vector<Visit> visits, const std::vector<model::Cell> &cells)
{
	// Another build of a target may need other probes, and yet arms stay beside each other.
	const std::vector<size_t> firsts = with_other_arms(visits, cells);
	std::vector<std::pair<capture::ProbeSet, Visit>> with_probes;
	for (size_t v = 0; v < visits.size(); v++)
		with_probes.emplace_back(probes_of(visits[firsts[v]], cells), visits[v]);
	std::ranges::stable_sort(with_probes, std::ranges::less{}, &std::pair<capture::ProbeSet, Visit>::first);
	std::ranges::copy(with_probes | std::views::values, visits.begin());
	return visits;
}

} // namespace icepath::run
