// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings for UDP on the loopback device.
#include <string>

namespace icepath::plugin_kit {

// Only discovery uses multicast. `watermarks`: when a writer waits for acknowledgements; by default WhcHigh starts at
// 500 kB: see udp.cc.
inline std::string cyclone_by_udp(uint32_t domain, const std::string &watermarks = "<WhcHighInit>500kB</WhcHighInit>")
{
	return R"(<CycloneDDS><Domain>
<General><Interfaces><NetworkInterface name="lo"/></Interfaces><AllowMulticast>spdp</AllowMulticast></General>
<Discovery><ExternalDomainId>)" +
		   std::to_string(domain) + R"(</ExternalDomainId></Discovery>
<Internal><Watermarks>)" +
		   watermarks +
		   R"(</Watermarks></Internal>
<Tracing><Verbosity>none</Verbosity></Tracing>
</Domain></CycloneDDS>)";
}

} // namespace icepath::plugin_kit
