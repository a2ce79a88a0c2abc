// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings for UDP on the loopback device.
#include <string>

namespace icepath::plugin_kit {

// `domain`: must differ from the other DDS implementations here. Only discovery uses multicast. WhcHigh starts at 500
// kB: see udp.cc.
inline std::string cyclone_by_udp(uint32_t domain)
{
	return R"(<CycloneDDS><Domain>
<General><Interfaces><NetworkInterface name="lo"/></Interfaces><AllowMulticast>spdp</AllowMulticast></General>
<Discovery><ExternalDomainId>)" +
		   std::to_string(domain) + R"(</ExternalDomainId></Discovery>
<Internal><Watermarks><WhcHighInit>500kB</WhcHighInit></Watermarks></Internal>
<Tracing><Verbosity>none</Verbosity></Tracing>
</Domain></CycloneDDS>)";
}

} // namespace icepath::plugin_kit
