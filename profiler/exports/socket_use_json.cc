// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/socket_use_json.h"

#include "profiler/rundir/sockets_json.h"

namespace icepath::exports {
namespace {

using Json = nlohmann::ordered_json;

Json buffer_json(const model::BufferSizes &sizes, bool set)
{
	return {{"least_bytes", sizes.low}, {"most_bytes", sizes.high}, {"set", set}};
}

Json group_json(const model::SocketGroup &group)
{
	const std::string control = group.congestion_name();
	return {{"name", model::socket_name(group)},
			{"count", group.count},
			{"send_buffer", buffer_json(group.send_buffer, (group.buffers_set & model::kSendBufferSet) != 0)},
			{"receive_buffer", buffer_json(group.receive_buffer, (group.buffers_set & model::kReceiveBufferSet) != 0)},
			{"congestion_control", control.empty() ? Json(nullptr) : Json(control)},
			{"no_delay", control.empty() ? Json(nullptr) : Json(group.no_delay != 0)},
			{"dropped", group.dropped},
			{"retransmitted", group.retransmitted}};
}

Json end_json(const analysis::SocketUse::End &end)
{
	Json groups = Json::array();
	for (const model::SocketGroup &group : end.groups)
		groups.push_back(group_json(group));
	return groups;
}

} // namespace

Json socket_use_json(const analysis::SocketUse &sockets)
{
	if (!sockets.any())
		return nullptr;
	return {{"sender", end_json(sockets.ends[0])},
			{"receiver", end_json(sockets.ends[1])},
			{"loopback_mtu", sockets.loopback_mtu > 0 ? Json(sockets.loopback_mtu) : Json(nullptr)},
			{"kernel_counts", sockets.counts ? rundir::to_json(*sockets.counts) : Json(nullptr)}};
}

} // namespace icepath::exports
