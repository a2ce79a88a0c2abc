// SPDX-License-Identifier: Apache-2.0
#pragma once
// The factors of a cell: numbers that a run may vary. From a row of kFactors follow an option with its range, the
// plan's combinations, the keys in the container and in run.json, and the words in titles. Workers get the levels as
// they are.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include "profiler/model/load.h"

namespace icepath::model {

// The level of each factor. The initial values are neutral: those of a cell whose pattern lacks the factor.
struct Levels {
	uint64_t senders = 1, receivers = 1;
	uint64_t responses = 1; // to each message that is answered
	uint64_t demand = 1; // messages due at once
	uint64_t recovery_ns = 1'000'000'000; // from one burst to the next, whether or not the receiver has recovered
	uint64_t idle_channels = 0; // open between the first two sides that exchange messages, and never used
	uint64_t sender_user_ns = 0; // computing between `send` and the sending call
	uint64_t receiver_busy_ns = 0; // computing after `recv`, before the next request for a message
	uint64_t fifo_priority = 0; // of the sides' threads under SCHED_FIFO; 0: SCHED_OTHER
	friend bool operator==(const Levels &, const Levels &) = default;
};

constexpr bool injects(const Levels &levels) { return levels.sender_user_ns != 0 || levels.receiver_busy_ns != 0; }

struct Factor {
	enum class Unit : uint8_t { Count, Nanoseconds, FifoPriority };

	uint64_t Levels::*level;
	const char *key; // in the container and in run.json
	const char *option;
	const char *help;
	Unit unit;
	uint64_t least, most; // range of the option
	std::span<const uint64_t> usual; // levels that are measured without the option
	bool (*varies)(Pattern); // nullptr: with every pattern
	bool beside_neutral; // each level is measured together with the neutral one
	const char *
		title; // format of the level in title_unit; titles have it if it isn't neutral or if `varies` takes the pattern
	double title_unit;
};

namespace factor {

inline constexpr uint64_t kFour[] = {4}, kResponses[] = {1, 10}, kDemands[] = {10, 100}, kNone[] = {0},
						  kRecoveries[] = {1'000'000, 10'000'000};
constexpr bool in_fan_in(Pattern pattern) { return pattern == Pattern::FanIn; }
constexpr bool in_fan_out(Pattern pattern) { return pattern == Pattern::FanOut; }
constexpr bool in_reqrep(Pattern pattern) { return pattern == Pattern::ReqRep; }
constexpr bool in_burst(Pattern pattern) { return pattern == Pattern::Burst; }

} // namespace factor

// In the order of titles.
inline constexpr Factor kFactors[] = {
	{&Levels::senders, "senders", "--senders", "senders that one receiver of fanin takes from", Factor::Unit::Count, 1,
	 64, factor::kFour, factor::in_fan_in, false, " from {}", 1},
	{&Levels::receivers, "receivers", "--receivers", "receivers that each message of fanout goes to",
	 Factor::Unit::Count, 1, 64, factor::kFour, factor::in_fan_out, false, " to {}", 1},
	{&Levels::responses, "responses", "--responses", "responses to each request of reqrep", Factor::Unit::Count, 1,
	 1000, factor::kResponses, factor::in_reqrep, false, " 1:{}", 1},
	{&Levels::demand, "demand", "--demand", "messages that a burst sends at once", Factor::Unit::Count, 1, 1'000'000,
	 factor::kDemands, factor::in_burst, false, " {}", 1},
	{&Levels::recovery_ns, "recovery_ns", "--recovery", "time from one burst to the next", Factor::Unit::Nanoseconds,
	 1'000, 1'000'000'000, factor::kRecoveries, factor::in_burst, false, "/{}ms", 1e6},
	{&Levels::idle_channels, "idle_channels", "--idle",
	 "channels that each cell keeps open beside those that carry its messages, and never uses", Factor::Unit::Count, 0,
	 256, factor::kNone, nullptr, false, " +{} idle", 1},
	{&Levels::sender_user_ns, "sender_user_ns", "--inject-sender",
	 "computing between the send stamp and the call, as 20us, measured beside the same cell without it",
	 Factor::Unit::Nanoseconds, 0, 1'000'000'000, factor::kNone, nullptr, true, " +{} µs sender", 1e3},
	{&Levels::receiver_busy_ns, "receiver_busy_ns", "--inject-receiver",
	 "computing of the receiver after each message, measured beside the same cell without it",
	 Factor::Unit::Nanoseconds, 0, 1'000'000'000, factor::kNone, nullptr, true, " +{} µs receiver", 1e3},
	{&Levels::fifo_priority, "fifo_priority", "--sched",
	 "scheduling policy of the sides; PRIORITY is 1 to 99, without it 1", Factor::Unit::FifoPriority, 0, 99,
	 factor::kNone, nullptr, false, " fifo:{}", 1},
};
inline constexpr size_t kFactorCount = std::size(kFactors);
static_assert(sizeof(Levels) == kFactorCount * sizeof(uint64_t), "each level has a row");

constexpr bool varies(const Factor &factor, Pattern pattern) { return !factor.varies || factor.varies(pattern); }
constexpr uint64_t neutral(const Factor &factor) { return Levels{}.*factor.level; }

// Whether a cell of the pattern may have the level.
constexpr bool can_be(const Factor &factor, Pattern pattern, uint64_t level)
{
	return level == neutral(factor) || (varies(factor, pattern) && level >= factor.least && level <= factor.most);
}

} // namespace icepath::model
