// SPDX-License-Identifier: Apache-2.0
#pragma once
// The slowest request between each two programs that has a path, piece by piece.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/links.h"
#include "profiler/resolve/stream.h"

namespace icepath::analysis {

struct Piece {
	Place place;
	uint32_t tid = 0;
	uint64_t begin_ns = 0, end_ns = 0; // since the request was sent
};

struct SlowRequest {
	std::string client, server; // programs
	uint64_t sent_ns = 0, ns = 0;
	std::vector<Piece> pieces; // in time order; they add up to `ns`
};

class Slowest : public resolve::StreamVisitor {
public:
	void message(const decode::CalledMessage &, const path::Path &, const path::Observations &) override {}
	void request(const decode::Request &request, const path::Path &path, const path::Observations &seen) override;
	std::vector<SlowRequest> take(); // the slowest first

private:
	std::map<std::pair<std::string, std::string>, SlowRequest> by_programs_;
};

} // namespace icepath::analysis
