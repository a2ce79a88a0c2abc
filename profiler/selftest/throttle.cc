// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/throttle.h"

#include "profiler/selftest/plugin/stretch.h"
#include "profiler/selftest/spender.h"
#include "profiler/selftest/tools.h"

namespace icepath::selftest {
namespace {

// The tick detects use beyond the quota, which the following periods pay for: with ticks 4 ms apart, a shorter quota
// would let the group run through several periods.
constexpr uint64_t kQuotaUs = 5'000, kPeriodUs = 20'000;

class Throttle : public Effect {
public:
	explicit Throttle(const Subject &subject)
		: group_(*subject.tools->throttled_group.get()), spender_("selftest-spend", subject.receiver_cpu)
	{
		group_.add(spender_.pid());
		if (subject.receiver > 0)
			group_.add(subject.receiver);
	}
	~Throttle() override { group_.put_all_back(); }

private:
	CpuGroup &group_;
	Spender spender_;
};

} // namespace

std::unique_ptr<CpuGroup> make_throttled_group()
{
	return std::make_unique<CpuGroup>(stretched(kQuotaUs), stretched(kPeriodUs));
}

std::unique_ptr<Effect> put_in_throttle(const Subject &subject) { return std::make_unique<Throttle>(subject); }

} // namespace icepath::selftest
