// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/object_queue.h"

#include <algorithm>
#include <iterator>

namespace icepath::decode {

void ObjectQueue::run(const std::vector<Happening> &all)
{
	auto begin = all.begin();
	for (auto one = all.begin(); one != all.end(); ++one) {
		if (one->kind == Happening::Kind::Give || one->kind == Happening::Kind::Take)
			continue;
		between(begin, one);
		begin = std::next(one);
		if (one->kind == Happening::Kind::Unknown) {
			waiting_.clear();
			flying_.clear();
		} else {
			was_empty(one->at_ns);
		}
		begins_empty_ = one->kind == Happening::Kind::Empty;
	}
	between(begin, all.end());
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

void ObjectQueue::between(At begin, At end)
{
	const uint64_t before = land(missing(begin, end));
	const bool contradicts = before > 0 && begins_empty_;
	if (before > 0)
		waiting_.push_front({0, nullptr, before});
	for (auto one = begin; one != end; ++one) {
		if (one->kind == Happening::Kind::Give)
			waiting_.push_back({one->tid, one->call, amount(*one)});
		else
			take(*one, contradicts);
		if (one->kind == Happening::Kind::Take && waiting_.empty() && !contradicts)
			emptied_ns_.push_back(one->at_ns);
	}
	if (std::any_of(begin, end, [](const Happening &one) { return one.kind == Happening::Kind::Take; }))
		flying_.clear(); // it arrived before what was taken
}

uint64_t ObjectQueue::missing(At begin, At end) const
{
	if (counts_ == Counts::All)
		return 0;
	uint64_t there = 0, before = 0;
	for (const Given &given : waiting_)
		there += given.left;
	for (auto one = begin; one != end; ++one) {
		if (one->kind == Happening::Kind::Give) {
			there += amount(*one);
			continue;
		}
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
