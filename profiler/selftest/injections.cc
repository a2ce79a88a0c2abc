// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/injections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "profiler/failure.h"

namespace icepath::selftest {
namespace {

using model::Layer;
using model::Part;

constexpr uint64_t kUs = 1000, kMs = 1'000'000;

// One message in flight at a time, so that no delay propagates to the next message as queueing.
constexpr double kAlone = 400;
constexpr double kAloneAmongThrottled = 200, kAloneAmongSleepers = 100;

// Of two messages sent at once, the second waits while the receiver is busy with the first.
constexpr Burst kTwoAtOnce = {2, 4 * kMs};

// The layers for the time of a runnable thread without a CPU; which one depends on what it was about to do.
const std::vector<Landing> kNoCpu = {{Layer::Runqueue}, {Layer::Preempted}, {Layer::Queue, Part::Preempted}};

const std::vector<Injection> kAll = {
	{"sender-busy",
	 "the sender computes for 500 µs between send and the sending call",
	 {"uds-stream", kAlone},
	 {},
	 {500 * kUs, 0},
	 {{Layer::SenderUser}}},
	{"receiver-busy",
	 "the receiver computes for 600 µs instead of 100 µs after each message, and the second of two comes meanwhile",
	 {"uds-stream", 0, kTwoAtOnce},
	 {0, 100 * kUs},
	 {0, 600 * kUs},
	 {{Layer::Queue, Part::Busy}}},
	{"hog",
	 "a task of the scheduler's default policy and of nice -20 on the receiver's CPU that runs for 1.5 ms of every "
	 "2",
	 {"uds-stream", kAlone, {}, nullptr, false},
	 {},
	 {},
	 kNoCpu,
	 "selftest-hog",
	 true},
	{"fifo-hog",
	 "a SCHED_FIFO task on the receiver's CPU that runs for 1.5 ms of every 2",
	 {"uds-stream", kAlone},
	 {},
	 {},
	 kNoCpu,
	 "selftest-fifo",
	 true},
	{"throttle",
	 "the receiver in a control group of 5 ms CPU time in each 20, which another task in it uses up",
	 {"uds-stream", kAloneAmongThrottled, {}, nullptr, false},
	 {},
	 {},
	 kNoCpu,
	 "throttled",
	 true},
	{kDeepIdle,
	 "the receiver's CPU may idle as deeply as it likes, which is forbidden otherwise; it comes back with cold caches",
	 {"uds-stream", kAloneAmongSleepers, {}, nullptr, true, true},
	 {},
	 {},
	 {{Layer::Wakeup}, {Layer::Runqueue}, {Layer::ReceiverKernel}},
	 "",
	 true,
	 false,
	 "either CPUs here come back from deep idle as fast as from any, or others kept the receiver's from idling, or "
	 "noise hides it"},
	{"receiver-asleep",
	 "the receiver sleeps for 600 µs instead of 100 µs before it asks, and the second of two messages comes "
	 "meanwhile",
	 {"selftest/asleep", 0, kTwoAtOnce, "selftest/asleep-briefly"},
	 {},
	 {},
	 {{Layer::Queue, Part::Blocked}}},
	{"held",
	 "the sender's TCP socket is corked, and uncorked 500 µs after the sending call instead of at once",
	 {"selftest/held", kAlone, {}, "selftest/held-not"},
	 {},
	 {},
	 {{Layer::Network, Part::Held}}},
	{"device-delay",
	 "each packet waits for 300 µs behind the loopback device of a network namespace",
	 {"selftest-network/udp", kAlone},
	 {},
	 {},
	 {{Layer::Network}},
	 "",
	 true},
	{"device-queue",
	 "each packet waits for 450 µs instead of 50 µs in a device's queue between two network namespaces",
	 {"selftest-queue/late", kAlone, {}, "selftest-queue/soon"},
	 {},
	 {},
	 {{Layer::Network}}},
	{"full-queue",
	 "the pipe is full, and the receiver makes room after 1000 µs instead of 100 µs",
	 {"selftest/full-queue", kAlone, {}, "selftest/full-queue-briefly"},
	 {},
	 {},
	 {{Layer::Blocked, Part::Backpressure}}},
	{"lock",
	 "before the sending call the sender waits for a futex that another process keeps for 1000 µs instead of 100 "
	 "µs",
	 {"selftest/lock", kAlone, {}, "selftest/lock-briefly"},
	 {},
	 {},
	 {{Layer::Blocked, Part::Lock}}},
	{"fault",
	 "before the sending call the sender touches a page that comes after 1000 µs instead of 100 µs (userfaultfd)",
	 {"selftest/fault", kAlone, {}, "selftest/fault-briefly"},
	 {},
	 {},
	 {{Layer::Blocked, Part::Fault}}},
	{"relay",
	 "a relay holds each message for 600 µs instead of 100 µs, and takes and answers heartbeats meanwhile",
	 {"selftest-relay/late", kAlone, {}, "selftest-relay/soon"},
	 {},
	 {},
	 {{Layer::RelayUser}},
	 "",
	 false,
	 true,
	 "",
	 "sk_data_ready"}, // finds the other end of a connection, to which the bytes come
	{"interrupt-storm",
	 "interrupts of 1.6 ms, one every 5 ms, on the CPU of a sender that computes before it sends",
	 {"selftest/work", kAlone},
	 {},
	 {},
	 {{Layer::Interrupt}},
	 "timer interrupt (a perf event's timer)",
	 true},
};

} // namespace

const std::vector<Injection> &injections() { return kAll; }

std::vector<const Injection *> injections_named(const std::vector<std::string> &names)
{
	std::vector<std::string_view> known;
	for (const Injection &injection : injections())
		known.push_back(injection.name);
	for (const std::string &name : names)
		if (std::ranges::find(known, name) == known.end())
			throw Failure(ExitCode::Usage, fmt::format("--only: there is no injection \"{}\"; there are {}", name,
													   fmt::join(known, ", ")));
	std::vector<const Injection *> chosen;
	for (const Injection &injection : injections())
		if (names.empty() || std::ranges::find(names, injection.name) != names.end())
			chosen.push_back(&injection);
	return chosen;
}

bool lands_in(const Injection &injection, model::Layer layer, model::Part part)
{
	return std::ranges::any_of(injection.lands, [&](const Landing &landing) {
		return landing.layer == layer && landing.part.value_or(part) == part;
	});
}

std::string text_of(const std::vector<Landing> &landings)
{
	std::vector<std::string> names;
	for (const Landing &landing : landings)
		names.push_back(landing.part ? fmt::format("{}/{}", model::name(landing.layer), model::name(*landing.part))
									 : std::string(model::name(landing.layer)));
	return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace icepath::selftest
