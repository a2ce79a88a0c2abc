// SPDX-License-Identifier: Apache-2.0
#pragma once
// A target of a library whose messages pass through its own threads, or through a daemon.
#include "icepath/plugin.h"

namespace icepath::plugin_kit {

// The caller adds capabilities beyond a ping-pong. The texts must live as long as the plug-in.
inline icepath_target relayed_target(const char *name, const char *summary, uint32_t waits, uint64_t max_payload_bytes,
									 const char *max_payload_why)
{
	icepath_target it{};
	it.size = sizeof(it);
	it.name = name;
	it.summary = summary;
	it.waits = waits;
	it.mechanisms = ICEPATH_USES_LIBRARY_CALLS | ICEPATH_USES_LIBRARY_THREADS;
	it.max_payload_bytes = max_payload_bytes;
	it.max_payload_why = max_payload_why;
	return it;
}

} // namespace icepath::plugin_kit
