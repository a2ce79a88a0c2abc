// SPDX-License-Identifier: Apache-2.0
#pragma once
// rosmaster, and this process's ROS node.
#include <ros/console.h>
#include <ros/ros.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "icepath/plugin.h"
#include "plugin_kit/library.h"

namespace icepath::plugin_kit {

// It reports readiness only in its log: here, on stderr.
inline constexpr const char *kLogging = "/tmp/icepath-rosmaster.conf";
inline constexpr const char *kToStderr = R"([loggers]
keys=root
[handlers]
keys=stderr
[formatters]
keys=plain
[logger_root]
level=INFO
handlers=stderr
[handler_stderr]
class=StreamHandler
formatter=plain
args=(sys.stderr,)
[formatter_plain]
format=%(message)s
)";
inline const char *const kArguments[] = {"--core", "-p", "11311", nullptr};
inline constexpr const char *kUri = "http://127.0.0.1:11311";
inline const icepath_daemon kMaster = {
	sizeof(icepath_daemon), "rosmaster", "python3-rosmaster", kArguments, kLogging, kToStderr, "Master initialized"};

// For this process, and for rosmaster where a worker becomes it: the user's settings are for another network than the
// run's, and logs would go to the user's home.
inline void set_environment()
{
	for (const auto &[name, value] : {std::pair{"ROS_MASTER_URI", kUri},
									  {"ROS_HOSTNAME", "127.0.0.1"},
									  {"ROS_IP", "127.0.0.1"},
									  {"ROS_IPV6", "off"},
									  {"ROS_LOG_DIR", "/tmp/icepath-ros"},
									  {"ROS_PYTHON_LOG_CONFIG_FILE", kLogging}})
		setenv(name, value, 1);
}

// A process can be one node only, until it ends.
inline ros::NodeHandle &node()
{
	static ros::NodeHandle *const only = [] {
		ros::init(ros::M_string{}, "icepath_" + std::to_string(getpid()),
				  ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
		if (ros::console::set_logger_level(ROSCONSOLE_DEFAULT_NAME, ros::console::levels::Fatal))
			ros::console::notifyLoggerLevelsChanged();
		const ThreadsNamed named("roscpp");
		auto *const made = new ros::NodeHandle;
		// It has made the library's singletons, so this is done before they go. Their threads, which the end of a
		// peer's connection wakes, would lock what is no more.
		std::atexit([] {
			try {
				ros::shutdown();
			} catch (const std::exception &) {
			}
		});
		return made;
	}();
	return *only;
}

} // namespace icepath::plugin_kit
