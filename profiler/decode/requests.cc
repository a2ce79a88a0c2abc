// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/requests.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <unordered_map>

namespace icepath::decode {
namespace {

// A server that takes so many messages without an answer doesn't answer them.
constexpr size_t kMostWaiting = 256;

// Deeper nesting than any system has. Bounds the search for evidence that runs in circles.
constexpr int kDeepest = 16;

class Builder {
public:
	Builder(const CalledMessages &messages, const Pairing &pairing) : pairing_(pairing)
	{
		for (const CalledMessage &message : messages.all) {
			by_give_[message.give] = &message;
			given_by_[message.give.first].push_back(&message);
		}
		for (const OpenMessage &open : messages.open)
			open_by_[open.give.first].push_back(&open);
	}

	bool build(const CalledMessage &asked, Request &request, int depth = 0) const
	{
		const auto answer = pairing_.answers().find(asked.give);
		if (answer == pairing_.answers().end() || !has_receiver(asked.identity) || depth > kDeepest)
			return false;
		const auto found = by_give_.find(answer->second);
		if (found == by_give_.end() || !has_receiver(found->second->identity))
			return false;
		request.asked = &asked;
		request.answered = found->second;
		request.decided_ns = std::max(asked.decided_ns, request.answered->decided_ns);
		nest(request, depth);
		return true;
	}

private:
	// From the answer backwards: what the server waited for last before it went on.
	void nest(Request &request, int depth) const
	{
		const uint32_t server = request.asked->take.first;
		std::vector<Request> inner;
		const auto given = given_by_.find(server);
		if (given == given_by_.end())
			return;
		auto one = std::ranges::partition_point(
			given->second, [&](const CalledMessage *sent) { return sent->send_ns < request.asked->recv_ns; });
		for (; one != given->second.end() && (*one)->send_ns < request.answered->send_ns; ++one) {
			if (pairing_.roles().serves((*one)->given_to))
				continue;
			request.decided_ns = std::max(request.decided_ns, (*one)->decided_ns);
			if (Request its; build(**one, its, depth + 1) && its.answered->take.first == server &&
							 its.recv_ns() <= request.answered->send_ns)
				inner.push_back(std::move(its));
		}
		if (const auto open = open_by_.find(server); open != open_by_.end())
			for (const OpenMessage *still : open->second)
				if (still->send_ns >= request.asked->recv_ns && still->send_ns < request.answered->send_ns &&
					!pairing_.roles().serves(still->given_to))
					request.decided_ns = std::max(request.decided_ns, still->given_ns + kLongestOpenNs);
		std::ranges::stable_sort(inner, {}, &Request::recv_ns);
		uint64_t until_ns = request.answered->send_ns;
		for (Request &its : inner | std::views::reverse) {
			request.decided_ns = std::max(request.decided_ns, its.decided_ns);
			if (its.recv_ns() > until_ns) {
				request.beside++;
				continue;
			}
			until_ns = its.send_ns();
			request.nested.insert(request.nested.begin(), std::move(its));
		}
	}

