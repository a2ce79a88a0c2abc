// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/throughput.h"

#include <cmath>

#include "profiler/stats/percentile.h"

namespace icepath::analysis {

namespace {

constexpr double kMilliPerS = 1e3; // values are whole numbers

} // namespace

void ThroughputOf::add(const SeenBlock &unprobed)
{
	if (const auto rate = unprobed.messages.sent.per_s())
		sent_per_s_.push_back(*rate);
	if (const auto rate = unprobed.messages.received.per_s()) {
		received_per_s_.push_back(*rate);
		received_mhz_.add({static_cast<uint64_t>(std::llround(*rate * kMilliPerS))}, unprobed.block.opening);
	}
}

Throughput ThroughputOf::take(stats::ClusteredBy clustered) const
{
	const auto median = [](const std::vector<double> &rates) {
		return rates.empty() ? std::nullopt : std::optional(stats::median(rates));
	};
	Throughput rates = {median(sent_per_s_), median(received_per_s_), {}};
	if (const auto of_p50 = stats::describe(received_mhz_, clustered).intervals[0])
		rates.received_interval = stats::Interval{of_p50->low / kMilliPerS, of_p50->high / kMilliPerS};
	return rates;
}

} // namespace icepath::analysis
