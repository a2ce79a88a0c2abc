// SPDX-License-Identifier: Apache-2.0
#pragma once
// A partition of cgroup v2's cpuset controller, in which only the run's workers are: /sys/fs/cgroup/icepath, and within it `run`, where
// they are. systemd's daemon-reload takes a partition away that has no group with the controller within it.
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "cpuset/cpulist.h"
#include "profiler/isolation/knobs.h"

namespace icepath::isolation {

class Partition : public OpenKnob {
public:
	// Whether it is there or not. Nothing where there is no cgroup v2: errno says why.
	static std::unique_ptr<Partition> open(const Tree &tree);

	// Makes its folder, or takes all of it away: whoever is still in it is killed, since it was a worker.
	std::optional<std::string> read() override;
	int write(const std::string &value) override;

	// Makes it a partition of these CPUs, once it is there. Empty: done; else why not.
	std::string set_up(const cpuset::CpuList &cpus);
	// Why the CPUs aren't the run's alone; empty: they are. set_up() has been done.
	std::string why_not_isolated();
	int admit(pid_t process); // 0, or an errno

private:
	explicit Partition(const Tree &tree, Fd parent) : tree_(tree), parent_(std::move(parent)) {}
	int make();
	int take_away();
	void open_files();

	const Tree &tree_;
	const Fd parent_;
	Fd group_, kind_, effective_, others_; // others_: the root's effective CPUs
	Fd members_, kill_; // of `run`
	cpuset::CpuList cpus_;
};

// Why no partition can be made here; empty: one may be.
std::string why_no_partitions(const Tree &tree, const std::string &kernel_release);

// Whether another group than the run's has CPUs of its own, so that the controller must stay.
bool others_use_cpusets(const Tree &tree);

} // namespace icepath::isolation
