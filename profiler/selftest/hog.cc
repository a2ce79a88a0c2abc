// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/hog.h"

#include <sched.h>

#include <ctime>

#include "icepath/plugin.h"
#include "profiler/selftest/child.h"

namespace icepath::selftest {
namespace {

// Below the share that the kernel leaves to other tasks (sched_rt_runtime_us, 95 %), which would end it for a while.
constexpr uint64_t kRunsNs = 1'500'000;
constexpr long kSleepsNs = 500'000;

class Hog : public Effect {
public:
	explicit Hog(uint32_t cpu)
		: child_(
			  "selftest-hog", cpu, [] { return true; },
			  [] {
				  for (;;)
					  asm volatile("" ::: "memory");
			  })
	{}

private:
	Child child_;
};

class FifoHog : public Effect {
public:
	explicit FifoHog(uint32_t cpu)
		: child_(
			  "selftest-fifo", cpu,
			  [] {
				  const sched_param above{kShieldPriority + 1};
				  return sched_setscheduler(0, SCHED_FIFO, &above) == 0;
			  },
			  [] {
				  for (;;) {
					  for (const uint64_t end_ns = icepath_now_ns() + kRunsNs; icepath_now_ns() < end_ns;) {
					  }
					  const timespec pause{0, kSleepsNs};
					  nanosleep(&pause, nullptr);
				  }
			  })
	{}

private:
	Child child_;
};

} // namespace

std::unique_ptr<Effect> put_in_hog(const Subject &subject) { return std::make_unique<Hog>(subject.receiver_cpu); }

std::unique_ptr<Effect> put_in_fifo_hog(const Subject &subject)
{
	return std::make_unique<FifoHog>(subject.receiver_cpu);
}

} // namespace icepath::selftest
