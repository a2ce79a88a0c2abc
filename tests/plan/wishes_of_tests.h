// SPDX-License-Identifier: Apache-2.0
#pragma once
// Targets and wishes for tests of plans.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "profiler/failure.h"
#include "profiler/plan/plan.h"

namespace icepath::plan {

using model::Pattern;
using model::Wait;

inline constexpr targets::Waits kEveryWait = {model::Wait::Block, model::Wait::Poll, model::Wait::Epoll,
											  model::Wait::Spin};

inline Target target(const std::string &name, targets::Waits waits = kEveryWait, uint64_t max_payload_bytes = 1 << 20)
{
	Target one;
	one.plugin = "/lib/icepath-" + name + ".so";
	one.name = name;
	one.waits = waits;
	one.mechanisms = {model::Mechanism::Socket};
	one.max_payload_bytes = max_payload_bytes;
	one.max_payload_why = "the limit of " + name;
	return one;
}

inline Target floor_target()
{
	Target one = target("null", {model::Wait::Spin});
	one.traits.add(model::Trait::NotIpc);
	return one;
}

inline Target missing_target()
{
	Target one = target("gone", kEveryWait, 0);
	one.why_not = "its library isn't there";
	return one;
}

inline Wishes wish(std::vector<std::string> targets = {})
{
	Wishes wishes;
	wishes.targets = std::move(targets);
	wishes.patterns = {Pattern::PingPong};
	wishes.sizes = {64};
	return wishes;
}

inline std::vector<std::string> texts_of(const Plan &plan)
{
	std::vector<std::string> texts;
	for (const model::Cell &cell : plan.cells)
		texts.push_back(fmt::format("{} {} {} {}", cell.target, cell.pattern == Pattern::PingPong ? "pp" : "ow",
									cell.payload_bytes, name(cell.wait)));
	return texts;
}

inline bool tells(const Plan &plan, const std::string &what)
{
	return std::ranges::any_of(plan.notices,
							   [&](const std::string &notice) { return notice.find(what) != std::string::npos; });
}

inline void expect_refused(const Wishes &wishes, const std::vector<Target> &targets, ExitCode code,
						   std::initializer_list<std::string> says)
{
	try {
		make(wishes, targets, {0, 1});
		ADD_FAILURE() << "it was planned";
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), code);
		for (const std::string &word : says)
			EXPECT_NE(std::string(failure.what()).find(word), std::string::npos) << failure.what();
	}
}

} // namespace icepath::plan
