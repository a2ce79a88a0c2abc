// SPDX-License-Identifier: Apache-2.0
#include "profiler/resolve/resolve.h"

#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <sched.h>
#include <thread>

#include "profiler/decode/decode.h"
#include "profiler/path/walk.h"
#include "profiler/resolve/joined.h"
#include "profiler/rundir/container.h"

namespace icepath::resolve {
namespace {

// Decodes a window once for all of its blocks. Any number of threads may use it.
class SharedWindow {
public:
	explicit SharedWindow(size_t blocks) : blocks_(blocks) {}
	path::Observations observations_of(const model::Block &block, const model::Cell &cell)
	{
		if (blocks_ == 1 || !decode::knows_sides(*block.window, block))
			return decode::observations_of(block, cell);
		std::call_once(once_, [&] { decoded_ = decode::decode_window(*block.window); });
		return decode::observations_of(block, cell, decoded_.seen, decoded_.events);
	}

private:
	const size_t blocks_;
	std::once_flag once_;
	decode::DecodedWindow decoded_;
};

ResolvedBlock resolved(uint64_t number, JoinedBlock joined, const model::Cell &cell,
					   const std::shared_ptr<SharedWindow> &window)
{
	ResolvedBlock one{number, std::move(joined.block), {}, {}};
	one.seen = window->observations_of(one.block, cell);
	std::erase_if(one.seen.deliveries, [&](const path::Delivery &delivery) { return !joined.resolves(delivery); });
	one.paths.reserve(one.seen.deliveries.size());
	path::Walker walker(one.seen);
	for (const path::Delivery &delivery : one.seen.deliveries)
		one.paths.push_back(walker.walk(delivery));
	return one;
}

// hardware_concurrency() counts the machine's CPUs, not those that this process may use.
size_t usable_cpus()
{
	cpu_set_t set;
	CPU_ZERO(&set);
	if (::sched_getaffinity(0, sizeof set, &set) != 0) // more CPUs than a cpu_set_t has
		return std::max(1u, std::thread::hardware_concurrency());
	return static_cast<size_t>(std::max(1, CPU_COUNT(&set)));
}

} // namespace

void resolve(const std::string &run, Visitor &visitor, const Extent &extent)
{
	const size_t threads = extent.threads != 0 ? extent.threads : usable_cpus();
	rundir::Reader reader(run, rundir::Contents::WithProbes);
	std::deque<std::future<ResolvedBlock>> under_way; // in the order of the container
	const auto visit_first = [&] {
		const ResolvedBlock first = under_way.front().get();
		under_way.pop_front();
		visitor.visit(first);
	};
	JoinWindows windows;
	for (uint64_t number = 0; number < extent.blocks;) {
		auto read = reader.next();
		if (!read)
			break;
		std::vector<JoinedBlock> blocks = windows.add(std::move(*read));
		const auto window = std::make_shared<SharedWindow>(blocks.size());
		for (JoinedBlock &joined : blocks) {
			const uint64_t its_number = number++;
			const model::Window &its_window = *joined.block.window;
			if (its_number >= extent.blocks || !its_window.probed ||
				(its_window.is_sampled() && !visitor.wants_sampled()) || !visitor.wants(joined.block))
				continue;
			if (under_way.size() == threads)
				visit_first();
			const model::Cell &cell = reader.head().cells.at(joined.block.cell);
			if (threads == 1)
				visitor.visit(resolved(its_number, std::move(joined), cell, window));
			else
				under_way.push_back(
					std::async(std::launch::async, resolved, its_number, std::move(joined), std::cref(cell), window));
		}
	}
	while (!under_way.empty())
		visit_first();
}

} // namespace icepath::resolve
