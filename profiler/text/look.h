// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a terminal shows kinds of time.
#include <cstddef>
#include <string>

#include "profiler/analysis/layer_style.h"

namespace icepath::text {

struct Look {
	bool colour = false;
	bool unicode = false;
};

// In characters that the terminal can show: ASCII only without Unicode.
std::string spelled(const std::string &text, const Look &look);

// The symbol of `kind`, `times` times.
std::string kind_symbol(analysis::LayerKind kind, size_t times, const Look &look);

} // namespace icepath::text
