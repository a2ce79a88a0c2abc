// SPDX-License-Identifier: Apache-2.0
#include "profiler/attach/connections.h"

#include <algorithm>
#include <iterator>

#include "ebpf/records.h"
#include "profiler/model/task_name.h"

namespace icepath::attach {
namespace {

bool is_pipe(const icepath_end &end) { return end.kind == ICEPATH_OBJECT_PIPE || end.kind == ICEPATH_OBJECT_FIFO; }

model::StreamKind kind_of(uint8_t kind)
{
	return kind == ICEPATH_OBJECT_TCP    ? model::StreamKind::Tcp
		   : kind == ICEPATH_OBJECT_PIPE ? model::StreamKind::Pipe
		   : kind == ICEPATH_OBJECT_FIFO ? model::StreamKind::Fifo
										 : model::StreamKind::UnixStream;
}

model::EndRole role_of(const icepath_end &end)
{
	return end.role == ICEPATH_END_CONNECTED  ? model::EndRole::Connected
		   : end.role == ICEPATH_END_ACCEPTED ? model::EndRole::Accepted
											  : model::EndRole::Unknown;
}

model::Connection connection_of(std::span<const icepath_end *const> ends)
{
	model::Connection connection;
	connection.kind = kind_of(ends.front()->kind);
	for (const icepath_end *one : ends) {
		const icepath_end &end = *one;
		const size_t first = connection.ends[0].object == 0 ? 0 : 1;
		const size_t place = is_pipe(end) ? (end.role == ICEPATH_END_WRITES ? 0 : 1) : first;
		connection.ends[place] = {end.object, end.tgid, model::task_name(end.comm), role_of(end)};
		connection.leaves_machine = connection.leaves_machine || end.leaves_machine != 0;
	}
	// Whoever listened has gone, and what it had accepted looks connected.
	if (connection.ends[0].role == connection.ends[1].role)
		connection.ends[0].role = connection.ends[1].role = model::EndRole::Unknown;
	return connection;
}

// One connection, or ends of several of which nobody knows who belongs to whom.
std::vector<model::Connection> connections_of(const std::map<uint64_t, icepath_end> &by_key)
{
	std::vector<const icepath_end *> ends;
	for (const auto &[key, end] : by_key)
		ends.push_back(&end);
	const bool is_tcp = ends.front()->kind == ICEPATH_OBJECT_TCP;
	if (ends.size() <= 2 && !(is_tcp && ends.size() == 2 && ends[0]->side == ends[1]->side))
		return {connection_of(ends)};
	std::vector<model::Connection> connections;
	for (const icepath_end *end : ends)
		connections.push_back(connection_of({{end}}));
	return connections;
}

} // namespace

// Whether it is the same connection.
bool Connections::goes_on(const Pair &earlier, const Pair &listed)
{
	return earlier.kind != ICEPATH_OBJECT_TCP ||
		   std::ranges::any_of(earlier.ends, [&](const auto &end) { return listed.ends.contains(end.first); });
}

void Connections::end(const Pair &pair) { std::ranges::move(connections_of(pair.ends), std::back_inserter(over_)); }

void Connections::add(std::span<const icepath_end> ends)
{
	std::set<uint64_t> listening;
	for (const icepath_end &end : ends)
		if (end.role == ICEPATH_END_LISTENS)
			listening.insert(end.place);
	std::map<uint64_t, Pair> pairs;
	for (icepath_end end : ends) {
		if (end.role == ICEPATH_END_LISTENS)
			continue;
		// Who listened may have stopped meanwhile.
		if (end.kind == ICEPATH_OBJECT_TCP)
			end.role = listening.contains(end.place) || listening_.contains(end.place) ? ICEPATH_END_ACCEPTED
																					   : ICEPATH_END_CONNECTED;
		Pair &pair = pairs[end.pair];
		pair.kind = end.kind;
		// A descriptor may be in several processes: the one that was seen first has it.
		pair.ends.try_emplace(is_pipe(end) ? end.role : end.object, end);
	}
	for (auto &[name, earlier] : pairs_)
		if (const auto listed = pairs.find(name); listed == pairs.end() || !goes_on(earlier, listed->second)) {
			end(earlier);
		} else {
			earlier.ends.merge(listed->second.ends);
			listed->second.ends = std::move(earlier.ends);
		}
	pairs_ = std::move(pairs);
	listening_ = std::move(listening);
	while (over_.size() > most_)
		over_.pop_front();
}

std::vector<model::Connection> Connections::open() const
{
	std::vector<model::Connection> connections;
	for (const auto &[name, pair] : pairs_)
		std::ranges::move(connections_of(pair.ends), std::back_inserter(connections));
	return connections;
}

std::vector<model::Connection> Connections::all() const
{
	std::vector<model::Connection> connections = open();
	if (connections.size() > most_)
		connections.resize(most_);
	for (auto one = over_.rbegin(); one != over_.rend() && connections.size() < most_; ++one)
		connections.push_back(*one);
	return connections;
}

} // namespace icepath::attach
