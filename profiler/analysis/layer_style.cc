// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/layer_style.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace icepath::analysis {

LayerKind kind_of(model::Layer layer, model::Part part, Code code)
{
	using model::Part;
	if (part == Part::IdleExit)
		return LayerKind::Waking;
	if (part == Part::Preempted)
		return LayerKind::Disturbed;
	if (part == Part::Backpressure || part == Part::Backlog || part == Part::Held)
		return LayerKind::Queued;
	if (layer == model::Layer::Interrupt && part == Part::Softirq)
		return LayerKind::Kernel;
	const LayerKind kind = style_of(layer).kind;
	if (kind == LayerKind::YourCode && code == Code::OfLibrary)
		return LayerKind::Library;
	if (kind == LayerKind::Relay && code == Code::OfPrograms)
		return layer == model::Layer::RelayUser ? LayerKind::YourCode : LayerKind::Kernel;
	return kind;
}

std::array<double, kLayerKinds> by_kind(const std::vector<LayerRow> &rows, bool of_library)
{
	std::array<double, kLayerKinds> sums{};
	for (const LayerRow &row : rows)
		sums[static_cast<size_t>(kind_of(row.layer, row.part, of_library))] += row.mean_ns;
	return sums;
}

std::vector<uint64_t> apportion(const std::vector<uint64_t> &weights, uint64_t total)
{
	const long double sum = std::accumulate(weights.begin(), weights.end(), 0.0L);
	std::vector<uint64_t> parts(weights.size(), 0);
	if (sum == 0)
		return parts;
	std::vector<std::pair<long double, size_t>> remainders;
	uint64_t left = total;
	for (size_t i = 0; i < weights.size(); ++i) {
		const long double exact = static_cast<long double>(weights[i]) * static_cast<long double>(total) / sum;
		parts[i] = std::min(static_cast<uint64_t>(exact), left);
		left -= parts[i];
		remainders.emplace_back(exact - static_cast<long double>(parts[i]), i);
	}
	std::ranges::stable_sort(remainders, [](const auto &a, const auto &b) { return a.first > b.first; });
	for (size_t i = 0; i < left; ++i)
		++parts[remainders[i % remainders.size()].second];
	return parts;
}

} // namespace icepath::analysis
