// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/messages.h"

#include <algorithm>
#include <map>
#include <set>

namespace icepath::analysis {
namespace {

using model::RecvStamp;
using model::SendStamp;

// Sorted by seq, to find each reception's message by bisection: a worker's stamps may be out of order or have gaps.
std::vector<const SendStamp *> sorted_by_seq(const std::vector<SendStamp> &sends)
{
	std::vector<const SendStamp *> order;
	order.reserve(sends.size());
	for (const SendStamp &send : sends)
		order.push_back(&send);
	const auto seq = [](const SendStamp *send) { return send->seq; };
	if (!std::ranges::is_sorted(order, {}, seq)) // mostly it is
		std::ranges::stable_sort(order, {}, seq);
	const auto same = [](const SendStamp *a, const SendStamp *b) { return a->seq == b->seq; };
	order.erase(std::unique(order.begin(), order.end(), same), order.end());
	return order;
}

class FlowCount {
public:
	explicit FlowCount(const std::vector<SendStamp> &sends)
		: sends_(sorted_by_seq(sends)), received_(sends_.size()), recv_ns_(sends_.size())
	{}

	// The reception's send, if the message has a latency: recv.recv_ns - send_ns.
	const SendStamp *receive(const RecvStamp &recv, MessageCounts &counts)
	{
		const size_t index = place_of(recv.seq);
		const bool known = index < sends_.size();
		if ((recv.flags & model::kStampWarmUp) || (known && (sends_[index]->flags & model::kStampWarmUp)))
			return nullptr;
		if (!known || (recv.flags & model::kStampBadPayload))
			++counts.bad_payload;
		if (!known)
			return nullptr;
		if (received_[index]) {
			++counts.duplicate;
			return nullptr;
		}
		received_[index] = true;
		recv_ns_[index] = recv.recv_ns;
		++counts.received;
		if (index < furthest_)
			++counts.reordered;
		furthest_ = std::max(furthest_, index);
		if (recv.recv_ns < sends_[index]->send_ns) {
			++counts.inverted;
			return nullptr;
		}
		return sends_[index];
	}

	// `typical_ns`: the block's median latency.
	void look_at_next(uint64_t typical_ns, MessageCounts &counts) const
	{
		for (size_t i = 0; i + 1 < sends_.size(); ++i) {
			const SendStamp &send = *sends_[i], &next = *sends_[i + 1];
			const uint64_t sent_ns = send.send_ns, next_ns = next.send_ns;
			if (!received_[i] || next_ns <= sent_ns || recv_ns_[i] < next_ns)
				continue;
			const uint64_t soon_ns = (next_ns - sent_ns) / ComesWithNext::kTimesFaster;
			const bool was_handed_over = send.return_ns >= sent_ns && send.return_ns - sent_ns <= soon_ns;
			const bool is_on_time = next.intended_ns != 0 && next_ns <= next.intended_ns + soon_ns;
			if (typical_ns > soon_ns || !was_handed_over || !is_on_time)
				continue;
			++counts.after_next;
			counts.with_next += recv_ns_[i] - next_ns <= soon_ns;
		}
	}

	void look_at_sends(BlockMessages &into) const
	{
		into.latencies.send_call.reserve(into.latencies.send_call.size() + sends_.size());
		for (size_t i = 0; i < sends_.size(); ++i) {
			const SendStamp &send = *sends_[i];
			if (send.flags & model::kStampWarmUp)
				continue;
			++into.counts.sent;
			into.counts.lost += !received_[i];
			into.counts.copied_after_all += (send.flags & model::kStampCopied) != 0;
			into.sent.add(send.send_ns);
			if (send.call_ns != 0 && send.return_ns >= send.call_ns)
				into.latencies.send_call.push_back(send.return_ns - send.call_ns);
		}
	}

private:
	// sends_.size() if no message has the number. Mostly it is the one after the last that was asked for.
	size_t place_of(uint64_t seq)
	{
		if (next_ == sends_.size() || sends_[next_]->seq != seq)
			next_ = static_cast<size_t>(
				std::ranges::lower_bound(sends_, seq, {}, [](const SendStamp *send) { return send->seq; }) -
				sends_.begin());
		return next_ < sends_.size() && sends_[next_]->seq == seq ? next_++ : sends_.size();
	}

