// SPDX-License-Identifier: Apache-2.0
#pragma once
// Leaves the cells of one visit alone: while they are measured, the processes of all other cells of the run stand still
// (SIGSTOP), and so do daemons that only those use. Otherwise the threads of their libraries (timers, heartbeats,
// discovery) would run on the CPUs that are measured. One thread.
//
// To stop a process takes no right that starting it didn't take, and SIGKILL ends it as any other: with icepath,
// however that ends (PR_SET_PDEATHSIG of worker/main.cc, which is kept across execve(2)). So nothing stays behind
// stopped, and only icepath's own children are stopped, not what they start. (A frozen control group of version 1 would
// hold back that SIGKILL as well; of version 2 it would need root.)
//
// A library may take its peer for dead after a while, so no cell of a library stands still for longer than
// kLongestStillNs: in between all of them go on for a moment, and in a window that takes longer they run. What ran is
// told with the window.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "profiler/plan/plan.h"
#include "profiler/run/middleware.h"
#include "profiler/run/rounds.h"
#include "profiler/run/run_cells.h"

namespace icepath::run {

// Any library of an adapter loses nothing by standing still for so long: tests/conformance/stopped_test.cc. The
// shortest lease among them is Cyclone DDS's, of 10 s.
inline constexpr uint64_t kLongestStillNs = 3'000'000'000;

class StillCells {
public:
	// The references must outlive this. In a plan of one visit nothing ever stands still.
	StillCells(const plan::Plan &plan, const std::vector<Visit> &visits, const RunCells &cells,
			   const Middleware &middleware)
		: plan_(plan), cells_(cells), middleware_(middleware), has_others_(visits.size() > 1)
	{}

	// Before windows of these cells, each of at most `longest_ns`. Returns once the others stand still, or after
	// kPatienceNs, without those that are held up in the kernel.
	void leave_alone(const Visit &visit, uint64_t longest_ns);
	// Before anything else that may take long, such as opening cells.
	void go_on();
	// Adds to a probed window which tasks that ran in it are threads of the run's other cells, or of what these
	// started. Call it soon: a thread that has ended has no owner any more.
	void tell_others(const Visit &visit, model::Window &window) const;

private:
	struct Of { // whose a process is
		std::string name; // "zeromq/ipc", "daemon mosquitto"
		std::set<size_t> cells;
		bool of_library = false;
		bool is_daemon = false;
	};
	using Processes = std::map<WorkerProcess *, Of>;

	Processes processes() const;
	static const Of *owner_of(uint32_t tid, const std::map<pid_t, const Of *> &by_process); // nullptr: somebody else
	void let_libraries_breathe(const Processes &all);

	const plan::Plan &plan_;
	const RunCells &cells_;
	const Middleware &middleware_;
	const bool has_others_;
	uint64_t still_since_ns_ = 0; // since when libraries stand still; 0: they run
};

} // namespace icepath::run
