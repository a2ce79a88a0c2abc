// SPDX-License-Identifier: Apache-2.0
#pragma once
// An arm: one of several builds or configurations of the same targets that a run measures beside each other.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace icepath::model {

// A file that an end of a target had loaded when the arm was looked at, before the first block.
struct LoadedFile {
	std::string target; // whose end had it
	std::string path; // of the plug-in or of a library, as the kernel names it
	std::string version = {}; // of the library, as the plug-in tells; empty: not told
	std::string build_id = {}; // of the linker, in hex; empty: the file has none
	friend bool operator==(const LoadedFile &, const LoadedFile &) = default;
};

// What the user gave: paths are absolute and have no link on their way; empty: what icepath has without it.
struct Arm {
	std::string name;
	bool is_control = false; // the first arm once more: what differs between the two isn't due to a build
	std::string plugins = {}, library_path = {}, config = {}; // folder, folder, file
	std::vector<std::pair<std::string, std::string>> environment = {}; // in the order given
	std::vector<LoadedFile> loaded = {};
	friend bool operator==(const Arm &, const Arm &) = default;
};

inline constexpr size_t kLongestArmName = 32;

// Of letters, digits, '_' and '-'; so no other word of a key or of an option can be taken for one.
inline bool is_arm_name(std::string_view name)
{
	constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	return !name.empty() && name.size() <= kLongestArmName && name.find_first_not_of(kAllowed) == name.npos;
}

inline std::string control_name(const std::string &first) { return first + "-again"; }

inline const Arm *find_arm(const std::vector<Arm> &arms, std::string_view name)
{
	const auto at = std::ranges::find(arms, name, &Arm::name);
	return at == arms.end() ? nullptr : &*at;
}

} // namespace icepath::model
