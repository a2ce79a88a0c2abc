// SPDX-License-Identifier: Apache-2.0
// The plug-in of pipes, built once more: before each of its sending calls it works for kAddedNs. Another build of one
// library, whose difference is known.
#include "tests/end_to_end/slowed_plugin.h"
#include "icepath/plugin.h"
#include "plugin_kit/plugin_table.h"

extern "C" const icepath_plugin *plain_plugin_get(void); // transports/pipe.cc's (CMakeLists.txt)

namespace {

int send_slowly(icepath_endpoint *endpoint, icepath_send *message)
{
	const uint64_t end_ns = icepath_now_ns() + icepath::end_to_end::kAddedNs;
	while (icepath_now_ns() < end_ns) {
	}
	return plain_plugin_get()->send(endpoint, message);
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin slowed = *plain_plugin_get();
		slowed.send = send_slowly;
		return slowed;
	}();
	return &plugin;
}
