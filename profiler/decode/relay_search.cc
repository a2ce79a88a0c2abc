// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/relay_search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace icepath::decode {
namespace {

// With more candidate calls a message is ambiguous_relay.
constexpr size_t kMostCrossings = 256;

// Threads that share memory: a process, all processes together, or a single thread of unknown process.
using Memory = uint64_t;

// A call by which the message may have gone from one memory to another: the one that gave its last bytes.
struct Crossing {
	const Edge *on = nullptr;
	const Edge *whole_since = nullptr; // as in FoundTransfer
	Memory from = 0, to = 0;
	uint64_t begun_ns = 0; // latest begin of the call that gave its first bytes
	uint64_t had_by_ns = 0; // the same among the calls of the thread that gave the last bytes
	std::vector<const Edge *> parts; // from that call on
};

struct Given {
	const Call *call = nullptr;
	uint64_t bytes = 0; // bytes of the call that are taken so far
	std::vector<const Edge *> taken; // the takings; never empty
	uint32_t tid() const { return taken.front()->from; }
};

Mark mark_of(const Call &call, uint64_t at_ns) { return {at_ns, call.evidence, Provenance::Paired}; }

class Search {
public:
	Search(const Observations &seen, const std::vector<Edge> &all, const Delivery &delivery, const Mark &taken,
		   const Means &means)
		: seen_(seen), delivery_(delivery), taken_(taken), means_(means), sender_(memory_of(delivery.sender)),
		  receiver_(memory_of(delivery.receiver))
	{
		auto on =
			std::ranges::partition_point(all, [&](const Edge &one) { return one.given_ns() < delivery.send.at_ns; });
		for (; on != all.end() && on->given_ns() <= taken.at_ns; ++on)
			if (on->had_ns() <= taken.at_ns)
				within_.push_back(&*on);
	}

	Chain run()
	{
		find_crossings();
		if (crossings_.size() > kMostCrossings)
			return {{}, Reason::AmbiguousRelay};
		std::vector<const Crossing *> chain;
		std::set<Memory> passed{receiver_};
		if (!collect(receiver_, taken_.at_ns, chain, passed))
			return {{}, Reason::AmbiguousRelay};
		const bool may_stay =
			sender_ == receiver_ && delivery_.sender != delivery_.receiver &&
			(ways_.empty() ||
			 !between(delivery_.sender, delivery_.send.at_ns, delivery_.receiver, taken_.at_ns).empty());
		const bool stays = sender_ == receiver_ && (may_stay || ways_.empty());
		if (ways_.size() + (stays ? 1 : 0) != 1)
			return {{}, ways_.empty() ? Reason::LeftPath : Reason::AmbiguousRelay};
		return steps_by(stays ? std::vector<const Crossing *>{} : ways_.front());
	}

private:
	Memory memory_of(uint32_t tid) const
	{
		if (means_.share_memory)
			return 0;
		const uint32_t process = process_of(tid);
		return process != 0 ? process : (uint64_t{1} << 32) + tid;
	}

	uint32_t process_of(uint32_t tid) const
	{
		const auto found = seen_.threads.find(tid);
		return found == seen_.threads.end() ? 0 : found->second.process;
	}

	// Whether the thread took something or went to wait between two instants.
	bool paused(uint32_t tid, uint64_t begin_ns, uint64_t end_ns) const
	{
		const std::vector<Call> &calls = seen_.threads.at(tid).calls;
		auto call = std::ranges::partition_point(calls, [&](const Call &one) { return one.begin_ns < begin_ns; });
		for (; call != calls.end() && call->begin_ns < end_ns; ++call)
			if ((call->kind == Call::Kind::Receive && call->moved) || call->kind == Call::Kind::ReadinessWait ||
				call->kind == Call::Kind::FutexWait)
				return true;
		return false;
	}

