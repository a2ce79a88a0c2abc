// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps a library's std::exception inside the plug-in. The adapter's body must catch anything else.
#include <exception>

#include "icepath/plugin.h"

namespace icepath::plugin_kit {

// Returns the body's status, or ICEPATH_FAILED with a sentence. `doing`: the action to name in it.
template <class Endpoint, class Body> int guarded(Endpoint &end, const char *doing, Body body)
{
	try {
		return body();
	} catch (const std::exception &failure) {
		return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, doing, failure.what());
	}
}

} // namespace icepath::plugin_kit
