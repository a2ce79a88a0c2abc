// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/restrictions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace icepath::doctor {
namespace {

// Debian's kernels know 3, Ubuntu's 4: then perf_event_open(2) takes CAP_SYS_ADMIN. Other kernels know 2 at most.
constexpr int kForUsersAndPerfmon = 2;

std::optional<int> number_of(const std::string &path)
{
	int number = 0;
	return std::ifstream(path) >> number ? std::optional(number) : std::nullopt;
}

// The word in brackets: "none [integrity] confidentiality".
std::string chosen_in(const std::string &path)
{
	std::ifstream file(path);
	for (std::string word; file >> word;)
		if (word.starts_with('[') && word.ends_with(']'))
			return word.substr(1, word.size() - 2);
	return {};
}

bool is_mounted(const std::string &mounts, const std::string &type)
{
	std::ifstream file(mounts);
	for (std::string line; std::getline(file, line);) {
		std::istringstream words(line);
		std::string source, folder, its_type;
		if (words >> source >> folder >> its_type && its_type == type)
			return true;
	}
	return false;
}

std::optional<std::string> lockdown_of(const std::string &root)
{
	if (std::string mode = chosen_in(root + "/sys/kernel/security/lockdown"); !mode.empty())
		return mode;
	return is_mounted(root + "/proc/self/mounts", "securityfs") ? std::optional<std::string>("") : std::nullopt;
}

// Of a line "Seccomp:\t2" of /proc/self/status, which `label` begins; empty: there is none.
std::string status_of(const std::string &path, const std::string &label)
{
	std::ifstream file(path);
	for (std::string line; std::getline(file, line);)
		if (line.starts_with(label))
			return line.substr(std::min(line.find_first_not_of(" \t", label.size()), line.size()));
	return {};
}

std::vector<std::string> missing_of(const std::string &effective)
{
	const uint64_t has = std::strtoull(effective.c_str(), nullptr, 16); // one bit for each capability
	std::vector<std::string> missing;
	const std::array<std::pair<int, const char *>, 3> needed = {
		{{CAP_BPF, "CAP_BPF"}, {CAP_PERFMON, "CAP_PERFMON"}, {CAP_SYS_ADMIN, "CAP_SYS_ADMIN"}}};
	for (const auto &[number, label] : needed)
		if ((has >> number & 1) == 0)
			missing.emplace_back(label);
	return missing;
}

// The machine's own namespace maps all users to themselves.
bool maps_users(const std::string &uid_map)
{
	std::ifstream file(uid_map);
	uint64_t inside = 0, outside = 0, count = 0;
	return file >> inside >> outside >> count && (inside != outside || count != UINT32_MAX);
}

constexpr const char *kLockedDown = "kernel lockdown is in confidentiality mode, which refuses probes to everybody";
constexpr const char *kUnlock = "boot with lockdown=integrity, or without lockdown";

} // namespace

Restrictions read_restrictions(const std::string &root)
{
	const std::string status = root + "/proc/self/status", filter = status_of(status, "Seccomp:");
	return {lockdown_of(root),
			number_of(root + "/proc/sys/kernel/perf_event_paranoid"),
			number_of(root + "/proc/sys/kernel/unprivileged_bpf_disabled"),
			!filter.empty() && filter != "0",
			missing_of(status_of(status, "CapEff:")),
			maps_users(root + "/proc/self/uid_map")};
}

std::string named_with_settings(const std::vector<std::string> &capabilities, const Restrictions &restrictions)
{
	std::string text;
	for (const std::string &capability : capabilities) {
		text += (text.empty() ? "" : ", ") + capability;
		if (capability == "CAP_BPF" && restrictions.unprivileged_bpf_disabled)
			text += fmt::format(" (kernel.unprivileged_bpf_disabled={})", *restrictions.unprivileged_bpf_disabled);
		if (capability == "CAP_PERFMON" && restrictions.perf_event_paranoid)
			text += fmt::format(" (kernel.perf_event_paranoid={})", *restrictions.perf_event_paranoid);
	}
	return text;
}

Refusal refusal_of(const std::string &why_not, const Restrictions &restrictions)
{
	if (restrictions.lockdown == "confidentiality")
		return {kLockedDown, kUnlock, Possible::AfterReboot};
	if (why_not.find("CAP_SYS_ADMIN") != std::string::npos)
		return {"CAP_SYS_ADMIN is missing", "sudo icepath run has it, where the kernel allows kprobes"};
	if (restrictions.has_user_namespace)
		return {"capabilities of a user namespace don't count for it",
				"run icepath outside of that (rootless) container", Possible::NotHere};
	if (geteuid() == 0 && !restrictions.missing.empty())
		return {fmt::format("{}", fmt::join(restrictions.missing, ", ")) +
					(restrictions.missing.size() == 1 ? " is missing" : " are missing"),
				"give the container " + fmt::format("{}", fmt::join(restrictions.missing, ", ")), Possible::NotHere};
	if (restrictions.has_filter)
		return {"perhaps a filter of system calls (seccomp), as of a container",
				"let the container have bpf(2) and perf_event_open(2)", Possible::NotHere};
	if (geteuid() != 0)
		return {"a security module of the kernel, or a missing capability", "sudo icepath doctor"};
	return {"no capability that probes need is missing and no filter of system calls is seen: perhaps a security "
			"module of the "
			"kernel",
			"ask who administers this kernel: icepath can't see what refuses it", Possible::NotHere};
}

Check lockdown_check(const Restrictions &restrictions, bool probes_work)
{
	if (restrictions.lockdown == "confidentiality")
		return {"lockdown", Verdict::Fail, kLockedDown, "no probe can be loaded", kUnlock, Possible::AfterReboot};
	if (!restrictions.lockdown && probes_work)
		return {"lockdown", Verdict::Ok, "not in confidentiality mode, as probes work", "", ""};
	if (!restrictions.lockdown)
		return {"lockdown", Verdict::Warn, "lockdown unknown, as securityfs isn't mounted",
				"in confidentiality mode it refuses every probe",
				"sudo mount -t securityfs none /sys/kernel/security, and ask again"};
	return {"lockdown", Verdict::Ok,
			restrictions.lockdown->empty() ? "the kernel has none" : *restrictions.lockdown + ", which allows probes",
			"", ""};
}

Check sampling_check(const Restrictions &restrictions)
{
	const int paranoid = restrictions.perf_event_paranoid.value_or(kForUsersAndPerfmon);
	if (paranoid <= kForUsersAndPerfmon)
		return {"sampling", Verdict::Ok, fmt::format("kernel.perf_event_paranoid={} allows it", paranoid), "", ""};
	return {"sampling", Verdict::Warn,
			fmt::format("kernel.perf_event_paranoid={} leaves perf events to CAP_SYS_ADMIN", paranoid),
			"without root, --stacks isn't possible", "sudo sysctl kernel.perf_event_paranoid=2"};
}

} // namespace icepath::doctor