	// Returns the latest index at which the message can begin if it ends with the last of `gives`, which threads of one
	// memory gave on one way. Returns nothing if it can't end there. Its parts are given one after the other. If the
	// whole payload had gone, and its giver then paused or another thread gave, later bytes belong to another message.
	std::optional<size_t> first_of_message(const std::vector<Given> &gives) const
	{
		uint64_t sum = 0;
		size_t first = gives.size();
		while (first > 0 && (sum < means_.payload_bytes || first == gives.size()))
			sum += gives[--first].bytes;
		if (sum < means_.payload_bytes)
			return {};
		uint64_t before = 0;
		for (size_t i = first; i + 1 < gives.size(); ++i) {
			before += gives[i].bytes;
			if (before >= means_.payload_bytes &&
				(gives[i].tid() != gives[i + 1].tid() ||
				 paused(gives[i].tid(), gives[i].call->end_ns, gives[i + 1].call->begin_ns)))
				return {};
		}
		return first;
	}

	// What one thread gives another without pausing is one way, whichever of its calls gave the message's last bytes.
	void add_crossing(const Crossing &one)
	{
		for (Crossing &other : crossings_)
			if (other.on->from == one.on->from && other.on->to == one.on->to &&
				other.on->give->object == one.on->give->object && other.on->take->object == one.on->take->object &&
				other.on->given_ns() <= one.on->given_ns() &&
				!paused(one.on->from, other.on->give->end_ns, one.on->given_ns())) {
				other.whole_since = other.whole_since ? other.whole_since : other.on;
				other.on = one.on;
				other.parts.insert(other.parts.end(), one.parts.begin(), one.parts.end());
				return;
			}
		crossings_.push_back(one);
	}

	void find_crossings()
	{
		std::vector<const Edge *> by_bytes;
		for (const Edge *on : within_)
			if (!on->woken && memory_of(on->from) != memory_of(on->to))
				by_bytes.push_back(on);
		std::ranges::stable_sort(by_bytes, {}, &Edge::had_ns);
		// earliest time at which a memory may have the message
		std::map<Memory, uint64_t> has{{sender_, delivery_.send.at_ns}};
		std::map<std::tuple<Memory, uint64_t, uint64_t>, std::vector<Given>> ways; // by giving memory and both objects
		for (const Edge *on : by_bytes) {
			const Memory from = memory_of(on->from), to = memory_of(on->to);
			const auto since = has.find(from);
			if (since == has.end() || since->second > on->given_ns())
				continue;
			std::vector<Given> &gives = ways[{from, on->give->object, on->take->object}];
			if (gives.empty() || gives.back().call != on->give)
				gives.push_back({on->give, 0, {}});
			gives.back().taken.push_back(on);
			gives.back().bytes += on->bytes;
			if (gives.back().bytes < on->give->bytes)
				continue; // the rest is taken later
			const std::optional<size_t> first = first_of_message(gives);
			if (!first)
				continue;
			const auto by_same = std::find_if(gives.begin() + static_cast<std::ptrdiff_t>(*first), gives.end(),
											  [&](const Given &given) { return given.tid() == on->from; });
			Crossing crossing{on, nullptr, from, to, gives[*first].call->begin_ns, by_same->call->begin_ns, {}};
			for (size_t i = *first; i < gives.size(); ++i)
				crossing.parts.insert(crossing.parts.end(), gives[i].taken.begin(), gives[i].taken.end());
			add_crossing(crossing);
			const auto had = has.try_emplace(to, on->had_ns()).first;
			had->second = std::min(had->second, on->had_ns());
		}
	}

