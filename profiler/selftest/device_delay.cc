// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/device_delay.h"

#include <fmt/format.h>
#include <linux/pkt_cls.h>

#include <cerrno>
#include <cstring>

#include "profiler/failure.h"
#include "profiler/selftest/loopback_program.h"
#include "profiler/selftest/other_network.h"
#include "profiler/selftest/plugin/stretch.h"
#include "profiler/selftest/spinning_program.h"
#include "profiler/selftest/tools.h"

namespace icepath::selftest {
namespace {

constexpr uint64_t kLateNs = 300'000;

} // namespace

LoopbackDelay load_device_delay()
{
	LoopbackDelay delay{spinning_program(BPF_PROG_TYPE_SCHED_CLS, stretched(kLateNs), TC_ACT_OK)};
	const InOtherNetwork inside(-1);
	delay.takes_a_filter = attach_by_link(delay.program.get()) == nullptr;
	return delay;
}

std::unique_ptr<Effect> put_in_device_delay(const Subject &subject)
{
	const LoopbackDelay &delay = subject.tools->device_delay.get();
	const InOtherNetwork inside(subject.receiver_pidfd);
	std::unique_ptr<Effect> attached =
		delay.takes_a_filter ? attach_by_filter(delay.program.get()) : attach_by_link(delay.program.get());
	if (!attached)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("the loopback device takes no BPF program for what it receives ({}): {}",
								  delay.takes_a_filter ? "clsact" : "TCX", std::strerror(errno)));
	return attached;
}

} // namespace icepath::selftest
