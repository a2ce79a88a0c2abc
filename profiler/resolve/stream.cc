// SPDX-License-Identifier: Apache-2.0
#include "profiler/resolve/stream.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <unordered_map>

#include "profiler/decode/event_search.h"
#include "profiler/decode/locks.h"
#include "profiler/path/walk.h"
#include "profiler/rundir/limits.h"

namespace icepath::resolve {
namespace {

// Kept of each slot before the first record that is needed: a gap's window is as long as its neighbours show (log.cc).
constexpr size_t kNeighbours = 256;

// Losses of earlier times. More are joined.
constexpr size_t kMostLost = 4096;

// Of one of the watched programs.
bool is_of_a_thread(const icepath_record &record)
{
	return record.type == ICEPATH_RECORD_THREAD || record.type == ICEPATH_RECORD_CALL ||
		   record.type == ICEPATH_RECORD_OFF_CPU;
}

path::Delivery delivery_of(const std::vector<const decode::CalledMessage *> &chain, uint64_t number)
{
	path::Delivery delivery;
	const path::Transfer &first = chain.front()->transfer, &last = chain.back()->transfer;
	delivery.message = number;
	delivery.sender = first.from;
	delivery.receiver = last.to;
	delivery.send = *first.call;
	delivery.recv = *last.take_return;
	delivery.chained = true;
	return delivery;
}

// Appends the chain's transfers and its delivery, which is numbered by its place.
void add_chain(const std::vector<const decode::CalledMessage *> &chain, path::Observations &seen)
{
	const uint64_t number = seen.deliveries.size();
	for (const decode::CalledMessage *one : chain) {
		seen.transfers.push_back(one->transfer);
		seen.transfers.back().message = number;
	}
	seen.deliveries.push_back(delivery_of(chain, number));
}

} // namespace

Stream::Stream(const std::vector<model::Connection> &connections, StreamVisitor &visitor)
	: visitor_(visitor), peers_(objects_), positions_(objects_), pairing_(objects_)
{
	know(connections);
}

void Stream::know(const std::vector<model::Connection> &connections)
{
	objects_.list(connections);
	for (const model::Connection &one : connections) {
		peers_.know(one);
		pairing_.know(one);
	}
}

void Stream::add(const model::Window &window)
{
	append(window);
	if (const uint64_t end_ns = window.finish.monotonic_ns; end_ns > kLateNs)
		resolve(end_ns - kLateNs);
}

void Stream::finish() { resolve(UINT64_MAX); }

void Stream::append(const model::Window &window)
{
	if (kept_.begin.monotonic_ns == 0)
		kept_.begin = window.begin;
	const bool is_apart = !window.begins_midway && kept_.finish.monotonic_ns != 0;
	if (is_apart) // nothing was recorded in between
		lost_.push_back({kept_.finish.monotonic_ns, window.begin.monotonic_ns, 1});
	kept_.probed = true;
	kept_.finish = window.finish;
	for (const model::SlotCapture &slot : window.slots) {
		for (const icepath_record &one : slot.records)
			if (is_of_a_thread(one)) {
				uint64_t &latest_ns = threads_ns_[one.tid];
				latest_ns = std::max(latest_ns, one.end_ns);
			}
		const auto found = std::ranges::find(kept_.slots, slot.cpu, &model::SlotCapture::cpu);
		if (found == kept_.slots.end()) {
			kept_.slots.push_back(slot);
			continue;
		}
		uint32_t &base = shifts_[slot.cpu];
		if (is_apart) // its numbers may begin again
			base = found->position - slot.first;
		found->position = base + slot.position;
		const auto added = static_cast<std::ptrdiff_t>(found->records.size());
		found->records.insert(found->records.end(), slot.records.begin(), slot.records.end());
		for (auto one = found->records.begin() + added; one != found->records.end(); ++one)
			one->seq += base;
	}
	for (const model::SkippedPrograms &some : window.skipped) // what is open longer is given up
		lost_.push_back({some.begin_ns, std::min(some.end_ns, window.finish.monotonic_ns + decode::kLongestOpenNs),
						 static_cast<uint32_t>(std::min<uint64_t>(some.count, UINT32_MAX))});
}

void Stream::resolve(uint64_t until_ns)
{
	if (until_ns <= resolved_ns_)
		return;
	decode::DecodedWindow decoded = decode::decode_window(kept_);
	path::Observations &seen = decoded.seen;
	for (const path::LossWindow &one : seen.lost)
		lost_records_ += one.end_ns > resolved_ns_ && one.end_ns <= until_ns ? one.count : 0;
	objects_.advance_to(until_ns);
	const size_t own = seen.lost.size();
	seen.lost.insert(seen.lost.end(), lost_.begin(), lost_.end());
	decode::tell_locks(seen);
	decode::tell_reached(decoded.events, seen);
	peers_.learn(decoded.events, seen);
	positions_.count(seen, peers_, until_ns);
	const decode::CalledMessages messages = decode::called_messages(decoded.events, seen, peers_, positions_);
	pairing_.advance(messages, seen, peers_, until_ns);
	const std::vector<decode::Request> requests = decode::requests_of(messages, pairing_);
	visit(messages, requests, decoded, until_ns);
	const auto is_new = [&](uint64_t at_ns) { return at_ns > resolved_ns_ && at_ns <= until_ns; };
	for (const decode::UngivenTake &one : messages.ungiven)
		left_.without_giver += is_new(one.taken_ns);
	for (const decode::OpenMessage &one : messages.open)
		if (until_ns == UINT64_MAX)
			left_.at_end += one.given_ns + decode::kLongestOpenNs > resolved_ns_;
		else
			left_.too_old += is_new(one.given_ns + decode::kLongestOpenNs);
	const uint64_t needed_ns = needed_since(messages, requests, until_ns);
	resolved_ns_ = until_ns;
	if (until_ns == UINT64_MAX)
		return;
	for (size_t i = 0; i < own; ++i)
		if (seen.lost[i].end_ns < needed_ns)
			lost_.push_back(seen.lost[i]);
	forget_before(needed_ns);
	for (const uint64_t object : objects_.forget())
		visitor_.over(object);
}

void Stream::visit(const decode::CalledMessages &messages, const std::vector<decode::Request> &requests,
				   decode::DecodedWindow &decoded, uint64_t until_ns)
{
	path::Observations &seen = decoded.seen;
	// A thread that has used the stream since then moves the instant at which a message was decided, and one whose
	// calls aren't kept any more moves it back. So what was told is known by name.
	const auto is_new = [&](uint64_t decided_ns, const decode::CalledMessage &first, std::set<decode::CallKey> &told) {
		return first.send_ns >= kept_since_ns_ && decided_ns <= until_ns && told.insert(first.give).second;
	};
	std::vector<const decode::CalledMessage *> new_messages;
	for (const decode::CalledMessage &one : messages.all)
		if (is_new(one.decided_ns, one, told_messages_))
			new_messages.push_back(&one);
	std::vector<const decode::Request *> new_requests;
	for (const decode::Request &one : requests)
		if (is_new(one.decided_ns, *one.asked, told_requests_))
			new_requests.push_back(&one);
	for (const decode::CalledMessage *one : new_messages)
		if (decode::has_receiver(one->identity))
			add_chain({one}, seen);
	for (const decode::Request *one : new_requests)
		add_chain(decode::chain_of(*one), seen);
	decode::tell_announcers(decoded.events, seen);
	path::Walker walker(seen);
	size_t next = 0;
	for (const decode::CalledMessage *one : new_messages) {
		path::Path path;
		path.reason = path::Reason::NoEvidence;
		if (decode::has_receiver(one->identity))
			path = walker.walk(seen.deliveries[next++]);
		visitor_.message(*one, path, seen);
	}
	for (const decode::Request *one : new_requests)
		visitor_.request(*one, walker.walk(seen.deliveries[next++]), seen);
}

uint64_t Stream::needed_since(const decode::CalledMessages &messages, const std::vector<decode::Request> &requests,
							  uint64_t until_ns) const
{
	uint64_t since_ns = std::min(until_ns, pairing_.oldest_ns());
	std::unordered_map<const decode::CalledMessage *, uint64_t> decided; // requests
	for (const decode::Request &one : requests)
		decided.emplace(one.asked, one.decided_ns);
	for (const decode::CalledMessage &one : messages.all) {
		const auto request = decided.find(&one);
		const bool waits = request != decided.end() ? request->second > until_ns
													: pairing_.answers().contains(one.give) &&
														  one.decided_ns + decode::kLongestOpenNs > until_ns;
		if (one.decided_ns > until_ns || waits)
			since_ns = std::min(since_ns, one.send_ns);
	}
	for (const decode::OpenMessage &one : messages.open)
		if (one.given_ns + decode::kLongestOpenNs > until_ns)
			since_ns = std::min(since_ns, one.send_ns);
	return since_ns;
}

std::unordered_map<uint32_t, uint64_t> Stream::names_to_keep()
{
	std::unordered_map<uint32_t, uint64_t> named_ns; // when each got its latest name
	for (const model::SlotCapture &slot : kept_.slots)
		for (const icepath_record &one : slot.records)
			if (one.type == ICEPATH_RECORD_THREAD)
				named_ns[one.tid] = std::max(named_ns[one.tid], one.end_ns);
	std::vector<std::pair<uint64_t, uint32_t>> latest; // end_ns, tid
	for (const auto &[tid, end_ns] : threads_ns_)
		latest.emplace_back(end_ns, tid);
	if (latest.size() > rundir::kMaxKeptThreads) {
		const auto kept = latest.begin() + rundir::kMaxKeptThreads;
		std::ranges::nth_element(latest, kept, std::ranges::greater{});
		for (auto one = kept; one != latest.end(); ++one)
			threads_ns_.erase(one->second);
	}
	std::erase_if(named_ns, [&](const auto &one) { return !threads_ns_.contains(one.first); });
	return named_ns;
}

void Stream::forget_before(uint64_t at_ns)
{
	const std::unordered_map<uint32_t, uint64_t> named_ns = names_to_keep();
	for (model::SlotCapture &slot : kept_.slots) {
		const auto needed = std::ranges::find_if(
			slot.records, [&](const icepath_record &one) { return one.seq >= slot.first && one.end_ns >= at_ns; });
		const auto context = needed - std::min(needed - slot.records.begin(), static_cast<std::ptrdiff_t>(kNeighbours));
		std::vector<icepath_record> kept;
		for (auto one = slot.records.begin(); one != context; ++one)
			if (one->type == ICEPATH_RECORD_THREAD)
				if (const auto name = named_ns.find(one->tid); name != named_ns.end() && name->second == one->end_ns)
					kept.push_back(*one);
		slot.first = needed == slot.records.end() ? slot.position : needed->seq;
		kept.insert(kept.end(), context, slot.records.end());
		slot.records = std::move(kept);
	}
	std::erase_if(lost_, [&](const path::LossWindow &one) {
		return one.end_ns < at_ns - std::min(at_ns, decode::kLongestOpenNs);
	});
	if (lost_.size() > kMostLost) {
		path::LossWindow all = lost_.front();
		for (const path::LossWindow &one : lost_)
			all = {std::min(all.begin_ns, one.begin_ns), std::max(all.end_ns, one.end_ns), all.count + one.count};
		lost_ = {all};
	}
	kept_since_ns_ = std::max(kept_since_ns_, at_ns); // some records before it are kept, but nothing is told of them
	for (auto *told : {&told_messages_, &told_requests_})
		std::erase_if(*told, [&](const decode::CallKey &give) { return give.second < kept_since_ns_; });
	positions_.forget_before(at_ns);
	pairing_.forget_before(at_ns);
}

} // namespace icepath::resolve
