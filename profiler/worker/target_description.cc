// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/target_description.h"

#include "profiler/worker/daemon.h"

namespace icepath::worker {

void describe_target(const Plugin &plugin, const icepath_target &target, TargetReply &reply)
{
	put(reply.name, target.name);
	put(reply.summary, target.summary);
	put(reply.max_payload_why, target.max_payload_why);
	put(reply.why_not, target.why_not);
	put(reply.library_version, plugin.calls().library_version);
	reply.waits = target.waits;
	reply.mechanisms = target.mechanisms;
	reply.capabilities = target.capabilities;
	reply.max_payload_bytes = target.max_payload_bytes;
	reply.max_part_bytes = target.max_part_bytes;
	reply.fanin_waits = target.fanin_waits;
	reply.fanin_max_bytes = target.fanin_max_bytes;
	reply.qos = target.qos;
	if (const icepath_daemon *daemon = plugin.calls().daemon) {
		put(reply.daemon, name_of(*daemon).c_str());
		put(reply.why_no_daemon, why_not_there(*daemon).c_str());
	}
}

} // namespace icepath::worker