	const Pairing &pairing_;
	std::map<CallKey, const CalledMessage *> by_give_;
	std::unordered_map<uint32_t, std::vector<const CalledMessage *>> given_by_; // by tid, by send_ns
	std::unordered_map<uint32_t, std::vector<const OpenMessage *>> open_by_;
};

} // namespace

void Roles::know(const model::Connection &connection)
{
	const auto &[first, second] = connection.ends;
	for (const auto &[end, other] : {std::pair{&first, &second}, {&second, &first}}) {
		if (end->object == 0 || end->object == other->object)
			continue;
		if (end->role != model::EndRole::Unknown)
			objects_.use(end->object).serves = end->role == model::EndRole::Accepted;
		else if (other->role != model::EndRole::Unknown)
			objects_.use(end->object).serves = other->role == model::EndRole::Connected;
	}
}

void Roles::accepted(uint64_t object, uint64_t other_end)
{
	objects_.use(object).serves = true;
	objects_.use(other_end).serves = false;
}

void Roles::learn(const CalledMessage &first)
{
	if (first.given_to == first.out_of)
		return;
	std::optional<bool> &taker = objects_.use(first.out_of).serves, &giver = objects_.use(first.given_to).serves;
	const bool taker_serves = taker ? *taker : !giver.value_or(false);
	taker = taker_serves;
	giver = giver.value_or(!taker_serves);
}

bool Roles::serves(uint64_t object) const
{
	const Object *one = objects_.find(object);
	return one && one->serves.value_or(false);
}

void Pairing::advance(const CalledMessages &messages, const Observations &seen, const Peers &peers, uint64_t until_ns)
{
	struct Step {
		uint64_t at_ns = 0;
		uint64_t object = 0; // of the end
		bool is_answer = false;
		Waiting request; // `server` 0: see there
		CallKey given;
	};
	std::vector<Step> steps;
	const auto is_new = [&](uint64_t at_ns) { return at_ns > until_ns_ && at_ns <= until_ns; };
	for (const CalledMessage &message : messages.all) {
		if (message.taken_ns == 0 || !is_new(message.taken_ns))
			continue;
		if (has_receiver(message.identity))
			roles_.learn(message);
		steps.push_back({message.taken_ns,
						 message.out_of,
						 false,
						 {message.give, message.send_ns, message.taken_ns, message.take.first, true},
						 {}});
	}
	for (const UngivenTake &one : messages.ungiven)
		if (is_new(one.taken_ns)) {
			steps.push_back({one.taken_ns, one.out_of, false, {{}, one.taken_ns, one.taken_ns, 0, false}, {}});
			steps.push_back({one.taken_ns, peers.comes_out_of(one.out_of), true, {}, {}});
		}
	for (const auto &[tid, thread] : seen.threads)
		for (const Call &call : thread.calls) {
			if (!is_new(call.end_ns))
				continue;
			if (call.accepted && call.other_end != 0)
				roles_.accepted(call.object, call.other_end);
			if (call.kind == Call::Kind::Send && call.moved)
				steps.push_back({call.end_ns, call.object, true, {}, key_of(thread, call)});
		}
	std::ranges::stable_sort(steps, {}, &Step::at_ns);
	for (const Step &step : steps) {
		if (!roles_.serves(step.object))
			continue;
		give_up(step.object, objects_.use(step.object).requests, step.at_ns);
		if (step.is_answer)
			answer(step.object, step.given, step.at_ns);
		else
			taken(step.object, step.request);
	}
	until_ns_ = until_ns;
	for (auto &[object, its] : objects_)
		give_up(object, its.requests, until_ns);
}

void Pairing::taken(uint64_t object, const Waiting &request)
{
	ServingEnd &end = objects_.use(object).requests;
	// It was taken at an unknown time, before something was given that may have been its answer.
	if (request.server == 0 && end.spare_ns > request.send_ns) {
		unpaired_[object].ambiguous++;
		end.spare_ns = 0;
		return;
	}
	if (!request.has_giver && !end.waiting.empty() && !end.waiting.back().has_giver)
		end.waiting.pop_back(); // the same one's earlier bytes
	end.waiting.push_back(request);
	if (end.waiting.size() > kMostWaiting) {
		unpaired_[object].too_old++;
		end.waiting.erase(end.waiting.begin());
	}
}

void Pairing::give_up(uint64_t object, ServingEnd &end, uint64_t at_ns)
{
	const auto is_old = [&](uint64_t taken_ns) { return taken_ns + kLongestOpenNs < at_ns; };
	while (!end.waiting.empty() && is_old(end.waiting.front().taken_ns)) {
		unpaired_[object].too_old++;
		end.waiting.erase(end.waiting.begin());
	}
	end.owed_ns.erase(end.owed_ns.begin(), std::ranges::find_if_not(end.owed_ns, is_old));
}

void Pairing::answer(uint64_t object, const CallKey &by, uint64_t at_ns)
{
	ServingEnd &end = objects_.use(object).requests;
	if (end.waiting.empty()) {
		if (end.owed_ns.empty())
			end.spare_ns = at_ns;
		else
			end.owed_ns.erase(end.owed_ns.begin());
		return;
	}
	if (end.waiting.size() == 1 && end.owed_ns.empty() && end.waiting.front().server == by.first && by.first != 0) {
		answers_[end.waiting.front().request] = by;
	} else {
		unpaired_[object].ambiguous += end.waiting.size();
		for (const Waiting &one : end.waiting)
			end.owed_ns.push_back(one.taken_ns);
		end.owed_ns.erase(end.owed_ns.begin()); // this answer
	}
	end.waiting.clear();
}

uint64_t Pairing::oldest_ns() const
{
	uint64_t oldest_ns = UINT64_MAX;
	for (const auto &[object, its] : objects_)
		for (const Waiting &one : its.requests.waiting)
			oldest_ns = std::min(oldest_ns, one.send_ns);
	return oldest_ns;
}

void Pairing::forget_before(uint64_t at_ns)
{
	std::erase_if(answers_, [&](const auto &pair) { return pair.first.second < at_ns; });
}

std::vector<Request> requests_of(const CalledMessages &messages, const Pairing &pairing)
{
	const Builder builder(messages, pairing);
	std::vector<Request> requests;
	for (const CalledMessage &message : messages.all)
		if (Request request; pairing.answers().contains(message.give) && builder.build(message, request))
			requests.push_back(std::move(request));
	return requests;
}

std::vector<const CalledMessage *> chain_of(const Request &request)
{
	std::vector<const CalledMessage *> chain{request.asked};
	for (const Request &inner : request.nested)
		std::ranges::copy(chain_of(inner), std::back_inserter(chain));
	chain.push_back(request.answered);
	return chain;
}

} // namespace icepath::decode
