// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/counters.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace icepath::model {
namespace {

constexpr int32_t kLastErrno = 4095; // MAX_ERRNO of the kernel

} // namespace

bool can_be_true(const Count &count, const CounterField &field)
{
	if (count.error != 0)
		return count.error == kNotAsked || (count.error > 0 && count.error <= kLastErrno);
	return count.counted <= kMostCounted && count.enabled_ns <= kMostCounted && count.running_ns <= count.enabled_ns &&
		   (field.hardware || count.enabled_ns == 0);
}

Counters believable(Counters counted, bool hardware_asked)
{
	for (const CounterField &field : kCounterFields) {
		Count &count = counted.*field.count;
		if (field.hardware && !hardware_asked)
			count = {};
		else if (!can_be_true(count, field))
			count = {.error = EPROTO};
		else if (count.error != 0)
			count = {.error = count.error};
	}
	counted.user_only = counted.user_only != 0 && hardware_was_on(counted);
	return counted;
}

int32_t absence(const Count &count, const CounterField &field)
{
	if (count.error != 0)
		return count.error;
	if (field.hardware && count.running_ns == 0)
		return EBUSY;
	return field.always_moves && count.counted == 0 ? ENODATA : 0;
}

std::optional<double> scaled(const Count &count, const CounterField &field)
{
	if (absence(count, field) != 0)
		return std::nullopt;
	const auto counted = static_cast<double>(count.counted);
	return count.running_ns < count.enabled_ns
			   ? counted * (static_cast<double>(count.enabled_ns) / static_cast<double>(count.running_ns))
			   : counted;
}

std::string why_absent(int32_t error, bool hardware)
{
	switch (error) {
	case kNotAsked:
		return hardware ? "no block was measured with it: one round in eight is, from the seventh on"
						: "the icepath version that made the run didn't count it";
	case ESRCH:
		return "no message had shown yet which thread of the library handles them";
	case EPROTO:
		return "the worker reported an impossible count";
	case EACCES:
		return hardware ? "ordinary users may not count: sysctl kernel.perf_event_paranoid=1 lets them, =2 in user "
						  "mode only"
						: "/proc/thread-self/sched may not be read";
	case EPERM:
		return "a seccomp filter or a security module forbids it, as containers' usual profiles do";
	case ENOSYS:
		return "the kernel has no perf_event_open(2): it was built without CONFIG_PERF_EVENTS, or a seccomp filter "
			   "hides it";
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return hardware ? "the CPU has no such counter, or the hypervisor doesn't give it to this machine"
						: "there is no /proc/thread-self/sched: the kernel was built without CONFIG_SCHED_DEBUG, or "
						  "/proc isn't mounted";
	case ENODATA:
		return hardware ? "it didn't count while messages passed: the hypervisor only pretends to have it"
						: "/proc/thread-self/sched doesn't have it";
	case EBUSY:
		return "it never got one of this CPU's counters: others hold them, or they are of another kind of core";
	default:
		return fmt::format("the kernel refuses it: {}", std::strerror(error));
	}
}

} // namespace icepath::model
