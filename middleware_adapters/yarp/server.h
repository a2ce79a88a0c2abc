// SPDX-License-Identifier: Apache-2.0
#pragma once
// yarpserver, and the process's membership of the YARP network.
#include <yarp/os/Network.h>

#include <cstdlib>
#include <iostream>
#include <utility>

#include "icepath/plugin.h"

namespace icepath::plugin_kit {

// --write: publishes its address to the workers in a file. The line that reports readiness stays in a buffer; `ready`
// is the one before.
inline const char *const kArguments[] = {"--ip", "127.0.0.1", "--socket", "10000", "--write", nullptr};
inline const icepath_daemon kServer = {sizeof(icepath_daemon), YARPSERVER, nullptr, kArguments, nullptr, nullptr,
									   "Port /root active at"};

// For this process, and for yarpserver where a worker becomes it. Nothing may be read from or left in the user's home.
inline void set_environment()
{
	for (const auto &[name, value] : {std::pair{"YARP_CONFIG_HOME", "/tmp/icepath-yarp"},
									  {"YARP_DATA_HOME", "/tmp/icepath-yarp"},
									  {"YARP_RUNTIME_DIR", "/tmp/icepath-yarp"},
									  {"YARP_DATA_DIRS", YARP_DATA}}) // where it finds carriers that are plug-ins
		setenv(name, value, 1);
	for (const char *name : {"YARP_PORT_PREFIX", "YARP_CLOCK", "YARP_QUIET"})
		unsetenv(name);
}

// Joins the network until the process ends.
inline void join_network()
{
	static const yarp::os::Network *const only = [] {
		// YARP prints each port and connection there, at levels fixed when the library was loaded.
		std::cout.rdbuf(nullptr);
		std::cerr.rdbuf(nullptr);
		return new yarp::os::Network(yarp::os::YARP_CLOCK_SYSTEM);
	}();
	static_cast<void>(only);
}

} // namespace icepath::plugin_kit
