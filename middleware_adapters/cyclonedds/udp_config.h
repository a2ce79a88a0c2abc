// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings for UDP on the loopback device, and those that an arm of a run adds.
#include <string>

#include "plugin_kit/arm_settings.h"

namespace icepath::plugin_kit {

// The library takes several configurations, of which the last one that has a setting counts.
inline std::string with_arm(const std::string &config)
{
	const std::string of_arm = value_of_arm("CYCLONEDDS_URI");
	return of_arm.empty() ? config : config + "," + of_arm;
}

// When a writer waits for acknowledgements: see udp.cc.
inline constexpr const char *kWatermarks = "<WhcHighInit>500kB</WhcHighInit>";

// Only discovery uses multicast. `size`: of datagrams; by default the library's.
inline std::string cyclone_by_udp(uint32_t domain, const std::string &watermarks = kWatermarks,
								  const std::string &size = "")
{
	return R"(<CycloneDDS><Domain>
<General><Interfaces><NetworkInterface name="lo"/></Interfaces><AllowMulticast>spdp</AllowMulticast>)" +
		   size + R"(</General>
<Discovery><ExternalDomainId>)" +
		   std::to_string(domain) + R"(</ExternalDomainId></Discovery>
<Internal><Watermarks>)" +
		   watermarks +
		   R"(</Watermarks></Internal>
<Tracing><Verbosity>none</Verbosity></Tracing>
</Domain></CycloneDDS>)";
}

} // namespace icepath::plugin_kit
