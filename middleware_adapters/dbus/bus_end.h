// SPDX-License-Identifier: Apache-2.0
#pragma once
// A D-Bus of icepath's own, and an end of a channel over it: messages are signals to the peer's unique name, with a
// byte array. dbus-daemon passes each on without reading its bytes. A message lies in two sockets and in the daemon,
// which drops messages over a limit without a report to a sender that wants no answer.
//
// cancel() shuts down the socket to the daemon, so that any library call that sleeps returns.
#include <sys/socket.h>

#include "plugin_kit/brokered_end.h"
#include "plugin_kit/library.h"

namespace icepath::plugin_kit {

constexpr const char *kBusPath = "/org/icepath", *kBusInterface = "org.icepath.Channel", *kBusMember = "Message";

// The bus of one plug-in: several plug-ins share their namespaces.
class PrivateBus {
public:
	explicit PrivateBus(const std::string &plugin)
		: address("unix:path=/tmp/icepath-" + plugin), file_("/tmp/icepath-" + plugin + ".conf"),
		  settings_(R"(<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
<type>session</type>
<listen>)" + address +
					R"(</listen>
<auth>EXTERNAL</auth>
<policy context="default">
<allow send_destination="*" eavesdrop="true"/>
<allow eavesdrop="true"/>
<allow own="*"/>
</policy>
<limit name="max_incoming_bytes">1000000000</limit>
<limit name="max_outgoing_bytes">1000000000</limit>
<limit name="max_message_size">134217728</limit>
<limit name="max_completed_connections">100000</limit>
<limit name="max_incomplete_connections">10000</limit>
<limit name="max_connections_per_user">100000</limit>
</busconfig>
)"),
		  config_("--config-file=" + file_),
		  arguments_{config_.c_str(), "--nofork", "--nopidfile", "--nosyslog", "--print-address=1", nullptr},
		  daemon{sizeof(icepath_daemon), "dbus-daemon",     "dbus-daemon", arguments_,
				 file_.c_str(),          settings_.c_str(), "guid="}
	{}
	PrivateBus(const PrivateBus &) = delete;
	PrivateBus &operator=(const PrivateBus &) = delete;

	const std::string address;

private:
	const std::string file_, settings_, config_;
	const char *const arguments_[6];

public:
	const icepath_daemon daemon;
};

struct BusEnd : BrokeredEnd {
	using BrokeredEnd::BrokeredEnd;
	int socket = -1; // the library's
	std::string peer; // its unique name

	void cancel()
	{
		cancelled.store(true, std::memory_order_relaxed);
		if (socket >= 0)
			shutdown(socket, SHUT_RDWR);
	}
	int lost()
	{
		if (!is_cancelled())
			broker_gone = true;
		return end_of_call();
	}
};

inline icepath_target bus_target(const char *name, const char *summary, uint32_t waits)
{
	return relayed_target(name, summary, waits, 16 * 1024 * 1024,
						  "icepath's own limit: the 64 MiB of a D-Bus array take longer than a block of messages");
}

// All of connect(): each side has passed its unique name to the other.
template <class Endpoint> int connect_bus(Endpoint *end, const icepath_address *peer)
{
	if (const int status = connect_memory(end, peer); status != ICEPATH_OK)
		return status;
	end->peer = text_of(*peer);
	return ICEPATH_OK;
}

} // namespace icepath::plugin_kit
