// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/link_ranges.h"

#include <map>
#include <tuple>
#include <utility>

#include "profiler/analysis/known_paths.h"

namespace icepath::analysis {
namespace {

constexpr double share_of(stats::Percentile p) { return p.per_100000 / 100'000.0; }

LinkRanges ranges_of(const Link &link, stats::Percentile tail_from)
{
	LinkRanges one{.client = link.client, .server = link.server, .kind = link.kind, .ranges = {}, .slowest = {}};
	one.is_of_requests = link.requests.answered != 0;
	one.to_server = link.to_server.latencies.count() != 0;
	const Latencies &latencies = one.is_of_requests ? link.requests.latencies
								 : one.to_server    ? link.to_server.latencies
													: link.to_client.latencies;
	one.count = latencies.count();
	if (stats::supported(one.count, stats::kP50))
		one.ranges.typical = LatencyRange{latencies.around(0.4).first, latencies.around(0.6).second, 0, {}};
	if (stats::supported(one.count, tail_from))
		one.ranges.tail = LatencyRange{latencies.around(share_of(tail_from)).first, UINT64_MAX, 0, {}};
	return one;
}

class Collector : public LinkVisitor {
public:
	Collector(RangesOfLinks &ranges, const std::optional<MessageName> &asked) : ranges_(ranges), asked_(asked)
	{
		for (size_t i = 0; i < ranges.links.size(); ++i)
			places_[{ranges.links[i].client, ranges.links[i].server, ranges.links[i].kind}] = i;
		known_.resize(ranges.links.size());
		seen_.resize(ranges.links.size());
	}

	void add(const Link &link, const Exchange &what, const path::Path &path, const path::Observations &seen) override
	{
		const auto at = places_.find({link.client, link.server, link.kind});
		if (at == places_.end())
			return; // the run has grown since it was read first
		const size_t place = at->second;
		LinkRanges &its = ranges_.links[place];
		const bool is_asked = asked_ && what.sender == asked_->round && what.send_ns == asked_->seq;
		if (is_asked && (!ranges_.asked || what.is_request))
			ranges_.asked = {place, what, named(what, path, seen)};
		if (!its.holds(what))
			return;
		seen_[place] = true;
		for (auto *range : {&its.ranges.typical, &its.ranges.tail})
			if (*range && (*range)->holds(what.ns()))
				(*range)->messages++;
		if (!is_known(path))
			return;
		known_[place]++;
		its.ranges.add(path, seen);
		if (!its.slowest || what.ns() > its.slowest->latency_ns())
			its.slowest = named(what, path, seen);
	}

	void end_window() override
	{
		for (size_t i = 0; i < ranges_.links.size(); ++i) {
			ranges_.links[i].ranges.end_block(std::exchange(known_[i], 0), windows_);
			ranges_.links[i].windows += std::exchange(seen_[i], false);
		}
		windows_++;
	}

private:
	static WorstMessage named(const Exchange &what, const path::Path &path, const path::Observations &seen)
	{
		WorstMessage message = followed(path, seen);
		message.round = what.sender;
		message.seq = what.send_ns;
		message.path.send_ns = what.send_ns; // also of one without a path
		message.path.recv_ns = what.recv_ns;
		return message;
	}

	RangesOfLinks &ranges_;
	const std::optional<MessageName> &asked_;
	std::map<std::tuple<std::string, std::string, model::StreamKind>, size_t> places_;
	std::vector<uint64_t> known_; // of the window
	std::vector<char> seen_; // likewise
	uint32_t windows_ = 0;
};

} // namespace

RangesOfLinks ranges_of_links(const std::string &run, stats::Percentile tail_from,
							  const std::optional<MessageName> &asked)
{
	RangesOfLinks ranges;
	ranges.result = analyse_attached(run);
	for (const Link &link : ranges.result.links)
		ranges.links.push_back(ranges_of(link, tail_from));
	Collector collector(ranges, asked);
	analyse_attached(run, nullptr, &collector);
	return ranges;
}

} // namespace icepath::analysis