	// Collects the ways from the sender's memory to `to`; false if there are two. A way doesn't return to a memory that
	// it has left.
	bool collect(Memory to, uint64_t by_ns, std::vector<const Crossing *> &chain, std::set<Memory> &passed)
	{
		for (const Crossing &one : crossings_) {
			if (one.to != to || one.on->had_ns() > by_ns)
				continue;
			chain.push_back(&one);
			if (one.from == sender_) {
				if (!ways_.empty())
					return false;
				ways_.emplace_back(chain.rbegin(), chain.rend());
			} else if (passed.insert(one.from).second) {
				if (!collect(one.from, one.begun_ns, chain, passed))
					return false;
				passed.erase(one.from);
			}
			chain.pop_back();
		}
		return true;
	}

	Chain steps_by(const std::vector<const Crossing *> &crossings)
	{
		uint32_t who = delivery_.sender;
		Mark had = delivery_.send;
		for (const Crossing *one : crossings) {
			const Edge &on = *one->on;
			if (!connect(who, had, on.from, mark_of(*on.give, one->had_by_ns)))
				return {{}, Reason::AmbiguousRelay};
			cross(*one);
			who = on.to;
			had = mark_of(*on.take, on.had_ns());
		}
		if (!connect(who, had, delivery_.receiver, taken_) || transfers_.size() > path::kMostHops)
			return {{}, Reason::AmbiguousRelay};
		if (transfers_.empty())
			return {{}, Reason::LeftPath};
		return {std::move(transfers_), Reason::None};
	}

	// If another thread of the taker's process was woken for the bytes and then handed on to the taker, the way goes
	// through that thread.
	void cross(const Crossing &crossing)
	{
		const Edge &on = *crossing.on;
		const Edge *announced = nullptr, *passed = nullptr;
		size_t count = 0;
		for (const Edge *first : within_) {
			if (!first->woken || first->give != on.give || first->ready == nullptr || first->to == on.to ||
				memory_of(first->to) != memory_of(on.to))
				continue;
			for (const Edge *second : within_)
				if (second->from == first->to && second->to == on.to && second->given_ns() >= first->woken->in_ns &&
					second->had_ns() <= on.take->begin_ns) {
					announced = first;
					passed = second;
					++count;
				}
		}
		if (count == 1) {
			add(*announced);
			add(*passed);
		} else {
			transfers_.push_back({&on, crossing.whole_since, crossing.parts, on.from, on.to, {}, {}});
		}
	}

	void add(const Edge &on) { transfers_.push_back({&on, nullptr, {}, on.from, on.to, {}, {}}); }

	// Edges within one memory that may be on a way from `from`, which has the message, to `to`. `from` doesn't get it
	// again, and `to` doesn't give it away.
	std::vector<const Edge *> between(uint32_t from, uint64_t had_ns, uint32_t to, uint64_t by_ns) const
	{
		const Memory memory = memory_of(from);
		std::vector<const Edge *> usable;
		std::map<uint32_t, uint64_t> has{{from, had_ns}};
		for (const Edge *on : within_) {
			if (on->to == from || on->from == to || on->had_ns() > by_ns || memory_of(on->from) != memory ||
				memory_of(on->to) != memory)
				continue;
			const auto since = has.find(on->from);
			if (since == has.end() || since->second > on->given_ns())
				continue;
			usable.push_back(on);
			const auto had = has.try_emplace(on->to, on->had_ns()).first;
			had->second = std::min(had->second, on->had_ns());
		}
		std::ranges::stable_sort(usable, std::greater{}, &Edge::had_ns);
		std::map<uint32_t, uint64_t> gives{{to, by_ns}}; // latest time
		// one edge for what one call gave to one thread
		std::map<std::pair<const Call *, uint32_t>, const Edge *> found;
		for (const Edge *on : usable) {
			const auto until = gives.find(on->to);
			if (until == gives.end() || until->second < on->had_ns())
				continue;
			const Edge *&same = found[{on->give, on->to}];
			if (!same || (same->woken && !on->woken))
				same = on;
			const auto given = gives.try_emplace(on->from, on->given_ns()).first;
			given->second = std::max(given->second, on->given_ns());
		}
		std::vector<const Edge *> all;
		for (const auto &[what, on] : found)
			all.push_back(on);
		return all;
	}

