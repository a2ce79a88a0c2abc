// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/cell_openings.h"

#include <cmath>
#include <map>
#include <set>

namespace icepath::analysis {

bool CellOpenings::drifted(size_t cells) const
{
	constexpr double kByChance = 0.01;
	return drift && drift->p * static_cast<double>(cells) < kByChance;
}

void OpeningsOf::add_latencies(const model::Block &block) { unprobed_.push_back(block.opening); }

void OpeningsOf::add_p50(const model::Block &block, double p50_ns)
{
	p50s_.push_back({block.opening, block.window->probed, p50_ns});
	begin_ns_.push_back(block.window->begin.monotonic_ns);
}

CellOpenings OpeningsOf::take() const
{
	CellOpenings openings;
	openings.count = std::set<uint32_t>(unprobed_.begin(), unprobed_.end()).size();
	openings.p50s = stats::look_at_openings(p50s_);
	// Blocks of one opening are more alike than those of two, so an opening is one value.
	struct Mean {
		double count = 0, log = 0, at_ns = 0;
	};
	std::map<uint64_t, Mean> means; // by opening or by block
	const bool by_opening = openings.count >= stats::kLeastOfTrend;
	for (size_t i = 0; i < p50s_.size(); ++i) {
		if (p50s_[i].treated || p50s_[i].value <= 0)
			continue;
		Mean &mean = means[by_opening ? p50s_[i].opening : i];
		mean.log += std::log(p50s_[i].value);
		mean.at_ns += static_cast<double>(begin_ns_[i]);
		++mean.count;
	}
	std::vector<stats::TimedValue> values;
	for (const auto &[key, mean] : means)
		values.push_back({static_cast<uint64_t>(mean.at_ns / mean.count), std::exp(mean.log / mean.count)});
	openings.drift = stats::trend_of(values);
	return openings;
}

} // namespace icepath::analysis
