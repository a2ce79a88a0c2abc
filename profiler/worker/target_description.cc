// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/target_description.h"

#include "profiler/worker/daemon.h"
#include "profiler/worker/text_field.h"

namespace icepath::worker {

void describe_target(const Plugin &plugin, const icepath_target &target, TargetReply &told)
{
	put(told.name, target.name);
	put(told.summary, target.summary);
	put(told.max_payload_why, target.max_payload_why);
	put(told.why_not, target.why_not);
	put(told.library_version, plugin.calls().library_version);
	told.waits = target.waits;
	told.mechanisms = target.mechanisms;
	told.capabilities = target.capabilities;
	told.max_payload_bytes = target.max_payload_bytes;
	told.max_part_bytes = target.max_part_bytes;
	told.fanin_waits = target.fanin_waits;
	told.fanin_max_bytes = target.fanin_max_bytes;
	told.qos = target.qos;
	if (const icepath_daemon *daemon = plugin.calls().daemon) {
		put(told.daemon, name_of(*daemon).c_str());
		put(told.why_no_daemon, why_not_there(*daemon).c_str());
	}
}

} // namespace icepath::worker
