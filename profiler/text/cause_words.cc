// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/cause_words.h"

#include <fmt/format.h>

#include <array>

namespace icepath::text {
namespace {

using analysis::Origin;

struct OfOrigin {
	std::string_view one, many;
};
constexpr std::array<OfOrigin, analysis::kOriginIds.size()> kOrigins = {
	{{"its own packets", "its own packets"},
	 {"a thread of its own", "threads of its own"},
	 {"its own timer", "its own timers"},
	 {"the scheduler's tick", "the scheduler's tick"},
	 {"others' interrupt", "others' interrupts"},
	 {"a task of others", "tasks of others"},
	 {"another cell of this run", "other cells of this run"},
	 {"a control group", "control groups"},
	 {"the idle CPU", "the idle CPU"},
	 {"no record tells", "no record tells"}}};

OfOrigin words_of(Origin origin, analysis::Code code)
{
	if (origin == Origin::OwnThread && code == analysis::Code::OfPrograms)
		return {"a watched program", "watched programs"};
	return kOrigins.at(static_cast<size_t>(origin));
}

} // namespace

std::string_view word(Origin origin, analysis::Code code) { return words_of(origin, code).one; }
std::string_view words_of_many(Origin origin, analysis::Code code) { return words_of(origin, code).many; }

std::string words_of(const explain::CulpritSum &sum)
{
	using Kind = path::Culprit::Kind;
	if (sum.kind == Kind::Unknown)
		return "unknown (no record)";
	if (is_own(sum.origin) ? !(sum.origin == Origin::OwnTimer && sum.ended_sleep) : sum.origin == Origin::OtherTarget)
		return fmt::format("{} ({})", sum.name, word(sum.origin));
	return sum.kind == Kind::Task && !sum.name.starts_with("task ") ? "task " + sum.name : sum.name;
}

} // namespace icepath::text
