// SPDX-License-Identifier: Apache-2.0
#include "profiler/isolation/tune.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>

#include "profiler/isolation/memory_info.h"

namespace icepath::isolation {
namespace {

using cpuset::Step;
using cpuset::StepState;

// Nothing: the text isn't a whole number.
std::optional<uint64_t> number_in(std::string_view text)
{
	uint64_t number = 0;
	const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// How many huge pages may be added to those that there are.
uint64_t most_new_pages(const Tree &tree)
{
	const uint64_t page_kib = memory_info(tree, "Hugepagesize");
	return page_kib == 0 ? 0 : memory_info(tree, "MemAvailable") / 2 / page_kib;
}

// `value`: what was wanted.
Step told(const Limit &limit, StepState state, const std::string &old_value, uint64_t value, const std::string &why)
{
	switch (state) {
	case StepState::Done:
		return {limit.name, state, fmt::format("raised from {} to {}", old_value, value), ""};
	case StepState::AlreadySo:
		return {limit.name, state, fmt::format("it is {}", old_value), ""};
	case StepState::Left:
		return {limit.name, state, fmt::format("it is {}, and would be raised to {}", old_value, value), ""};
	case StepState::NotPossible:
		break;
	}
	return {limit.name, state, fmt::format("can't be set to {}: {}", value, why), ""};
}

Step raise(Changes &changes, const Limit &limit, uint64_t value)
{
	std::string old_value, refused;
	const Outcome outcome = changes.make(*place_of(limit.knob), [&](const std::string &now) {
		old_value = now;
		const uint64_t number = number_in(now).value_or(UINT64_MAX);
		if (number >= value)
			return now;
		if (limit.most == kHalfOfMemory && value - number > most_new_pages(changes.tree())) {
			refused = "that is more than half of the memory that is available";
			return now;
		}
		return std::to_string(value);
	});
	if (!refused.empty())
		return told(limit, StepState::NotPossible, old_value, value, refused);
	return told(limit, outcome.state, old_value, value, outcome.why);
}

Step raise_own(const Limit &limit, uint64_t value)
{
	std::string path = std::string("proc/sys/") + limit.name;
	std::ranges::replace(path, '.', '/');
	const Fd file = Tree{""}.open(path, O_RDWR);
	const std::string old_value = Tree{""}.read(path).value_or("");
	const auto number = number_in(old_value);
	if (!file || !number)
		return told(limit, StepState::NotPossible, "", value, std::strerror(errno));
	if (*number >= value)
		return told(limit, StepState::AlreadySo, old_value, value, "");
	const std::string text = std::to_string(value);
	if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
		return told(limit, StepState::NotPossible, "", value, std::strerror(errno));
	return told(limit, StepState::Done, old_value, value, "");
}

} // namespace

bool is_of_the_machine(const Tuning &tuning) { return kLimits[tuning.limit].knob != nullptr; }

bool is_allowed(const Tuning &tuning)
{
	return tuning.limit < std::size(kLimits) && tuning.value > 0 && tuning.value <= kLimits[tuning.limit].most;
}

std::vector<Step> tune(Changes &changes, const std::vector<Tuning> &tunings)
{
	std::vector<Step> steps;
	for (const Tuning &tuning : tunings)
		steps.push_back(raise(changes, kLimits[tuning.limit], tuning.value));
	return steps;
}

std::vector<Step> tune_ipc_namespace(const std::vector<Tuning> &tunings, bool is_own)
{
	std::vector<Step> steps;
	for (const Tuning &tuning : tunings)
		if (!is_of_the_machine(tuning)) {
			const Limit &limit = kLimits[tuning.limit];
			steps.push_back(is_own ? raise_own(limit, tuning.value)
								   : told(limit, StepState::NotPossible, "", tuning.value,
										  "the run has no IPC namespace of its own"));
		}
	return steps;
}

} // namespace icepath::isolation
