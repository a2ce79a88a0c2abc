// SPDX-License-Identifier: Apache-2.0
#pragma once
// What stands for the value of an option in help, man pages and docs/options.md, and what completion offers there. An
// enumeration is "{none,soft,full}": see one_of().
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

namespace icepath::cli {

namespace value_name {

inline constexpr const char *kTarget = "TARGET", *kRun = "RUN", *kFile = "FILE", *kFolder = "FOLDER",
							*kFileOrFolder = "FILE|FOLDER", *kQos = "POLICY=VALUE", *kLimit = "LIMIT=VALUE",
							*kInjection = "INJECTION", *kGroup = "GROUP", *kPid = "PID", *kCpu = "CPU", *kCpus = "CPUS",
							*kTime = "TIME", *kSize = "SIZE", *kCount = "N", *kHertz = "HZ", *kShare = "SHARE",
							*kPercentile = "PERCENTILE", *kName = "NAME", *kText = "TEXT",
							*kMessage = "ROUND:SEQ[:back]", *kArm = "ARM", *kArmParts = "NAME:KEY=VALUE",
							*kExpectation = "EXPECTATION";

} // namespace value_name

template <size_t N> std::string one_of(const char *const (&names)[N])
{
	return fmt::format("{{{}}}", fmt::join(names, ","));
}

// What may be offered for a value. A word that ends in "=" or ":" isn't the whole value.
struct Offer {
	enum class Of { Nothing, Words, Targets, RunDirectories, Files, Folders, Groups } of = Of::Nothing;
	std::vector<std::string> words;
	bool by_policy = false; // words are POLICY=VALUE; after a comma only values of the same policy follow
};

Offer offer_for(std::string_view value_name);

} // namespace icepath::cli
