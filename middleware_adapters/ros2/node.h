// SPDX-License-Identifier: Apache-2.0
#pragma once
// The process's ROS 2 context, and its nodes. ROS 2 sends with a library, an RMW: RMW_IMPLEMENTATION names it.
#include <rclcpp/rclcpp.hpp>
#include <rclcpp/version.h>
#include <rmw/rmw.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "icepath/plugin.h"
#include "plugin_kit/arm_settings.h"

namespace icepath::plugin_kit {

// The user's settings are for another network, but for an arm's. `cyclone`: the configuration if the RMW uses Cyclone
// DDS.
inline void set_environment(const char *cyclone)
{
	for (const auto &[name, value] :
		 {std::pair{"ROS_LOCALHOST_ONLY", "1"}, {"ROS_SECURITY_ENABLE", "false"}, {"CYCLONEDDS_URI", cyclone}})
		if (!is_of_arm(name))
			setenv(name, value, 1);
	if (const std::string of_arm = value_of_arm("CYCLONEDDS_URI"); !of_arm.empty())
		setenv("CYCLONEDDS_URI", (cyclone + ("," + of_arm)).c_str(), 1); // the last one of a setting counts
	for (const char *name : {"ROS_DISCOVERY_SERVER", "FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"})
		if (!is_of_arm(name))
			unsetenv(name);
}

// "rmw_cyclonedds_cpp"; empty: none could be loaded.
inline const std::string &rmw_name()
{
	static const std::string name = [] {
		const char *const told = rmw_get_implementation_identifier();
		if (!told)
			rcutils_reset_error();
		return std::string(told ? told : "");
	}();
	return name;
}

inline const char *why_no_rmw()
{
	return rmw_name().empty()
			   ? "ROS 2 can't load an RMW: it finds them by LD_LIBRARY_PATH, which its setup.bash sets and sudo drops; "
				 "sudo env LD_LIBRARY_PATH=\"$LD_LIBRARY_PATH\" icepath ... hands it on"
			   : nullptr;
}

inline const char *rclcpp_version()
{
	static const std::string text =
		"rclcpp " RCLCPP_VERSION_STR + (rmw_name().empty() ? std::string() : " with " + rmw_name());
	return text.c_str();
}

// Intra-process communication requires both ends to share it, and all endpoints of a process are of one cell, so its
// domain is that of the first. Without nodes it has no threads.
inline const rclcpp::Context::SharedPtr &context(size_t domain)
{
	static const auto *const only = new rclcpp::Context::SharedPtr([domain] {
		rclcpp::InitOptions options;
		options.auto_initialize_logging(false); // no files
		options.shutdown_on_signal = false;
		options.set_domain_id(domain);
		auto made = std::make_shared<rclcpp::Context>();
		made->init(0, nullptr, options);
		return made;
	}());
	return *only;
}

// Makes a node with a topic or two, and without a node's other parts.
inline rclcpp::Node::SharedPtr make_node(const std::string &name, size_t domain, bool hands_over_pointers)
{
	return std::make_shared<rclcpp::Node>(name, rclcpp::NodeOptions()
													.context(context(domain))
													.use_intra_process_comms(hands_over_pointers)
													.start_parameter_services(false)
													.start_parameter_event_publisher(false)
													.enable_rosout(false)
													.use_global_arguments(false));
}

inline rclcpp::Context::SharedPtr context_of(rclcpp::Node &node)
{
	return node.get_node_base_interface()->get_context();
}

} // namespace icepath::plugin_kit
