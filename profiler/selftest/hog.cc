// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/hog.h"

#include <sched.h>
#include <sys/resource.h>

#include <ctime>
#include <functional>

#include "icepath/plugin.h"
#include "profiler/selftest/child.h"
#include "profiler/selftest/plugin/stretch.h"

namespace icepath::selftest {
namespace {

// Below the kernel's limit for real-time tasks (sched_rt_runtime_us, 95 %), which would suspend it for a while.
constexpr uint64_t kRunsNs = 1'500'000;
constexpr uint64_t kSleepsNs = 500'000;
// By default, a task that slept precedes one that ran, unless the latter weighs more: here 87 times as much.
constexpr int kHeaviest = -20;

class Hog : public Effect {
public:
	Hog(const char *name, uint32_t cpu, const std::function<bool()> &prepare)
		: child_(name, cpu, prepare, [] {
			  for (;;) {
				  for (const uint64_t end_ns = icepath_now_ns() + stretched(kRunsNs); icepath_now_ns() < end_ns;) {
				  }
				  const timespec pause{0, static_cast<long>(stretched(kSleepsNs))};
				  nanosleep(&pause, nullptr);
			  }
		  })
	{}

private:
	Child child_;
};

} // namespace

std::unique_ptr<Effect> put_in_hog(const Subject &subject)
{
	return std::make_unique<Hog>("selftest-hog", subject.receiver_cpu,
								 [] { return setpriority(PRIO_PROCESS, 0, kHeaviest) == 0; });
}

std::unique_ptr<Effect> put_in_fifo_hog(const Subject &subject)
{
	return std::make_unique<Hog>("selftest-fifo", subject.receiver_cpu, [] {
		const sched_param above{kShieldPriority + 1};
		return sched_setscheduler(0, SCHED_FIFO, &above) == 0;
	});
}

} // namespace icepath::selftest
