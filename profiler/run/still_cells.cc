// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/still_cells.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "icepath/plugin.h"
#include "profiler/rundir/limits.h"

namespace icepath::run {
namespace {

// For the threads of all libraries to do what they had to do meanwhile.
constexpr uint64_t kBreathNs = 20'000'000;
// A thread that waits for a device or for memory stops only afterwards.
constexpr uint64_t kPatienceNs = 50'000'000;
constexpr useconds_t kLookUs = 50;

bool is_of(const Visit &visit, const std::set<size_t> &cells)
{
	return std::ranges::any_of(visit, [&](size_t cell) { return cells.contains(cell); });
}

void await_stop(const std::vector<const WorkerProcess *> &stopping)
{
	const uint64_t give_up_ns = icepath_now_ns() + kPatienceNs;
	for (const WorkerProcess *process : stopping)
		while (!process->has_stopped() && icepath_now_ns() < give_up_ns)
			usleep(kLookUs);
}

// A thread's process and that one's parent; 0: it has ended.
struct Kin {
	pid_t process = 0, parent = 0;
};

Kin kin_of(pid_t thread)
{
	Kin kin;
	std::ifstream status(fmt::format("/proc/{}/status", thread));
	for (std::string word; status >> word && kin.parent == 0;) // Tgid comes first
		if (word == "Tgid:")
			status >> kin.process;
		else if (word == "PPid:")
			status >> kin.parent;
	return kin;
}

// Tasks that are neither sides nor threads of a process that the window follows.
std::set<uint32_t> tasks_beside(const model::Window &window)
{
	std::set<uint32_t> tids;
	for (const model::SlotCapture &slot : window.slots)
		for (const icepath_record &record : slot.records)
			if (record.type == ICEPATH_RECORD_FOREIGN_RUN)
				tids.insert(record.tid);
	return tids;
}

} // namespace

StillCells::Processes StillCells::processes() const
{
	Processes all;
	for (size_t i = 0; i < plan_.cells.size(); i++) {
		const model::Cell &cell = plan_.cells[i];
		const bool of_library = cell.kind == model::kAdapter;
		if (LiveCell *live = cells_.live(i))
			for (WorkerProcess *process : live->processes())
				all.emplace(process, Of{in_arm(cell.target, cell), {i}, of_library});
		if (const Daemon *daemon = middleware_.find_daemon(plan_.plugin_of_cell[i], cell.arm))
			all.try_emplace(daemon->process(), Of{in_arm(daemon->what(), cell), {}, of_library, true})
				.first->second.cells.insert(i);
	}
	return all;
}

void StillCells::let_libraries_breathe(const Processes &all)
{
	for (const auto &[process, of] : all)
		if (of.of_library)
			process->go_on();
	usleep(kBreathNs / 1000);
	still_since_ns_ = 0;
}

void StillCells::leave_alone(const Visit &visit, uint64_t longest_ns)
{
	if (!has_others_)
		return;
	const Processes all = processes();
	const bool libraries_run = longest_ns > kLongestStillNs;
	if (!libraries_run && still_since_ns_ && icepath_now_ns() + longest_ns - still_since_ns_ > kLongestStillNs)
		let_libraries_breathe(all);
	std::vector<const WorkerProcess *> stopping;
	for (const auto &[process, of] : all) {
		if (is_of(visit, of.cells) || (libraries_run && of.of_library)) {
			process->go_on();
		} else if (!process->stands_still()) {
			process->stand_still();
			if (process->stands_still())
				stopping.push_back(process);
		}
	}
	await_stop(stopping);
	still_since_ns_ = libraries_run ? 0 : still_since_ns_ ? still_since_ns_ : icepath_now_ns();
}

void StillCells::go_on()
{
	if (!still_since_ns_)
		return;
	for (const auto &[process, of] : processes())
		process->go_on();
	still_since_ns_ = 0;
}

const StillCells::Of *StillCells::owner_of(uint32_t tid, const std::map<pid_t, const Of *> &by_process)
{
	constexpr int kMostAncestors = 16;
	auto thread = static_cast<pid_t>(tid);
	for (int i = 0; i < kMostAncestors && thread > 1; i++) {
		const Kin kin = kin_of(thread);
		if (const auto own = by_process.find(kin.process); own != by_process.end())
			return own->second;
		thread = kin.parent;
	}
	return nullptr;
}

void StillCells::tell_others(const Visit &visit, model::Window &window) const
{
	if (!has_others_ || !window.probed)
		return;
	std::map<pid_t, const Of *> by_process;
	const Processes all = processes();
	for (const auto &[process, of] : all) {
		by_process.emplace(process->pid(), &of);
		if (of.is_daemon && visit.size() > 1 && is_of(visit, of.cells)) // its threads are followed for all of them
			window.others.push_back(
				{static_cast<uint32_t>(process->pid()), of.name, {of.cells.begin(), of.cells.end()}});
	}
	for (const uint32_t tid : tasks_beside(window))
		if (const Of *of = owner_of(tid, by_process); of && window.others.size() < rundir::kMaxOthers)
			window.others.push_back({tid, of->name, {of->cells.begin(), of->cells.end()}});
}

} // namespace icepath::run
