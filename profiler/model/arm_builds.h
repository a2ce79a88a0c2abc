// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether two arms of which different builds were asked for had loaded different ones.
#include <algorithm>

#include "profiler/model/arm.h"

namespace icepath::model {

// The same build, wherever its file is and whichever target had loaded it.
inline bool is_same_build(const LoadedFile &a, const LoadedFile &b)
{
	return a.build_id.empty() || b.build_id.empty() ? a.path == b.path && a.version == b.version
													: a.build_id == b.build_id;
}

// Whether all that an end of `arm` had loaded, `other` had as well.
inline bool has_loaded_all_of(const Arm &other, const Arm &arm)
{
	return std::ranges::all_of(arm.loaded, [&](const LoadedFile &file) {
		return std::ranges::any_of(
			other.loaded, [&](const LoadedFile &one) { return one.target == file.target && is_same_build(one, file); });
	});
}

inline bool names_a_build(const Arm &arm) { return !arm.plugins.empty() || !arm.library_path.empty(); }

// Another build was asked for, and both had loaded the same one.
inline bool is_one_build(const Arm &a, const Arm &b)
{
	return (names_a_build(a) || names_a_build(b)) && !a.loaded.empty() && !b.loaded.empty() &&
		   has_loaded_all_of(a, b) && has_loaded_all_of(b, a);
}

} // namespace icepath::model
