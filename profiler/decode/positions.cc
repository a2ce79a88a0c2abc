// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/positions.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "ebpf/records.h"
#include "profiler/decode/spans.h"
#include "profiler/path/blocking.h"

namespace icepath::decode {
namespace {

// What happened at a stream.
struct Step {
	uint64_t at_ns = 0; // of a call: its end
	enum class Kind : uint8_t { Give, Take, Empty, Loss } kind = Kind::Give;
	uint64_t object = 0; // that bytes come out of
	const Thread *thread = nullptr;
	const Call *call = nullptr;
};

// Instants within a taking call at which the stream was empty, if nobody gave then and nobody else took during the
// call. A sleep that was ended before it began isn't one: it may have been for the stream's lock, and its holder's call
// may have begun later than this one.
void add_empty(const Thread &thread, const Call &call, std::vector<Step> &steps)
{
	if (call.found_nothing)
		steps.push_back({call.begin_ns, Step::Kind::Empty, call.object, &thread, &call});
	auto off = std::ranges::partition_point(thread.off, [&](const OffCpu &one) { return one.out_ns < call.begin_ns; });
	for (; off != thread.off.end() && off->out_ns < call.end_ns; ++off)
		if (!off->preempted && off->waking_ns >= off->out_ns)
			steps.push_back({off->out_ns, Step::Kind::Empty, call.object, &thread, &call});
}

// Counts begin at 0, and more may be taken than was given since then.
constexpr uint64_t kOrigin = uint64_t{1} << 62;

bool is_pipe(const Call &call)
{
	return call.stream == model::StreamKind::Pipe || call.stream == model::StreamKind::Fifo;
}

// Calls that move bytes of a stream.
struct Moving {
	Spans gives;
	std::map<const Thread *, Spans> takes;

	void put_in_order()
	{
		decode::put_in_order(gives);
		for (auto &[thread, spans] : takes)
			decode::put_in_order(spans);
	}

