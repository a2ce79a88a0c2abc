// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/counters.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "profiler/model/counters.h"
#include "profiler/privilege/identity.h"

namespace icepath::doctor {
namespace {

// Runs `trial` in a child with no more rights than that user has. Returns its errno, or why it can't be run.
template <typename Trial> int32_t tried_as_the_invoking_user(const Trial &trial)
{
	const uid_t id = privilege::invoking_user().uid;
	const pid_t child = fork();
	if (child < 0)
		return errno;
	if (child == 0) {
		// The group id doesn't matter here.
		if (id != 0 && geteuid() == 0 && (setgroups(0, nullptr) || setresgid(id, id, id) || setresuid(id, id, id)))
			_exit(errno);
		_exit(trial());
	}
	int status = 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int32_t try_cycles(bool user_only)
{
	return tried_as_the_invoking_user([user_only] {
		perf_event_attr wish{};
		wish.type = PERF_TYPE_HARDWARE;
		wish.size = sizeof(wish);
		wish.config = PERF_COUNT_HW_CPU_CYCLES;
		wish.exclude_kernel = user_only;
		wish.exclude_hv = 1;
		return syscall(SYS_perf_event_open, &wish, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0 ? errno : 0;
	});
}

} // namespace

CounterTrial try_counters()
{
	return {try_cycles(false), try_cycles(true),
			tried_as_the_invoking_user([] { return access("/proc/thread-self/sched", R_OK) ? errno : 0; })};
}

Check counters_check(const CounterTrial &trial)
{
	const std::string no_migrations =
		trial.migrations == 0 ? "" : fmt::format("no migrations: {}", model::why_absent(trial.migrations, false));
	Check check{"counters", Verdict::Ok, "", "", ""};
	if (trial.hardware == 0) {
		check.found = "cycles, instructions, cache and branch misses, in user and kernel mode";
	} else if (trial.user_mode == 0) {
		check.verdict = Verdict::Warn;
		check.found = "cycles, instructions, cache and branch misses, in user mode only";
		check.effect = "what the kernel does for a message isn't counted: most of it, for a kernel transport";
		check.remedy = "sudo sysctl kernel.perf_event_paranoid=1";
	} else {
		check.verdict = Verdict::Warn;
		check.found = fmt::format("no hardware counters: {}", model::why_absent(trial.user_mode, true));
		check.effect = "cycles, instructions, cache and branch misses are absent from run.json";
		if (trial.user_mode == EACCES)
			check.remedy = "sudo sysctl kernel.perf_event_paranoid=1";
		else if (trial.user_mode != EPERM && trial.user_mode != ENOSYS)
			check.remedy = "use bare metal, or a virtual machine with a PMU (KVM: -cpu host,pmu=on)";
	}
	if (!no_migrations.empty()) {
		check.verdict = Verdict::Warn;
		check.found += "; " + no_migrations;
		check.effect += std::string(check.effect.empty() ? "" : "; ") + "migrations are absent from run.json";
	}
	return check;
}

} // namespace icepath::doctor
