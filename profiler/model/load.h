// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell's load: which side sends when, and how a receiver waits. Its numbers are in factors.h.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace icepath::model {

enum class Pattern : uint8_t { PingPong, OneWay, Throughput, Burst, FanOut, MaxRate, ReqRep, Sparse, FanIn };
enum class Wait : uint8_t { Block, Poll, Epoll, Spin, Callback };

// The words of the command line, of reports and of the container, indexed by the enum.
inline constexpr const char *kPatternNames[] = {"pingpong", "oneway", "throughput", "burst", "fanout",
												"max-rate", "reqrep", "sparse",     "fanin"};
inline constexpr const char *kWaitNames[] = {"block", "poll", "epoll", "spin", "callback"};
inline constexpr Wait kWaits[] = {Wait::Block, Wait::Poll, Wait::Epoll, Wait::Spin, Wait::Callback};
static_assert(std::size(kWaits) == std::size(kWaitNames));
constexpr std::string_view name(Pattern pattern) { return kPatternNames[static_cast<size_t>(pattern)]; }
constexpr std::string_view name(Wait wait) { return kWaitNames[static_cast<size_t>(wait)]; }

// Whether the receiver answers each message before the next one is sent. Messages n·r to n·r + r-1 of side 1 answer
// message n of side 0, where r is Levels::responses.
constexpr bool is_answered(Pattern pattern) { return pattern == Pattern::PingPong || pattern == Pattern::ReqRep; }
// Whether the receiver tries again instead of sleeping.
constexpr bool never_sleeps(Wait wait) { return wait == Wait::Poll || wait == Wait::Spin; }

// Limits that a rate must keep in a block: the share of lost messages, and the p99 counted from each message's due
// time. So a sender that falls behind its schedule doesn't reach the rate.
struct RateLimits {
	double max_loss = 0; // 0 to below 1
	uint64_t max_p99_ns = 1'000'000; // above 0
	friend bool operator==(const RateLimits &, const RateLimits &) = default;
};

} // namespace icepath::model
