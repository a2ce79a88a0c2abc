// SPDX-License-Identifier: Apache-2.0
#pragma once
// Variables of a run's arm (`icepath run --arm`), by which a library finds its configuration. Adapters give libraries
// settings of their own, for a network of the run's own; what an arm sets is left as it is, or added to these.
#include <cstdlib>
#include <string>
#include <string_view>

namespace icepath::plugin_kit {

// Whether the arm sets it.
inline bool is_of_arm(std::string_view variable)
{
	const char *const names = std::getenv("ICEPATH_ARM_VARIABLES"); // separated by ':'
	return (':' + std::string(names ? names : "") + ':').find(':' + std::string(variable) + ':') != std::string::npos;
}

// Empty: the arm doesn't set it.
inline std::string value_of_arm(const char *variable)
{
	const char *const value = is_of_arm(variable) ? std::getenv(variable) : nullptr;
	return value ? value : "";
}

} // namespace icepath::plugin_kit
