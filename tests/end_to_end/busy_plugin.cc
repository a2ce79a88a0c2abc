// SPDX-License-Identifier: Apache-2.0
// A target for tests that disturbs its neighbours: pipes, and in each process a thread that computes for 300 µs of each
// millisecond, as the housekeeping of a library may.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <thread>

#include "plugin_kit/pipe_channel.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kPeriodNs = 1'000'000, kBusyNs = 300'000;

icepath_target busy_target()
{
	icepath_target it = pipe_target("busy", "pipes, beside a thread in each process that computes at times");
	it.mechanisms |= ICEPATH_USES_LIBRARY_THREADS; // so that it has the CPU of its side
	return it;
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target busy = busy_target();
	return n == 0 ? &busy : nullptr;
}

bool make_pipe(const char *, int ends[2]) { return pipe2(ends, O_CLOEXEC) == 0; }

[[noreturn]] void keep_house()
{
	prctl(PR_SET_NAME, "housekeeping");
	for (;;) {
		for (const uint64_t end_ns = icepath_now_ns() + kBusyNs; icepath_now_ns() < end_ns;) {
		}
		usleep((kPeriodNs - kBusyNs) / 1000);
	}
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	[[maybe_unused]] static const bool started = [] {
		std::thread(keep_house).detach();
		return true;
	}();
	return open_pipes(how, *target(0), make_pipe, endpoint, address);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin its = pipe_table("busy", target, open_end);
		its.library_version = "busy 1";
		return its;
	}();
	return &plugin;
}
