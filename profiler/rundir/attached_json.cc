// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/attached_json.h"

#include "profiler/rundir/json_field.h"
#include "profiler/rundir/limits.h"

namespace icepath::rundir {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char *kKinds[] = {"unix-stream", "tcp", "pipe", "fifo"};
constexpr const char *kRoles[] = {"unknown", "connected", "accepted"};

Json to_json(const model::ConnectionEnd &end)
{
	return {{"object", end.object},
			{"process", end.process},
			{"process_name", end.process_name},
			{"role", kRoles[static_cast<size_t>(end.role)]}};
}

model::ConnectionEnd end_from_json(const Json &json)
{
	return {unsigned_field(json, "object"), u32_field(json, "process"), name_field(json, "process_name"),
			enum_field<model::EndRole>(json, "role", kRoles)};
}

model::Connection connection_from_json(const Json &json)
{
	model::Connection connection;
	connection.kind = enum_field<model::StreamKind>(json, "kind", kKinds);
	const Json &ends = array_field(json, "ends", connection.ends.size());
	if (ends.size() != connection.ends.size())
		wrong("ends", "hasn't two items");
	for (size_t i = 0; i < connection.ends.size(); ++i)
		connection.ends[i] = end_from_json(ends[i]);
	connection.leaves_machine = bool_field(json, "leaves_machine");
	return connection;
}

} // namespace

Json to_json(const model::Attached &attached)
{
	Json targets = Json::array();
	for (const model::Target &target : attached.targets)
		targets.push_back({{"process", target.process}, {"name", target.name}, {"start_ns", target.start_ns}});
	return {{"targets", targets}};
}

Json to_json(const model::Detached &detached)
{
	Json connections = Json::array(), unfollowed = Json::array();
	for (const model::Connection &one : detached.connections)
		connections.push_back({{"kind", kKinds[static_cast<size_t>(one.kind)]},
							   {"ends", {to_json(one.ends[0]), to_json(one.ends[1])}},
							   {"leaves_machine", one.leaves_machine}});
	for (const model::UnfollowedCalls &some : detached.unfollowed)
		unfollowed.push_back({{"what", some.what}, {"process_name", some.process_name}, {"calls", some.calls}});
	return {{"connections", connections}, {"unfollowed", unfollowed}};
}

model::Attached attached_from_json(const Json &json)
{
	model::Attached attached;
	for (const Json &one : array_field(json, "targets", kMaxTargets))
		attached.targets.push_back(
			{u32_field(one, "process"), name_field(one, "name"), unsigned_field(one, "start_ns")});
	return attached;
}

model::Detached detached_from_json(const Json &json)
{
	model::Detached detached;
	for (const Json &one : array_field(json, "connections", kMaxConnections))
		detached.connections.push_back(connection_from_json(one));
	for (const Json &one : array_field(json, "unfollowed", kMaxUnfollowed))
		detached.unfollowed.push_back(
			{name_field(one, "what"), name_field(one, "process_name"), unsigned_field(one, "calls")});
	return detached;
}

} // namespace icepath::rundir
