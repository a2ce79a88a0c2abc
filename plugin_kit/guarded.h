// SPDX-License-Identifier: Apache-2.0
#pragma once
// No std::exception of a library's leaves its plug-in. What a library throws besides is its adapter's to catch within the body.
#include <exception>

#include "icepath/plugin.h"

namespace icepath::plugin_kit {

// What the body returns, or ICEPATH_FAILED with a sentence of the endpoint's. `doing`: what fails then.
template <class Endpoint, class Body> int guarded(Endpoint &end, const char *doing, Body body)
{
	try {
		return body();
	} catch (const std::exception &failure) {
		return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, doing, failure.what());
	}
}

} // namespace icepath::plugin_kit
