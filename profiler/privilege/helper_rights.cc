// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/helper_rights.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>

namespace icepath::privilege {
namespace {

// capabilities(7). Since Linux 5.8 BPF and PERFMON together load tracing programs and open their events (bpf_token_capable(),
// perfmon_capable()).
constexpr std::array<int, 6> kForCapturing = {
	CAP_BPF,        CAP_PERFMON,
	CAP_SYS_NICE, // sched_setaffinity() of the user's tasks
	CAP_SYS_PTRACE, // /proc/PID/status under hidepid
	CAP_SYS_ADMIN, // without it kprobes attach and run no program, on 6.1 and 6.12 (tests/vm, kprobe)
	CAP_SYSLOG, // addresses in /proc/kallsyms, by which kprobes are found
};

constexpr std::array<int, 5> kForSpaces = {
	CAP_SYS_ADMIN, CAP_SYS_CHROOT, // mounts and namespaces
	CAP_NET_ADMIN, // the loopback device of a new one
	CAP_SETUID,    CAP_SETGID, // to become the user
};

void limit_capabilities(std::span<const int> kept_ones)
{
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
		if (std::ranges::find(kept_ones, capability) == kept_ones.end())
			prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	__user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
	std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
	if (syscall(SYS_capget, &header, sets.data()))
		return;
	std::array<__u32, _LINUX_CAPABILITY_U32S_3> kept{};
	for (const int capability : kept_ones)
		kept[CAP_TO_INDEX(capability)] |= CAP_TO_MASK(capability);
	for (size_t i = 0; i < sets.size(); i++) {
		sets[i].permitted &= kept[i];
		sets[i].effective = sets[i].permitted;
		sets[i].inheritable = 0;
	}
	syscall(SYS_capset, &header, sets.data());
}

} // namespace

void keep_rights_for_capturing()
{
	setsid();
	if (chdir("/")) {
		// It opens nothing by a relative path.
	}
	clearenv();
	const rlimit no_core{0, 0};
	setrlimit(RLIMIT_CORE, &no_core);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit_capabilities(kForCapturing);
}

void keep_rights_for_spaces()
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit_capabilities(kForSpaces);
}

} // namespace icepath::privilege
