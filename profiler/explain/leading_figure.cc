// SPDX-License-Identifier: Apache-2.0
#include "profiler/explain/leading_figure.h"

#include "profiler/analysis/cell_result.h"
#include "profiler/model/cell_title.h"

namespace icepath::explain {
namespace {

// Nothing where the report shows none.
std::optional<double> p50_of(const analysis::CellResult &cell)
{
	const auto p50 = cell.times.latency.percentiles[0];
	return p50 && *p50 > 0 && !analysis::lies_between_modes(cell) ? std::optional(number(*p50)) : std::nullopt;
}

std::optional<double> ratio_of_p50s(const analysis::RunResult &result, size_t slower, size_t faster)
{
	const auto a = p50_of(result.cells[slower]), b = p50_of(result.cells[faster]);
	return a && b ? std::optional(*a / *b) : std::nullopt;
}

} // namespace

std::optional<double> other_ratio_by_p50(const analysis::RunResult &result, size_t slower, size_t faster,
										 const stats::RoundRatio &ratio)
{
	const auto by_p50 = ratio_of_p50s(result, slower, faster);
	return by_p50 && (*by_p50 < ratio.interval.low || *by_p50 > ratio.interval.high) ? by_p50 : std::nullopt;
}

std::vector<Finding> other_orders_by_p50(const analysis::RunResult &result)
{
	std::vector<Finding> findings;
	for (const analysis::RankedGroup &group : result.ranking) {
		std::optional<Finding> most;
		double others = 0; // pairs
		for (const analysis::ComparedPair &pair : group.pairs) {
			const auto by_p50 = ratio_of_p50s(result, pair.slower, pair.faster);
			if (!pair.told_apart() || !by_p50 || *by_p50 >= 1)
				continue;
			++others;
			if (!most || *by_p50 < *most->value)
				most = Finding{.id = FindingId::OtherOrderByP50,
							   .cell = pair.faster,
							   .value = by_p50,
							   .limit = 1,
							   .evidence = {{Fact::OtherCell, model::title(result.cells[pair.slower].cell)},
											{Fact::LowNs, *p50_of(result.cells[pair.slower])},
											{Fact::HighNs, *p50_of(result.cells[pair.faster])}}};
		}
		if (most) {
			most->evidence.push_back({Fact::Of, others});
			findings.push_back(std::move(*most));
		}
	}
	return findings;
}

} // namespace icepath::explain
