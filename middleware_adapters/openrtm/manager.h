// SPDX-License-Identifier: Apache-2.0
#pragma once
// This process's OpenRTM manager: its ORB, and that ORB's threads.
#include <rtm/Manager.h>

#include <csignal>
#include <string>
#include <vector>

#include "plugin_kit/library.h"

namespace icepath::plugin_kit {

// For a call that the peer doesn't answer: while connecting, for a message, and once more after a failed one.
inline constexpr CORBA::ULong kLongestCallMs = 2000;

// No settings or log files, no naming service, no timer. False: it has no ORB.
inline bool start_manager(const std::string &endpoint, uint64_t largest_call_bytes)
{
	const ThreadsNamed named("openrtm"); // omniORB's threads, each of which makes the next
	struct sigaction interrupt{};
	sigaction(SIGINT, nullptr, &interrupt);
	std::vector<std::string> words = {"icepath", "-f", "/dev/null", "-a"};
	for (const std::string &setting :
		 {std::string("logger.enable:NO"), std::string("naming.enable:NO"), std::string("timer.enable:NO"),
		  "corba.endpoints:" + endpoint,
		  "corba.args:-ORBinConScanPeriod 0 -ORBclientCallTimeOutPeriod " + std::to_string(kLongestCallMs) +
			  " -ORBgiopMaxMsgSize " + std::to_string(largest_call_bytes)}) {
		words.push_back("-o");
		words.push_back(setting);
	}
	std::vector<char *> arguments;
	for (std::string &word : words)
		arguments.push_back(word.data());
	arguments.push_back(nullptr);
	RTC::Manager *manager = RTC::Manager::init(static_cast<int>(words.size()), arguments.data());
	sigaction(SIGINT, &interrupt, nullptr); // the manager's handler would end it
	return !CORBA::is_nil(manager->thePOAManager()) && manager->activateManager();
}

// Starts the manager until the process ends, with the first end's settings: a worker's ends all belong to one target.
inline bool join_manager(const std::string &endpoint, uint64_t largest_call_bytes)
{
	static const bool has_orb = start_manager(endpoint, largest_call_bytes);
	return has_orb;
}

// Applies to calls that begin from now on.
inline void let_calls_fail_soon() { omniORB::setClientCallTimeout(10); }

} // namespace icepath::plugin_kit
