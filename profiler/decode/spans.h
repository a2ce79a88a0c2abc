// SPDX-License-Identifier: Apache-2.0
#pragma once
// Times during which something went on, and whether others overlap them.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace icepath::decode {

struct Span {
	uint64_t begin_ns = 0, end_ns = 0; // once in order: end_ns of the latest that began until then
};

using Spans = std::vector<Span>; // by begin

inline void put_in_order(Spans &spans)
{
	std::ranges::sort(spans, {}, &Span::begin_ns);
	uint64_t reach_ns = 0;
	for (Span &span : spans)
		span.end_ns = reach_ns = std::max(reach_ns, span.end_ns);
}

// Whether one of them has an instant in [begin_ns, end_ns].
inline bool overlaps(const Spans &spans, uint64_t begin_ns, uint64_t end_ns)
{
	const auto after = std::ranges::partition_point(spans, [&](const Span &span) { return span.begin_ns <= end_ns; });
	return after != spans.begin() && std::prev(after)->end_ns > begin_ns;
}

} // namespace icepath::decode
