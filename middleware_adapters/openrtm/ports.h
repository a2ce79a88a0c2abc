// SPDX-License-Identifier: Apache-2.0
#pragma once
// Data ports of octets, without a component around them, and their connectors.
#include <rtm/idl/BasicDataTypeSkel.h> // before the ports, whose templates look for its operators
//
#include <coil/Properties.h>
#include <rtm/CORBA_RTCUtil.h>
#include <rtm/InPort.h>
#include <rtm/OutPort.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "icepath/plugin.h"
#include "plugin_kit/ring_wait.h"

namespace icepath::plugin_kit {

inline coil::Properties properties(std::initializer_list<std::pair<const char *, std::string>> values)
{
	coil::Properties all;
	for (const auto &[name, value] : values)
		all[name] = value;
	return all;
}

class Outlet {
public:
	Outlet() : port_("out", data_)
	{
		coil::Properties none;
		port_.init(none);
	}

	RTC::PortService_ptr reference() { return port_.getPortRef(); }
	// From the caller's memory.
	bool write(const void *bytes, uint64_t count)
	{
		const auto length = static_cast<CORBA::ULong>(count);
		data_.data.replace(length, length, static_cast<CORBA::Octet *>(const_cast<void *>(bytes)), false);
		return port_.write();
	}
	// Of the last write().
	bool was_refused_for_room()
	{
		const auto statuses = port_.getStatusList();
		return !statuses.empty() && statuses[0] == RTC::DataPortStatus::SEND_FULL;
	}

private:
	RTC::TimedOctetSeq data_;
	RTC::OutPort<RTC::TimedOctetSeq> port_;
};

// Its connectors ring `bell` if there is one; otherwise read() waits itself, until a message comes or its time is up.
class Inlet {
public:
	Inlet(uint32_t messages, DataBell *bell) : port_("in", data_)
	{
		coil::Properties settings = properties({{"buffer.length", std::to_string(messages)},
												{"buffer.write.full_policy", "do_nothing"}, // refuses messages
												{"buffer.read.empty_policy", bell ? "do_nothing" : "block"},
												{"buffer.read.timeout", "0.1"}});
		port_.init(settings);
		if (bell)
			port_.addConnectorDataListener(RTC::ConnectorDataListenerType::ON_BUFFER_WRITE, new Ringing(*bell));
	}

	RTC::PortService_ptr reference() { return port_.getPortRef(); }
	bool has_connector() { return !port_.connectors().empty(); }
	bool has_message() { return port_.isNew(); }
	bool read() { return port_.read(); }
	// The message that read() got.
	uint64_t copy_to(void *bytes, uint64_t capacity) const
	{
		const uint64_t count = std::min<uint64_t>(data_.data.length(), capacity);
		std::memcpy(bytes, data_.data.get_buffer(), count);
		return count;
	}

private:
	struct Ringing : RTC::ConnectorDataListenerT<RTC::TimedOctetSeq> {
		explicit Ringing(DataBell &bell) : bell_(bell) {}
		ReturnCode operator()(RTC::ConnectorInfo &, RTC::TimedOctetSeq &) override
		{
			bell_.ring();
			return NO_CHANGE;
		}
		DataBell &bell_;
	};

	RTC::TimedOctetSeq data_;
	RTC::InPort<RTC::TimedOctetSeq> port_;
};

// `flush`: the writing thread makes the call. The outlet first: if the inlet is gone, the outlet is asked to clean up.
inline bool connect_ports(const std::string &name, const char *interface_type, uint64_t payload_bytes,
						  RTC::PortService_ptr outlet, RTC::PortService_ptr inlet)
{
	constexpr uint64_t kHeads = 1024; // of the message, and of what precedes it
	return CORBA_RTCUtil::connect(
			   name,
			   properties({{"dataport.dataflow_type", "push"},
						   {"dataport.interface_type", interface_type},
						   {"dataport.subscription_type", "flush"},
						   {"dataport.shem_default_size", std::to_string((payload_bytes + kHeads) / 1024 + 1) + "k"}}),
			   outlet, inlet) == RTC::RTC_OK;
}

} // namespace icepath::plugin_kit