	// The only waking of a thread that slept since before the message came into this memory: it can't have had the
	// message sooner, whoever put it there.
	const Edge *only_waking(uint32_t tid, uint64_t had_ns, uint64_t by_ns) const
	{
		const Edge *found = nullptr;
		for (const Edge *on : within_) {
			if (on->to != tid || on->had_ns() > by_ns || on->given_ns() < had_ns ||
				memory_of(on->from) != memory_of(tid) || !on->woken)
				continue;
			const bool is_part =
				on->give->kind == Call::Kind::Send && on->give->bytes != 0 && on->give->bytes < means_.payload_bytes;
			if (found || on->woken->out_ns > had_ns || is_part) // the rest came later
				return nullptr;
			found = on;
		}
		return found;
	}

	// The only edge by which the thread gave at least the payload's bytes to another thread of its process, or nullptr.
	const Edge *only_bytes(uint32_t tid, uint64_t had_ns, uint64_t by_ns) const
	{
		const Edge *found = nullptr;
		for (const Edge *on : within_) {
			if (on->from != tid || on->woken || on->given_ns() < had_ns || on->had_ns() > by_ns ||
				on->bytes < means_.payload_bytes || process_of(tid) == 0 || process_of(on->to) != process_of(tid))
				continue;
			if (found)
				return nullptr;
			found = on;
		}
		return found;
	}

	// Connects two threads of one memory: by edges from both ends as long as there is only one candidate, and in memory
	// in between.
	bool connect(uint32_t from, const Mark &had, uint32_t to, const Mark &by)
	{
		if (from == to)
			return true;
		if (transfers_.size() > path::kMostHops)
			return false;
		const std::vector<const Edge *> all = between(from, had.at_ns, to, by.at_ns);
		const Edge *first = nullptr, *last = nullptr;
		uint64_t first_ns = by.at_ns, last_ns = had.at_ns; // bounds where there are several
		size_t firsts = 0, lasts = 0;
		Mark begin = had, end = by;
		for (const Edge *on : all) {
			if (on->from == from && (++firsts, on->given_ns() < first_ns)) {
				first = on;
				first_ns = on->given_ns();
			}
			if (on->to == to && (++lasts, on->had_ns() > last_ns)) {
				last = on;
				last_ns = on->had_ns();
			}
		}
		if (all.empty() && !(last = only_waking(to, had.at_ns, by.at_ns)))
			firsts = (first = only_bytes(from, had.at_ns, by.at_ns)) ? 1 : 0;
		if (last && lasts <= 1) {
			if (!connect(from, had, last->from, mark_of(*last->give, last->given_ns())))
				return false;
			add(*last);
			return true;
		}
		if (first && firsts == 1) {
			add(*first);
			return connect(first->to, mark_of(*first->take, first->had_ns()), to, by);
		}
		// Several edges: the message was handed on between the first and the last, and no more is known.
		if (first && last) {
			if (process_of(from) != process_of(to))
				return false;
			begin = mark_of(*first->give, first_ns);
			end = mark_of(*last->take, last_ns);
		}
		transfers_.push_back({nullptr, nullptr, {}, from, to, begin, end});
		return true;
	}

	const Observations &seen_;
	const Delivery &delivery_;
	const Mark &taken_;
	const Means &means_;
	const Memory sender_, receiver_;
	std::vector<const Edge *> within_; // in the time of the delivery
	std::vector<Crossing> crossings_;
	std::vector<std::vector<const Crossing *>> ways_; // ways found, from the sender on
	std::vector<FoundTransfer> transfers_;
};

} // namespace

Chain chain_of(const Observations &seen, const std::vector<Edge> &all, const Delivery &delivery, const Mark &taken,
			   const Means &means)
{
	return Search(seen, all, delivery, taken, means).run();
}

} // namespace icepath::decode
