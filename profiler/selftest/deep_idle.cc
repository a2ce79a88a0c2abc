// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/deep_idle.h"

#include <fstream>

#include "profiler/failure.h"

namespace icepath::selftest {
namespace {

class DeepIdle : public Effect {
public:
	explicit DeepIdle(std::optional<cpuset::KeptAwake> &awake) : awake_(awake)
	{
		// Without a driver the idle loop halts CPUs in one way, whatever was asked for (cpuidle_idle_call).
		std::string driver;
		std::ifstream("/sys/devices/system/cpu/cpuidle/current_driver") >> driver;
		if (driver.empty() || driver == "none")
			throw Failure(ExitCode::MachineCannot, "there is no cpuidle driver: CPUs have one idle state only");
		if (!awake_ || !awake_->works())
			throw Failure(ExitCode::MachineCannot, "CPUs can't be kept from idling deeply to begin with");
		awake_.reset();
	}
	~DeepIdle() override { awake_.emplace(); }

private:
	std::optional<cpuset::KeptAwake> &awake_;
};

} // namespace

std::unique_ptr<Effect> put_in_deep_idle(const Subject &subject) { return std::make_unique<DeepIdle>(*subject.awake); }

} // namespace icepath::selftest
