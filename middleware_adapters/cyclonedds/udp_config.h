// SPDX-License-Identifier: Apache-2.0
#pragma once
// How Cyclone DDS goes by UDP on the loopback device.
#include <string>

namespace icepath::plugin_kit {

// `domain`: another one than that of other implementations of DDS here. Only discovery is by multicast. WhcHigh begins with 500 kB: see udp.cc.
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
