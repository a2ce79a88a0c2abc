// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/slowest.h"

#include <algorithm>

namespace icepath::analysis {

void Slowest::request(const decode::Request &request, const path::Path &path, const path::Observations &seen)
{
	if (!path.complete())
		return;
	const std::string client = program_of(request.asked->give.first, seen),
					  server = program_of(request.asked->take.first, seen);
	SlowRequest &slowest = by_programs_[{client, server}];
	const uint64_t ns = request.recv_ns() - request.send_ns();
	if (ns <= slowest.ns)
		return;
	slowest = {client, server, request.send_ns(), ns, {}};
	for (const path::Segment &segment : path.segments) {
		Piece piece{{program_of(segment.thread, seen), segment.layer, segment.part, {}},
					segment.thread,
					segment.begin.at_ns - path.send_ns,
					segment.end.at_ns - path.send_ns};
		if (segment.culprit.kind != path::Culprit::Kind::None)
			piece.place.by = culprit_of(segment.culprit, seen);
		slowest.pieces.push_back(std::move(piece));
	}
}

std::vector<SlowRequest> Slowest::take()
{
	std::vector<SlowRequest> all;
	for (auto &[programs, one] : by_programs_)
		all.push_back(std::move(one));
	std::ranges::stable_sort(all, std::ranges::greater{}, &SlowRequest::ns);
	return all;
}

} // namespace icepath::analysis
