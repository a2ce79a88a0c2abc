// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/object_queue.h"

#include <algorithm>
#include <iterator>
#include <ranges>

namespace icepath::decode {

void ObjectQueue::run(const std::vector<Happening> &all)
{
	auto begin = all.begin();
	for (auto one = all.begin(); one != all.end(); ++one) {
		if (one->kind != Happening::Kind::Empty && one->kind != Happening::Kind::Unknown)
			continue;
		between(begin, one, one->kind == Happening::Kind::Empty ? one->at_ns : 0);
		begin = std::next(one);
		if (one->kind == Happening::Kind::Unknown) {
			waiting_.clear();
			flying_.clear();
		} else {
			was_empty(one->at_ns);
		}
		begins_empty_ = one->kind == Happening::Kind::Empty;
	}
	between(begin, all.end(), 0);
}

void ObjectQueue::was_empty(uint64_t at_ns)
{
	const auto is_over = [&](const Given &given) { return !given.call || given.call->end_ns <= at_ns; };
	if (may_fly_)
		std::ranges::copy_if(waiting_, std::back_inserter(flying_),
							 [&](const Given &given) { return given.call && is_over(given); });
	std::erase_if(waiting_, is_over);
}

uint64_t ObjectQueue::land(uint64_t missing)
{
	while (missing > 0 && !flying_.empty()) {
		Given last = flying_.back();
		flying_.pop_back();
		last.left = std::min(last.left, missing);
		missing -= last.left;
		waiting_.push_front(last);
	}
	return missing;
}

void ObjectQueue::between(At begin, At end, uint64_t empty_ns)
{
	const bool has_foreign =
		counts_ == Counts::Bytes && begins_empty_ &&
		std::any_of(begin, end, [](const Happening &one) { return one.kind == Happening::Kind::Foreign; });
	if (has_foreign && by_datagram(begin, end, empty_ns))
		return;
	const uint64_t lacking = missing(begin, end);
	const uint64_t before = has_foreign ? lacking : land(lacking);
	const bool contradicts = has_foreign || (before > 0 && begins_empty_);
	if (before > 0)
		waiting_.push_front({0, nullptr, before, 0});
	for (auto one = begin; one != end; ++one) {
		if (one->kind == Happening::Kind::Give)
			waiting_.push_back({one->tid, one->call, amount(*one), one->in_ns});
		if (one->kind != Happening::Kind::Take)
			continue;
		take(*one, contradicts);
		if (waiting_.empty() && !contradicts)
			emptied_ns_.push_back(one->at_ns);
	}
	if (std::any_of(begin, end, [](const Happening &one) { return one.kind == Happening::Kind::Take; }))
		flying_.clear(); // all that was in flight arrived before what was taken
}

bool ObjectQueue::by_datagram(At begin, At end, uint64_t empty_ns)
{
	std::deque<Given> given = waiting_;
	std::vector<const Happening *> taken;
	size_t foreign = 0;
	for (auto one = begin; one != end; ++one)
		if (one->kind == Happening::Kind::Give)
			given.push_back({one->tid, one->call, one->bytes, one->in_ns});
		else if (one->kind == Happening::Kind::Foreign)
			foreign++;
		else
			taken.push_back(&*one);
	if (!flying_.empty() || foreign > taken.size() || taken.size() - foreign > given.size())
		return false;
	const size_t own = taken.size() - foreign;
	const auto was_in = [&](const Given &rest) { return rest.in_ns <= empty_ns; };
	if (std::any_of(given.begin() + static_cast<std::ptrdiff_t>(own), given.end(), was_in))
		return false; // the queue was empty after it was in, so it must have been taken, too
	const auto is_it = [&](const Happening &take, const Given &gave) {
		return gave.call && take.bytes == gave.left && take.at_ns >= gave.call->begin_ns;
	};
	// The earliest and the latest taking that each given datagram can be.
	std::vector<const Happening *> first, last;
	for (const Happening *take : taken)
		if (first.size() < own && is_it(*take, given[first.size()]))
			first.push_back(take);
	for (const Happening *take : taken | std::views::reverse)
		if (last.size() < own && is_it(*take, given[own - 1 - last.size()]))
			last.push_back(take);
	if (first.size() != own || !std::ranges::equal(first, last | std::views::reverse))
		return false;
	for (size_t i = 0; i < own; ++i)
		out_.push_back({given[i].tid, first[i]->tid, given[i].call, first[i]->call, given[i].left});
	waiting_.assign(given.begin() + static_cast<std::ptrdiff_t>(own), given.end());
	if (waiting_.empty() && !taken.empty())
		emptied_ns_.push_back(taken.back()->at_ns);
	return true;
}

uint64_t ObjectQueue::missing(At begin, At end) const
{
	if (counts_ == Counts::All)
		return 0;
	uint64_t there = 0, before = 0;
	for (const Given &given : waiting_)
		there += given.left;
	for (auto one = begin; one != end; ++one) {
		if (one->kind == Happening::Kind::Give)
			there += amount(*one);
		if (one->kind != Happening::Kind::Take)
			continue;
		before += amount(*one) - std::min(there, amount(*one));
		there -= std::min(there, amount(*one));
	}
	return before;
}

void ObjectQueue::take(const Happening &taken, bool contradicts)
{
	uint64_t wanted = counts_ == Counts::All ? UINT64_MAX : amount(taken);
	while (wanted > 0 && !waiting_.empty()) {
		Given &first = waiting_.front();
		const uint64_t some = std::min(first.left, wanted);
		if (first.call && !contradicts) {
			const uint64_t bytes = counts_ != Counts::Messages ? some
								   : first.call->bytes         ? first.call->bytes
															   : taken.call->bytes;
			out_.push_back({first.tid, taken.tid, first.call, taken.call, bytes});
		}
		wanted -= some;
		first.left -= some;
		if (first.left == 0)
			waiting_.pop_front();
	}
}

} // namespace icepath::decode
