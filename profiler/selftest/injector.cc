// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/injector.h"

#include <fmt/format.h>

#include "profiler/failure.h"
#include "profiler/selftest/cpu_injections.h"
#include "profiler/selftest/injections.h"
#include "profiler/selftest/network_injection.h"
#include "profiler/selftest/tools.h"

namespace icepath::selftest {
namespace {

struct Injector {
	const char *name;
	std::unique_ptr<Effect> (*put_in)(const Subject &);
};

constexpr Injector kInjectors[] = {
	{"hog", put_in_hog},           {"fifo-hog", put_in_fifo_hog},
	{"throttle", put_in_throttle}, {"interrupt-storm", put_in_interrupt_storm},
	{kDeepIdle, put_in_deep_idle}, {"device-delay", put_in_device_delay},
};

} // namespace

Tools::Tools() : throttled_group(make_throttled_group), interrupt(load_interrupt), device_delay(load_device_delay) {}

std::unique_ptr<Effect> put_in(std::string_view name, const Subject &subject)
{
	for (const Injector &injector : kInjectors)
		if (injector.name == name)
			return injector.put_in(subject);
	throw Failure(ExitCode::Internal, fmt::format("there is no injector \"{}\"", name));
}

} // namespace icepath::selftest
