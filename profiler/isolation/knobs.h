// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings that `--isolate full` and `--tune` may change: a compiled list. Whatever a request or a journal says,
// root writes to no other file but its journal and those of the run's control group (partition.h).
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cpuset/cpulist.h"
#include "profiler/channel.h"

namespace icepath::isolation {

// How the text of a knob is read. Texts with the same meaning are equal.
enum class Form : uint8_t {
	CpuList, // "0-1,3"
	CpuMask, // words of 32 bits in hexadecimal, the highest first: "3", "f,ffffffff"
	Word,
	Number, // a whole one
	Controller, // whether the cpuset controller is among the words of the file: "+cpuset", "-cpuset"
	Group, // the run's own control group (partition.h): kGroupThere, kGroupAbsent
};

inline constexpr const char *kGroupThere = "there", *kGroupAbsent = "absent";
inline constexpr const char *kWithCpusets = "+cpuset", *kWithoutCpusets = "-cpuset";

struct Knob {
	const char *name; // in the journal
	const char *path; // below the machine's root; '#' stands for a number
	Form form;
	const char *asked_path =
		nullptr; // where the kernel shows what it was asked for, if `path` shows something narrower
};

inline constexpr Knob kKnobs[] = {
	{"interrupt", "proc/irq/#/smp_affinity_list", Form::CpuList},
	{"new_interrupts", "proc/irq/default_smp_affinity", Form::CpuMask},
	{"workqueues", "sys/devices/virtual/workqueue/cpumask", Form::CpuMask,
	 "sys/devices/virtual/workqueue/cpumask_requested"},
	{"stat_interval", "proc/sys/vm/stat_interval", Form::Word},
	{"watchdog", "proc/sys/kernel/watchdog_cpumask", Form::CpuList},
	{"resume_latency", "sys/devices/system/cpu/cpu#/power/pm_qos_resume_latency_us", Form::Word},
	{"governor", "sys/devices/system/cpu/cpufreq/policy#/scaling_governor", Form::Word},
	{"energy_preference", "sys/devices/system/cpu/cpufreq/policy#/energy_performance_preference", Form::Word},
	{"rmem_max", "proc/sys/net/core/rmem_max", Form::Number},
	{"wmem_max", "proc/sys/net/core/wmem_max", Form::Number},
	{"rmem_default", "proc/sys/net/core/rmem_default", Form::Number},
	{"wmem_default", "proc/sys/net/core/wmem_default", Form::Number},
	{"hugepages", "proc/sys/vm/nr_hugepages", Form::Number},
	{"cpuset_controller", "sys/fs/cgroup/cgroup.subtree_control", Form::Controller},
	{"group", "sys/fs/cgroup/icepath", Form::Group},
};

// A knob of a machine.
struct Place {
	const Knob *knob = nullptr;
	uint32_t number = 0; // 0 where the path has none

	std::string path() const;
	friend bool operator==(const Place &, const Place &) = default;
};

// By its name in the list. Nothing if there is no such knob, or if the number isn't valid.
std::optional<Place> place_of(std::string_view knob, uint64_t number = 0);

// Nothing if the text isn't a mask.
std::optional<cpuset::CpuList> parse_mask(std::string_view text);
std::string format_mask(const cpuset::CpuList &cpus);

// The set of CPUs in a knob's text. Nothing if the form has no CPUs, or the text isn't valid.
std::optional<cpuset::CpuList> cpus_in(Form form, std::string_view text);
std::string text_of(Form form, const cpuset::CpuList &cpus);

// Whether the text is valid for a knob of that form.
bool is_value(Form form, std::string_view text);
bool same(Form form, std::string_view one, std::string_view other);

// The root of the files.
struct Tree {
	std::string root; // put before every path, for tests
	// Called before (`after` false) and after each change of a knob, or of a file of the run's control group. Before
	// it, a nonzero errno refuses the change. Tests also end the process there.
	std::function<int(const std::string &path, bool after)> at_change = {};

	Fd open(const std::string &path, int flags, unsigned mode = 0) const; // follows no link, leaves the root by none
	std::optional<std::string> read(const std::string &path) const; // of a small file, without blanks at its ends
	int change(const std::string &path, const std::function<int()> &by) const; // 0, or an errno
};

// An open knob: a process that may open no more files can still restore it.
class OpenKnob {
public:
	virtual ~OpenKnob() = default;
	virtual std::optional<std::string> read() = 0; // nothing: errno says why
	virtual int write(const std::string &value) = 0; // 0, or an errno
};

// nullptr with errno set; ENOENT or ENODEV: this machine doesn't have it.
std::unique_ptr<OpenKnob> open_knob(const Tree &tree, const Place &place);

} // namespace icepath::isolation
