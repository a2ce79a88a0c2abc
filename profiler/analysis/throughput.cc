// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/throughput.h"

#include "profiler/stats/percentile.h"

namespace icepath::analysis {

void ThroughputOf::add(const SeenBlock &unprobed)
{
	if (const auto rate = unprobed.messages.sent.per_s())
		sent_per_s_.push_back(*rate);
	if (const auto rate = unprobed.messages.received.per_s())
		received_per_s_.push_back(*rate);
}

Throughput ThroughputOf::take() const
{
	const auto median = [](const std::vector<double> &rates) {
		return rates.empty() ? std::nullopt : std::optional(stats::median(rates));
	};
	return {median(sent_per_s_), median(received_per_s_)};
}

} // namespace icepath::analysis
