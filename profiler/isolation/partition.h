// SPDX-License-Identifier: Apache-2.0
#pragma once
// A partition of cgroup v2's cpuset controller for the run's workers: /sys/fs/cgroup/icepath, and in it the group
// `run`, which has the workers. systemd's daemon-reload would remove a partition without such a group.
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "cpuset/cpulist.h"
#include "profiler/isolation/knobs.h"

namespace icepath::isolation {

class Partition : public OpenKnob {
public:
	// nullptr with errno set: there is no cgroup v2.
	static std::unique_ptr<Partition> open(const Tree &tree);

	// Its value is whether the group exists. Removing it gives its CPUs back, then kills the workers that are still in
	// it; EBUSY: one of them doesn't end.
	std::optional<std::string> read() override;
	int write(const std::string &value) override;

	// Makes the existing group a partition of these CPUs. Returns why that failed; empty: it is one.
	std::string set_up(const cpuset::CpuList &cpus);
	// Call it after set_up(). Why others may use the CPUs; empty: they may not.
	std::string why_not_isolated();
	int admit(pid_t process); // 0, or an errno

private:
	explicit Partition(const Tree &tree, Fd parent) : tree_(tree), parent_(std::move(parent)) {}
	int make();
	int take_away();
	void give_cpus_back();
	void open_files();

	const Tree &tree_;
	const Fd parent_;
	Fd group_, kind_, list_, exclusive_; // list_, exclusive_: of its CPUs
	Fd effective_, others_; // others_: the root's effective CPUs
	Fd members_, kill_; // of `run`
	cpuset::CpuList cpus_;
};

// Why this machine has no partitions; empty: it has.
std::string why_no_partitions(const Tree &tree, const std::string &kernel_release);

// Why a group that was to be removed is still there. The keeper may call it while it isolates.
std::string why_partition_is_left(const Tree &tree);

// Whether another group has CPUs of its own, so that the controller must stay enabled.
bool others_use_cpusets(const Tree &tree);

} // namespace icepath::isolation