	bool show(const Step &empty) const
	{
		return !overlaps(gives, empty.at_ns, empty.at_ns) && std::ranges::none_of(takes, [&](const auto &one) {
			return one.first != empty.thread && overlaps(one.second, empty.call->begin_ns, empty.call->end_ns);
		});
	}
};

} // namespace

void Peers::know(const model::Connection &connection)
{
	const auto &[first, second] = connection.ends;
	for (const auto &[end, other] : {std::pair{&first, &second}, {&second, &first}}) {
		if (end->object == 0)
			continue;
		Object &one = objects_.use(end->object);
		one.wraps = one.wraps || connection.kind == model::StreamKind::Tcp;
		if (other->object != 0)
			one.other_end = other->object;
	}
}

// What was known before holds.
void Peers::join(uint64_t one, uint64_t other)
{
	if (one == 0 || other == 0 || one == other)
		return;
	for (const auto &[end, to] : {std::pair{one, other}, {other, one}})
		if (Object &its = objects_.use(end); its.other_end == 0)
			its.other_end = to;
}

void Peers::learn(const SocketEvents &events, const Observations &seen)
{
	std::unordered_map<uint32_t, std::vector<const SocketEvent *>> sent; // TCP, by the end in the stream
	for (const SocketEvent &event : events.device)
		if (event.has_stream_end && event.socket != 0) {
			sent[event.stream_end].push_back(&event);
			objects_.use(event.socket).wraps = true;
		}
	for (const auto &[tid, thread] : seen.threads)
		for (const Call &call : thread.calls) {
			join(call.object, call.other_end);
			const bool moves = call.kind == Call::Kind::Send || call.kind == Call::Kind::Receive;
			if (!moves || call.object == 0 || call.of_no_stream)
				continue;
			Object &its = objects_.use(call.object);
			if (is_pipe(call) && its.other_end == 0)
				its.other_end = call.object;
			its.wraps = its.wraps || call.stream == model::StreamKind::Tcp;
		}
	for (const SocketEvent &event : events.ready) {
		if (event.socket == 0)
			continue;
		Object &its = objects_.use(event.socket);
		its.wraps = its.wraps || event.has_stream_end;
		if (its.other_end != 0)
			continue;
		if (event.has_stream_end) {
			const auto found = sent.find(event.stream_end);
			if (found != sent.end() && found->second.size() == 1 && found->second.front()->at_ns <= event.at_ns)
				join(found->second.front()->socket, event.socket);
			continue;
		}
		const auto giver = seen.threads.find(event.tid);
		if (event.context != ICEPATH_CONTEXT_TASK || giver == seen.threads.end())
			continue;
		const Call *call = call_at(giver->second, event.at_ns);
		if (call && call->kind == Call::Kind::Send)
			join(call->object, event.socket);
	}
}

uint64_t Peers::comes_out_of(uint64_t given_to) const
{
	const Object *found = objects_.find(given_to);
	return found ? found->other_end : 0;
}

void Positions::count(const Observations &seen, const Peers &peers, uint64_t until_ns)
{
	const auto wraps = [&](uint64_t object) {
		const Object *one = objects_.find(object);
		return one && one->wraps;
	};
	std::vector<Step> steps, later;
	std::unordered_map<uint64_t, Moving> moving; // by stream
	for (const auto &[tid, thread] : seen.threads)
		for (const Call &call : thread.calls) {
			const bool gave = call.kind == Call::Kind::Send, took = call.kind == Call::Kind::Receive;
			if (call.object == 0 || call.of_no_stream || (!gave && !took) ||
				(call.position != 0 && !wraps(call.object) && !is_pipe(call)))
				continue;
			const uint64_t object = gave ? peers.comes_out_of(call.object) : call.object;
			if (object == 0)
				continue;
			if (call.moved)
				(gave ? moving[object].gives : moving[object].takes[&thread]).push_back({call.begin_ns, call.end_ns});
			if (call.end_ns <= until_ns_)
				continue;
			if (call.position != 0)
				objects_.use(call.object).without_whole = true;
			if (call.moved)
				(call.end_ns > until_ns ? later : steps)
					.push_back({call.end_ns, gave ? Step::Kind::Give : Step::Kind::Take, object, &thread, &call});
			if (took && call.end_ns <= until_ns)
				add_empty(thread, call, steps);
		}
	for (const LossWindow &lost : seen.lost)
		if (lost.end_ns > until_ns_ && lost.end_ns <= until_ns)
			steps.push_back({lost.end_ns, Step::Kind::Loss, 0, nullptr, nullptr});
	for (auto &[object, calls] : moving)
		calls.put_in_order();
	std::ranges::stable_sort(steps, {}, &Step::at_ns);
	for (const Step &step : steps)
		if (step.kind == Step::Kind::Give || step.kind == Step::Kind::Take)
			count_step(*step.thread, *step.call, step.object);
	for (const Step &step : steps)
		if (step.kind == Step::Kind::Loss)
			lost(step.at_ns);
		else if (step.kind == Step::Kind::Empty && moving[step.object].show(step))
			was_empty(step.object, step.at_ns);
	std::unordered_map<uint64_t, StreamCount::Totals> totals; // by stream
	std::ranges::stable_sort(later, {}, &Step::at_ns);
	for (const Step &step : later) {
		StreamCount::Totals &now =
			totals.try_emplace(step.object, objects_.use(step.object).count.totals).first->second;
		if (const std::optional<Own> own = next(now, *step.call, step.object))
			places_[key_of(*step.thread, *step.call)] = *own;
	}
	until_ns_ = until_ns;
}

std::optional<Positions::Own> Positions::next(StreamCount::Totals &totals, const Call &call, uint64_t object)
{
	uint64_t &total = call.kind == Call::Kind::Send ? totals.given : totals.taken;
	if (is_pipe(call) && (call.position != 0 || totals.by_capture)) {
		if (call.position == 0)
			return std::nullopt;
		totals.by_capture = true;
		total = call.position - 1;
		return Own{object, total, call.end_ns, true};
	}
	if (call.position != 0) {
		const auto modulo = static_cast<uint32_t>(call.position - 1);
		if (totals.last == 0)
			totals.last = kOrigin + modulo;
		else
			totals.last += static_cast<uint64_t>(static_cast<int32_t>(modulo - static_cast<uint32_t>(totals.last)));
		return Own{object, totals.last, call.end_ns, false};
	}
	total += call.bytes;
	return Own{object, total, call.end_ns, true};
}

void Positions::count_step(const Thread &thread, const Call &call, uint64_t object)
{
	StreamCount &counter = objects_.use(object).count;
	const bool gave = call.kind == Call::Kind::Send;
	auto &counted = gave ? counter.given : counter.taken;
	StreamCount::Threads &threads = gave ? counter.givers : counter.takers;
	if (threads.first == 0)
		threads.first = thread.tid;
	else if (threads.first != thread.tid)
		threads.several_ns = std::min(threads.several_ns, call.end_ns);
	const bool was_by_capture = counter.totals.by_capture;
	const std::optional<Own> own = next(counter.totals, call, object);
	if (!own) {
		places_.erase(key_of(thread, call));
		return;
	}
	if (counter.totals.by_capture && !was_by_capture) { // what was counted had another origin
		counter.given.clear();
		counter.taken.clear();
		counter.taken_less_given.reset();
	}
	if (own->counted)
		counted.push_back({call.end_ns, own->total});
	places_[key_of(thread, call)] = *own;
}

// Any of the lost records may have been of any stream.
void Positions::lost(uint64_t at_ns)
{
	for (auto &[object, its] : objects_)
		if (its.count.taken_less_given) {
			its.count.taken_less_given.reset();
			its.count.contradicted_ns = at_ns;
		}
}

void Positions::was_empty(uint64_t object, uint64_t at_ns)
{
	StreamCount &counter = objects_.use(object).count;
	const auto total_at = [&](const std::vector<StreamCount::Counted> &counted) {
		const auto after =
			std::ranges::partition_point(counted, [&](const StreamCount::Counted &one) { return one.end_ns <= at_ns; });
		return after == counted.begin() ? 0 : std::prev(after)->total;
	};
	const uint64_t given = total_at(counter.given), taken = total_at(counter.taken), difference = taken - given;
	if (counter.totals.by_capture && difference != 0 && counter.taken_less_given != difference) {
		const bool again =
			counter.suspected == difference && given != counter.given_then && taken != counter.taken_then;
		counter.suspected = difference;
		counter.given_then = given;
		counter.taken_then = taken;
		if (!again) {
			if (counter.taken_less_given)
				counter.contradicted_ns = at_ns;
			counter.taken_less_given.reset();
			return;
		}
	}
	// What the capture told before the first proof may have had another origin.
	if (counter.taken_less_given != difference && (counter.taken_less_given || counter.totals.by_capture))
		counter.contradicted_ns = at_ns;
	counter.taken_less_given = difference;
}

std::optional<Place> Positions::given(const Thread &thread, const Call &call) const
{
	const auto own = places_.find(key_of(thread, call));
	if (own == places_.end())
		return call.position == 0 || objects_.use(call.object).without_whole
				   ? std::nullopt // of one that was forgotten, too
				   : std::optional(Place{call.position - 1, false});
	if (!own->second.counted)
		return Place{own->second.total, false};
	const StreamCount &counter = objects_.use(own->second.object).count;
	return Place{kOrigin + own->second.total, !counter.totals.by_capture || counter.taken_less_given != 0,
				 own->second.end_ns >= counter.givers.several_ns};
}

std::optional<Place> Positions::taken(const Thread &thread, const Call &call) const
{
	const auto own = places_.find(key_of(thread, call));
	if (own == places_.end() || !own->second.counted)
		return given(thread, call);
	const StreamCount &counter = objects_.use(own->second.object).count;
	if (!counter.taken_less_given)
		return std::nullopt;
	return Place{kOrigin + own->second.total - *counter.taken_less_given,
				 !counter.totals.by_capture || counter.taken_less_given != 0,
				 own->second.end_ns >= counter.takers.several_ns};
}

std::optional<uint64_t> Positions::contradicted_ns(uint64_t object) const
{
	const Object *one = objects_.find(object);
	return one ? one->count.contradicted_ns : std::nullopt;
}

void Positions::forget_before(uint64_t at_ns)
{
	for (auto &[object, its] : objects_)
		for (auto *counted : {&its.count.given, &its.count.taken}) {
			const auto after = std::ranges::partition_point(
				*counted, [&](const StreamCount::Counted &one) { return one.end_ns < at_ns; });
			if (after - counted->begin() > 1)
				counted->erase(counted->begin(), std::prev(after));
		}
	std::erase_if(places_, [&](const auto &place) { return place.second.end_ns < at_ns; });
}

} // namespace icepath::decode
