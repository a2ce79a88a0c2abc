// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/messages.h"

#include <algorithm>

namespace icepath::report {
namespace {

using rundir::RecvStamp;
using rundir::SendStamp;

// By seq, so that each reception finds its message by bisection; a worker's stamps needn't be in order or dense.
std::vector<const SendStamp *> by_seq(const std::vector<SendStamp> &sends)
{
	std::vector<const SendStamp *> order;
	for (const SendStamp &send : sends)
		order.push_back(&send);
	std::ranges::stable_sort(order, {}, [](const SendStamp *send) { return send->seq; });
	const auto same = [](const SendStamp *a, const SendStamp *b) { return a->seq == b->seq; };
	order.erase(std::unique(order.begin(), order.end(), same), order.end());
	return order;
}

class Direction {
public:
	explicit Direction(const std::vector<SendStamp> &sends) : sends_(by_seq(sends)), received_(sends_.size()) {}

	void receive(const RecvStamp &recv, MessageCounts &counts, std::vector<uint64_t> &latencies)
	{
		const auto found =
			std::ranges::lower_bound(sends_, recv.seq, {}, [](const SendStamp *send) { return send->seq; });
		const bool known = found != sends_.end() && (*found)->seq == recv.seq;
		if ((recv.flags & rundir::kStampLeadIn) || (known && ((*found)->flags & rundir::kStampLeadIn)))
			return;
		if (!known || (recv.flags & rundir::kStampBadPayload))
			++counts.bad_payload;
		if (!known)
			return;
		const auto index = static_cast<size_t>(found - sends_.begin());
		if (received_[index]) {
			++counts.duplicate;
			return;
		}
		received_[index] = true;
		++counts.received;
		if (index < furthest_)
			++counts.reordered;
		furthest_ = std::max(furthest_, index);
		if (recv.recv_ns < (*found)->send_ns)
			++counts.inverted;
		else
			latencies.push_back(recv.recv_ns - (*found)->send_ns);
	}

	void count_sent(MessageCounts &counts) const
	{
		for (size_t i = 0; i < sends_.size(); ++i) {
			if (sends_[i]->flags & rundir::kStampLeadIn)
				continue;
			++counts.sent;
			counts.lost += !received_[i];
		}
	}

private:
	std::vector<const SendStamp *> sends_;
	std::vector<bool> received_;
	size_t furthest_ = 0;
};

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
}

BlockMessages look_at_messages(const rundir::Block &block, const rundir::Cell &cell)
{
	BlockMessages result;
	const bool pingpong = rundir::is_answered(cell.pattern);
	for (size_t from = 0; from < (pingpong ? 2u : 1u); ++from) {
		Direction direction(block.sides[from].sends);
		for (const RecvStamp &recv : block.sides[1 - from].recvs)
			direction.receive(recv, result.counts, result.latencies.one_way[from]);
		direction.count_sent(result.counts);
	}
	if (pingpong) {
		// The answer to message n has number n, so the two ends of a round trip are one more direction.
		Direction trips(block.sides[0].sends);
		MessageCounts already_counted;
		for (const RecvStamp &recv : block.sides[0].recvs)
			trips.receive(recv, already_counted, result.latencies.round_trip);
	} else {
		for (const SendStamp &send : block.sides[0].sends)
			if (!(send.flags & rundir::kStampLeadIn) && send.intended_ns != 0 && send.send_ns >= send.intended_ns)
				result.latencies.pacing.push_back(send.send_ns - send.intended_ns);
	}
	return result;
}

} // namespace icepath::report