	std::vector<const SendStamp *> sends_;
	std::vector<bool> received_; // counted ones
	std::vector<uint64_t> recv_ns_; // of those
	size_t furthest_ = 0, next_ = 0;
};

// The responses to message n are numbered from n·r on.
std::vector<uint64_t> times_to_response(const model::Block &block, const model::Cell &cell, uint64_t which)
{
	FlowCount requests(block.flows[0].sends);
	MessageCounts already_counted;
	std::vector<uint64_t> times;
	for (RecvStamp recv : block.flows[1].recvs) {
		if (recv.seq % cell.levels.responses != which)
			continue;
		recv.seq /= cell.levels.responses;
		if (const SendStamp *send = requests.receive(recv, already_counted))
			times.push_back(recv.recv_ns - send->send_ns);
	}
	return times;
}

// For each message that all receivers got, the time from its send until the last one had it.
std::vector<uint64_t> times_to_all(const model::Block &block)
{
	struct Reached {
		size_t receivers = 0;
		uint64_t longest_ns = 0;
	};
	std::map<uint64_t, Reached> reached; // by seq
	for (const model::BlockFlow &flow : block.flows) {
		FlowCount direction(flow.sends);
		MessageCounts already_counted;
		for (const RecvStamp &recv : flow.recvs)
			if (const SendStamp *send = direction.receive(recv, already_counted)) {
				Reached &message = reached[recv.seq];
				message.receivers++;
				message.longest_ns = std::max(message.longest_ns, recv.recv_ns - send->send_ns);
			}
	}
	std::vector<uint64_t> times;
	for (const auto &[seq, message] : reached)
		if (message.receivers == block.flows.size())
			times.push_back(message.longest_ns);
	return times;
}

} // namespace

void MessageCounts::add(const MessageCounts &more)
{
	sent += more.sent;
	received += more.received;
	lost += more.lost;
	duplicate += more.duplicate;
	reordered += more.reordered;
	bad_payload += more.bad_payload;
	inverted += more.inverted;
	late += more.late;
	too_late += more.too_late;
	after_next += more.after_next;
	with_next += more.with_next;
	copied_after_all += more.copied_after_all;
}

Lateness lateness_of(const model::Cell &cell)
{
	Lateness lateness;
	const bool bursts = cell.pattern == model::Pattern::Burst;
	if (cell.rate_hz || bursts) {
		const double period_ns = bursts ? static_cast<double>(cell.levels.recovery_ns) : 1e9 / *model::due_hz(cell);
		const auto at_most = [](uint64_t absolute_ns, double ns) {
			return ns < static_cast<double>(absolute_ns) ? static_cast<uint64_t>(ns) : absolute_ns;
		};
		lateness.late_ns = at_most(lateness.late_ns, period_ns / 5);
		lateness.too_late_ns = at_most(lateness.too_late_ns, period_ns);
	}
	return lateness;
}

void Span::add(uint64_t at_ns)
{
	first_ns = count == 0 ? at_ns : std::min(first_ns, at_ns);
	last_ns = std::max(last_ns, at_ns);
	++count;
}

std::optional<double> Span::per_s() const
{
	if (count < 2 || last_ns == first_ns)
		return std::nullopt;
	return static_cast<double>(count - 1) * 1e9 / static_cast<double>(last_ns - first_ns);
}

void Jitter::add(const std::vector<uint64_t> &latencies)
{
	for (size_t i = 1; i < latencies.size(); ++i) {
		const auto [less, more] = std::minmax(latencies[i - 1], latencies[i]);
		sum_ns += static_cast<double>(more - less);
		++count;
	}
}

namespace {

uint64_t median_latency(std::vector<uint64_t> values)
{
	const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
	std::ranges::nth_element(values, middle);
	return *middle;
}

} // namespace

BlockMessages look_at_messages(const model::Block &block, const model::Cell &cell)
{
	BlockMessages result;
	const Lateness lateness = lateness_of(cell);
	for (const model::BlockFlow &flow : block.flows) {
		FlowCount direction(flow.sends);
		std::vector<uint64_t> &latencies = result.latencies.by_flow.emplace_back();
		latencies.reserve(flow.recvs.size());
		for (const RecvStamp &recv : flow.recvs)
			if (const SendStamp *send = direction.receive(recv, result.counts)) {
				const uint64_t ns = recv.recv_ns - send->send_ns;
				latencies.push_back(ns);
				result.received.add(recv.recv_ns);
				if (ns > lateness.late_ns)
					++(ns > lateness.too_late_ns ? result.counts.too_late : result.counts.late);
				if (model::is_paced(cell) && send->intended_ns != 0 && send->send_ns >= send->intended_ns)
					result.latencies.from_due.push_back(recv.recv_ns - send->intended_ns);
			}
		direction.look_at_sends(result);
		if (model::is_paced(cell) && !latencies.empty())
			direction.look_at_next(median_latency(latencies), result.counts);
	}
	if (model::is_answered(cell.pattern)) {
		result.latencies.round_trip = times_to_response(block, cell, cell.levels.responses - 1);
		if (cell.levels.responses > 1)
			result.latencies.first_response = times_to_response(block, cell, 0);
	} else {
		std::set<uint32_t> senders; // a sender gives a message to all of its flows at once
		for (size_t flow = 0; flow < block.flows.size(); ++flow)
			if (senders.insert(cell.graph.flows[flow].from).second)
				for (const SendStamp &send : block.flows[flow].sends)
					if (!(send.flags & model::kStampWarmUp) && send.intended_ns != 0 &&
						send.send_ns >= send.intended_ns)
						result.latencies.pacing.push_back(send.send_ns - send.intended_ns);
	}
	if (model::receivers_of(cell) > 1)
		result.latencies.to_all = times_to_all(block);
	return result;
}

std::vector<uint64_t> BlockLatencies::all() const
{
	std::vector<uint64_t> all;
	for (const std::vector<uint64_t> &flow : by_flow)
		all.insert(all.end(), flow.begin(), flow.end());
	return all;
}

} // namespace icepath::analysis
