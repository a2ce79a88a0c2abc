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

// The symbol of `kind`, `times` times.
std::string kind_symbol(analysis::LayerKind kind, size_t times, const Look &look);

} // namespace icepath::text
