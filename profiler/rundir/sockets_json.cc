// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/sockets_json.h"

#include <algorithm>

#include "profiler/rundir/json_field.h"
#include "profiler/rundir/limits.h"

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const model::BufferSizes &sizes) { return {sizes.low, sizes.high}; }

model::BufferSizes sizes_from_json(const Json &json, const char *key)
{
	const Json &sizes = array_field(json, key, 2);
	if (sizes.size() != 2 || !std::ranges::all_of(sizes, &Json::is_number_unsigned))
		wrong(key, "isn't a list of two whole numbers");
	return {sizes[0].get<uint64_t>(), sizes[1].get<uint64_t>()};
}

Json to_json(const model::SocketGroup &group)
{
	return {{"side", group.side},
			{"domain", group.domain},
			{"type", group.type},
			{"protocol", group.protocol},
			{"count", group.count},
			{"send_buffer_bytes", to_json(group.send_buffer)},
			{"receive_buffer_bytes", to_json(group.receive_buffer)},
			{"buffers_set", group.buffers_set},
			{"no_delay", group.no_delay},
			{"congestion", group.congestion_name()},
			{"dropped", group.dropped},
			{"retransmitted", group.retransmitted}};
}

model::SocketGroup group_from_json(const Json &json, size_t sides)
{
	model::SocketGroup group;
	group.side = u32_field(json, "side");
	if (group.side >= sides)
		wrong("side", "names a side that the cell doesn't have");
	group.domain = u32_field(json, "domain");
	group.type = u32_field(json, "type");
	group.protocol = u32_field(json, "protocol");
	group.count = u32_field(json, "count");
	group.send_buffer = sizes_from_json(json, "send_buffer_bytes");
	group.receive_buffer = sizes_from_json(json, "receive_buffer_bytes");
	group.buffers_set = u32_field(json, "buffers_set");
	group.no_delay = u32_field(json, "no_delay");
	const std::string &name = text_field(json, "congestion");
	if (name.size() >= group.congestion.size())
		wrong("congestion", "is longer than a name of the kernel's");
	name.copy(group.congestion.data(), group.congestion.size());
	group.dropped = unsigned_field(json, "dropped");
	group.retransmitted = unsigned_field(json, "retransmitted");
	if (!can_be_true(group))
		wrong("groups", "has one that can't be true");
	return group;
}

model::KernelCounts counts_from_json(const Json &json)
{
	model::KernelCounts counts;
	for (const model::KernelCountField &field : model::kKernelCountFields)
		if (json.contains(field.key)) // absent in runs from before there was that counter
			counts.*field.count = unsigned_or_null(json, field.key).value_or(model::kNotCounted);
	return model::believable(counts);
}

} // namespace

Json to_json(const model::KernelCounts &counts)
{
	Json json = Json::object();
	for (const model::KernelCountField &field : model::kKernelCountFields)
		json[field.key] = counts.*field.count == model::kNotCounted ? Json(nullptr) : Json(counts.*field.count);
	return json;
}

Json to_json(const model::BlockSockets &sockets)
{
	Json groups = Json::array();
	for (const model::SocketGroup &group : sockets.groups)
		groups.push_back(to_json(group));
	return {{"groups", groups},
			{"loopback_mtu", sockets.loopback_mtu},
			{"counts", sockets.counts ? to_json(*sockets.counts) : Json(nullptr)}};
}

model::BlockSockets sockets_from_json(const Json &json, size_t sides)
{
	model::BlockSockets sockets;
	for (const Json &group : array_field(json, "groups", kMaxSides * model::kMostSocketGroups))
		sockets.groups.push_back(group_from_json(group, sides));
	sockets.loopback_mtu = unsigned_field(json, "loopback_mtu", model::kMostMtu);
	if (!field(json, "counts").is_null())
		sockets.counts = counts_from_json(object_field(json, "counts"));
	return sockets;
}

} // namespace icepath::rundir
