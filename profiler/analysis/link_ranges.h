// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests between each two programs by latency, with their paths: the typical ones, the slowest ones, the slowest of
// all, and one that was asked for. Where programs make no requests, as over pipes, their messages take the place.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/analysis/followed_messages.h"
#include "profiler/analysis/latency_ranges.h"
#include "profiler/analysis/links.h"
#include "profiler/stats/percentile.h"

namespace icepath::analysis {

struct LinkRanges {
	std::string client, server; // as of the link
	model::StreamKind kind = model::StreamKind::UnixStream;
	bool is_of_requests = true, to_server = true; // otherwise of messages, and of which
	uint64_t count = 0; // also of those without a path
	size_t windows = 0; // that have some
	TypicalAndTail ranges;
	std::optional<WorstMessage> slowest; // with a path. Its name: see MessageName
	bool holds(const Exchange &one) const
	{
		return one.is_request == is_of_requests && (one.is_request || one.to_server == to_server);
	}
};

// The request that was asked for; the message, if it is none.
struct AskedExchange {
	size_t link = 0; // index
	Exchange what;
	WorstMessage message;
};

struct RangesOfLinks {
	AttachedResult result;
	std::vector<LinkRanges> links; // as many as the result's, in the same order
	std::optional<AskedExchange> asked; // nothing: there is no such one
};

// Reads the run twice.
RangesOfLinks ranges_of_links(const std::string &run, stats::Percentile tail_from,
							  const std::optional<MessageName> &asked);

} // namespace icepath::analysis
