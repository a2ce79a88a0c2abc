// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/resolved_run.h"

#include "profiler/rundir/container.h"

namespace icepath::end_to_end {

namespace {

class Keep : public resolve::Visitor {
public:
	explicit Keep(ResolvedRun &run) : run_(run) {}
	void visit(const resolve::ResolvedBlock &resolved) override { run_.blocks.at(resolved.number) = resolved; }

private:
	ResolvedRun &run_;
};

} // namespace

ResolvedRun read_resolved(const std::filesystem::path &run)
{
	rundir::Reader reader(run.string());
	ResolvedRun resolved{reader.head(), {}};
	while (const auto window = reader.next())
		for (const model::Block &block : window->blocks)
			resolved.blocks.push_back({resolved.blocks.size(), block, {}, {}});
	Keep keep(resolved);
	resolve::resolve(run.string(), keep);
	return resolved;
}

double layer_ns(const path::Path &path, model::Layer layer)
{
	double sum = 0;
	for (const path::Segment &segment : path.segments)
		if (segment.layer == layer)
			sum += static_cast<double>(segment.duration_ns());
	return sum;
}

} // namespace icepath::end_to_end
