// SPDX-License-Identifier: Apache-2.0
#include "profiler/resolve/joined.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "profiler/model/stamps.h"
#include "profiler/rundir/limits.h"

namespace icepath::resolve {
namespace {

constexpr size_t kMostJoined = 3;

template <typename T> void append(std::vector<T> &items, const std::vector<T> &more)
{
	items.insert(items.end(), more.begin(), more.end());
}

// Finds slots by CPU: a window may have 65536 of them.
class Slots {
public:
	explicit Slots(std::vector<model::SlotCapture> &slots) : slots_(slots) {}
	model::SlotCapture &of(int32_t cpu)
	{
		const auto [at, is_new] = places_.try_emplace(cpu, slots_.size());
		return is_new ? slots_.emplace_back(model::SlotCapture{.cpu = cpu, .records = {}}) : slots_[at->second];
	}

private:
	std::vector<model::SlotCapture> &slots_;
	std::unordered_map<int32_t, size_t> places_;
};

// Joins all `windows`, of which the last is the present one. `threads`: thread records from earlier windows.
std::shared_ptr<const model::Window> joined(const std::deque<ThreadRecord> &threads,
											const std::deque<rundir::WindowBlocks> &windows)
{
	const auto all = std::make_shared<model::Window>(*windows.back().window);
	const model::Window &first = *windows.front().window;
	all->begin = first.begin;
	all->slots.clear();
	Slots slots(all->slots);
	for (const ThreadRecord &thread : threads)
		slots.of(thread.slot_cpu).records.push_back(thread.record);
	all->skipped.clear();
	if (first.begins_midway) // what came before isn't known any more
		all->skipped.push_back({0, first.begin.monotonic_ns, 1});
	for (const rundir::WindowBlocks &one : windows) {
		append(all->skipped, one.window->skipped);
		for (const model::WindowThread &thread : one.window->threads)
			if (std::ranges::find(all->threads, thread.tid, &model::WindowThread::tid) == all->threads.end())
				all->threads.push_back(thread);
		for (const model::SlotCapture &more : one.window->slots) {
			model::SlotCapture &slot = slots.of(more.cpu);
			if (one.window == windows.front().window)
				slot.first = more.first; // from here on, a missing number is a lost record
			slot.position = more.position;
			slot.capacity += more.capacity;
			append(slot.records, more.records);
		}
	}
	return all;
}

std::vector<JoinedBlock> alone(rundir::WindowBlocks window)
{
	std::vector<JoinedBlock> made;
	for (model::Block &block : window.blocks) {
		JoinedBlock &one = made.emplace_back();
		for (const model::BlockFlow &flow : block.flows)
			one.stamps.push_back({{flow.sends.size()}, {flow.recvs.size()}});
		one.block = std::move(block);
		one.block.window = window.window;
	}
	return made;
}

size_t window_of(size_t stamp, const std::vector<size_t> &ends)
{
	return static_cast<size_t>(std::ranges::upper_bound(ends, stamp) - ends.begin());
}

} // namespace

bool JoinedBlock::resolves(const path::Delivery &delivery) const
{
	const Stamps &its = stamps[model::place_of(delivery.message).flow];
	const size_t window = std::max(window_of(delivery.send.evidence.index, its.sends),
								   window_of(delivery.recv.evidence.index, its.recvs));
	return window >= from && window < to;
}

std::vector<JoinedBlock> JoinWindows::add(rundir::WindowBlocks next)
{
	if (!next.window->begins_midway) {
		last_.clear();
		threads_.clear();
	} else if (last_.size() == kMostJoined) {
		for (const model::SlotCapture &slot : last_.front().window->slots)
			for (const icepath_record &record : slot.records)
				if (record.type == ICEPATH_RECORD_THREAD)
					threads_.push_back({slot.cpu, record});
		if (threads_.size() > rundir::kMaxKeptThreads)
			threads_.erase(threads_.begin(), threads_.end() - rundir::kMaxKeptThreads);
		last_.pop_front();
	}
	if (!next.window->begins_midway && !next.window->ends_midway) // it stands alone
		return alone(std::move(next));
	last_.push_back(std::move(next));
	const rundir::WindowBlocks &present = last_.back();
	const auto window = last_.size() == 1 ? present.window : joined(threads_, last_);
	std::vector<JoinedBlock> blocks;
	for (const model::Block &block : present.blocks) {
		JoinedBlock &made = blocks.emplace_back();
		made.block = block;
		made.block.window = window;
		made.stamps.resize(block.flows.size());
		// Messages with late records belong to the window before the present one. The present one resolves its own if
		// none follows.
		made.to = last_.size() - (window->ends_midway ? 1 : 0);
		made.from = last_.size() - std::min<size_t>(last_.size(), 2);
		for (model::BlockFlow &flow : made.block.flows) {
			flow.sends.clear();
			flow.recvs.clear();
		}
		for (const rundir::WindowBlocks &one : last_) {
			const auto its = std::ranges::find(one.blocks, block.cell, &model::Block::cell);
			for (size_t i = 0; i < block.flows.size(); ++i) {
				model::BlockFlow &flow = made.block.flows[i];
				if (its != one.blocks.end()) {
					append(flow.sends, its->flows[i].sends);
					append(flow.recvs, its->flows[i].recvs);
				}
				made.stamps[i].sends.push_back(flow.sends.size());
				made.stamps[i].recvs.push_back(flow.recvs.size());
			}
		}
	}
	if (!present.window->ends_midway)
		last_.clear();
	return blocks;
}

} // namespace icepath::resolve
