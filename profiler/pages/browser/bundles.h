// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scripts and styles of this folder, each bundled by the build with what it imports.
#include <string_view>

namespace icepath::pages {

extern const std::string_view kFlameScript, kFlameStyle; // of the flame graph's SVG
extern const std::string_view kPageScript, kPageStyle; // of report.html

} // namespace icepath::pages
