// SPDX-License-Identifier: Apache-2.0
#include "profiler/attach/connections.h"

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

} // namespace

void Connections::add(std::span<const icepath_end> ends)
{
	for (const icepath_end &end : ends) {
		if (end.role == ICEPATH_END_LISTENS) {
			listening_.insert(end.place);
			continue;
		}
		Pair &pair = pairs_[end.pair];
		pair.kind = end.kind;
		// A descriptor may be in several processes: the one that was seen first has it.
		pair.ends.try_emplace(is_pipe(end) ? end.role : end.object, end);
	}
}

std::vector<model::Connection> Connections::all(size_t most) const
{
	std::vector<model::Connection> connections;
	for (const auto &[name, pair] : pairs_) {
		if (connections.size() == most)
			break;
		model::Connection &connection = connections.emplace_back();
		connection.kind = kind_of(pair.kind);
		for (const auto &[key, end] : pair.ends) {
			const size_t first = connection.ends[0].object == 0 ? 0 : 1;
			const size_t place = is_pipe(end) ? (end.role == ICEPATH_END_WRITES ? 0 : 1) : first;
			model::ConnectionEnd &own = connection.ends[place];
			own = {end.object, end.tgid, model::task_name(end.comm), model::EndRole::Unknown};
			if (end.kind == ICEPATH_OBJECT_TCP)
				own.role = listening_.contains(end.place) ? model::EndRole::Accepted : model::EndRole::Connected;
			else if (end.role == ICEPATH_END_CONNECTED || end.role == ICEPATH_END_ACCEPTED)
				own.role = end.role == ICEPATH_END_CONNECTED ? model::EndRole::Connected : model::EndRole::Accepted;
			connection.leaves_machine = connection.leaves_machine || end.leaves_machine != 0;
		}
		// Whoever listened has gone, and what it had accepted looks connected.
		if (connection.ends[0].role == connection.ends[1].role)
			connection.ends[0].role = connection.ends[1].role = model::EndRole::Unknown;
	}
	return connections;
}

} // namespace icepath::attach
