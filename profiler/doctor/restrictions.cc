// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/restrictions.h"

#include <fmt/format.h>
#include <unistd.h>

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

bool is_filtered(const std::string &path)
{
	std::ifstream file(path);
	for (std::string line; std::getline(file, line);)
		if (line.starts_with("Seccomp:"))
			return line.find('0') == std::string::npos;
	return false;
}

constexpr const char *kLockedDown = "kernel lockdown is in confidentiality mode, which refuses probes to everybody";
constexpr const char *kUnlock = "boot with lockdown=integrity, or without lockdown";

} // namespace

Restrictions read_restrictions(const std::string &root)
{
	return {lockdown_of(root), number_of(root + "/proc/sys/kernel/perf_event_paranoid"),
			number_of(root + "/proc/sys/kernel/unprivileged_bpf_disabled"), is_filtered(root + "/proc/self/status")};
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
	if (restrictions.has_filter)
		return {"perhaps a filter of system calls (seccomp), as of a container",
				"let the container have bpf(2) and perf_event_open(2)", Possible::NotHere};
	return {"a security module of the kernel, or a missing capability",
			geteuid() == 0 ? "look for the refusal in the kernel's log (dmesg)" : "sudo icepath doctor"};
}

Check lockdown_check(const Restrictions &restrictions)
{
	if (restrictions.lockdown == "confidentiality")
		return {"lockdown", Verdict::Fail, kLockedDown, "no probe can be loaded", kUnlock, Possible::AfterReboot};
	if (!restrictions.lockdown)
		return {"lockdown", Verdict::Ok, "unknown, as securityfs isn't mounted", "", ""};
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
