// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/deep_idle.h"

#include <string>

#include "profiler/failure.h"
#include "profiler/selftest/tools.h"

namespace icepath::selftest {
namespace {

class DeepIdle : public Effect {
public:
	explicit DeepIdle(cpuset::KeptAwake &awake) : awake_(awake)
	{
		if (!awake_.works())
			throw Failure(ExitCode::MachineCannot,
						  "CPUs can't be kept from idling deeply to begin with: " + awake_.step().found);
		if (const cpuset::Problem problem = awake_.let_go())
			throw Failure(ExitCode::MachineCannot, *problem);
	}
	~DeepIdle() override { (void)awake_.hold(); } // which worked a moment ago

private:
	cpuset::KeptAwake &awake_;
};

} // namespace

std::unique_ptr<Effect> put_in_deep_idle(const Subject &subject)
{
	return std::make_unique<DeepIdle>(subject.tools->awake);
}

} // namespace icepath::selftest
