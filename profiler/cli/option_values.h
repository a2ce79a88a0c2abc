// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parsers of option values. Each throws Failure(Usage) with a message that names the option.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "profiler/analysis/followed_messages.h"
#include "profiler/failure.h"
#include "profiler/isolation/tune.h"
#include "profiler/stats/percentile.h"

namespace icepath::cli {

uint64_t bytes_of(const std::string &text); // of --sizes: 1 to 1 GiB
uint64_t nanoseconds_of(const std::string &option, const std::string &text, double most_s = 1); // up to `most_s`
double seconds_of(const std::string &text); // of --duration
double watched_seconds_of(const std::string &text); // of --duration of attach
double loss_of(const std::string &text); // of --max-loss: a share up to 0.5
double delta_of(const std::string &text); // of --delta: a share from 0.001 to 0.5
stats::Percentile percentile_of(const std::string &text); // of --tail: 50 to 99.999
analysis::MessageName message_of(const std::string &text); // of --message: ROUND:SEQ or ROUND:SEQ:back

// "net.core.rmem_max=8M": one for each limit that is named, at least so much.
std::vector<isolation::Tuning> tunings_of(const std::vector<std::string> &texts);

std::vector<pid_t> processes_of(const std::vector<std::string> &texts); // of --pid: at least one

// The comma-separated items of a list option, which may be repeated. Rejects empty items, which CLI11 would skip.
std::vector<std::string> items_of(const std::string &option, const std::vector<std::string> &texts);

// Converts words to enum values. `names`: the word of each value.
template <class Value, size_t N>
Value value_of(const std::string &option, const std::string &text, const char *const (&names)[N])
{
	const auto found = std::find(std::begin(names), std::end(names), text);
	if (found == std::end(names))
		throw Failure(ExitCode::Usage, fmt::format("{}: \"{}\" isn't one of {}", option, text, fmt::join(names, ", ")));
	return static_cast<Value>(found - std::begin(names));
}

template <class Value, size_t N>
std::vector<Value> values_of(const std::string &option, const std::vector<std::string> &texts,
							 const char *const (&names)[N])
{
	std::vector<Value> values;
	for (const std::string &text : items_of(option, texts))
		values.push_back(value_of<Value>(option, text, names));
	return values;
}

} // namespace icepath::cli
