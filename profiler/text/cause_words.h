// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of where a cause comes from (analysis/origin.h), and of what took time by name.
#include <string>
#include <string_view>

#include "profiler/analysis/layer_style.h"
#include "profiler/analysis/origin.h"
#include "profiler/explain/culprit_sums.h"

namespace icepath::text {

// Where it isn't named after a thread or an interrupt: "a task of others". The other one: of several.
std::string_view word(analysis::Origin origin, analysis::Code code = analysis::Code::OfSides);
std::string_view words_of_many(analysis::Origin origin, analysis::Code code = analysis::Code::OfSides);

// "task python3", "nng:poll (a thread of its own)", "NET_RX softirq"
std::string words_of(const explain::CulpritSum &sum);

} // namespace icepath::text
