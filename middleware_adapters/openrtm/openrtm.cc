// SPDX-License-Identifier: Apache-2.0
// OpenRTM-aist 2 on omniORB: an OutPort joined to an InPort of another process by a connector (push, flush), ports of
// TimedOctetSeq without a component around them. No naming service: side 1 finds side 0's ports by their IORs, in
// memory that both map.
//
// write() makes a CORBA call in the caller's thread, and returns with its answer. omniORB has a thread for each
// connection at the receiver, which reads the call, puts the message into the InPort's buffer, wakes the waiting
// reader, and answers. With shared_memory, the sender has the peer set its byte order by a call, writes the bytes into
// a POSIX shared memory, and announces them by another call, for which the receiver's thread copies them out. So each
// message needs a call, and the target isn't one of ICEPATH_USES_SHARED_MEMORY.
//
// block: the port waits in read(), for 0.1 s at a time (buffer.read.empty_policy: block), because nothing else ends
// that wait: a signal doesn't. epoll: a listener (ON_BUFFER_WRITE) wakes the receiver, which then reads.
//
// `write.full_policy: block` claims to wait for room in the InPort's buffer, but waits until its time is up and then
// refuses, room or not (RingBuffer::write() waits for a signal that read() doesn't send). So the sender has a window
// that fits the buffer, and the buffer refuses the rest.
//
// cancel() sets a flag, and rings. A call that a stopped peer doesn't answer ends after 2 s; OpenRTM's clean-up calls
// after it would take as long each, but for cancel(). A dead peer's connection reveals its death. The manager isn't
// run, because omniORB's threads answer without it, nor shut down, which waits for them: they end with the process.
#include "middleware_adapters/openrtm/manager.h"
#include "middleware_adapters/openrtm/ports.h"
//
#include <memory>
#include <string>

#include "middleware_adapters/openrtm/ways.h"
#include "plugin_kit/channel_end.h"
#include "plugin_kit/library.h"
#include "plugin_kit/send_window.h"

using namespace icepath::plugin_kit;

namespace {

// The ports of side 0, for side 1.
struct Meeting {
	char inlet[4096], outlet[4096];
};

} // namespace

struct icepath_endpoint : WindowedEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what) : WindowedEnd(how, what), way(way_of(what)) {}
	// An outlet of shared memory stays until the process ends: it, and an inlet that it tells to, close their
	// descriptors twice, and by then the number may belong to something else (coil::SharedMemory::close()).
	~icepath_endpoint()
	{
		if (way.has_shared_memory())
			static_cast<void>(outlet.release());
	}
	uint64_t memory_bytes() const { return WindowedEnd::memory_bytes() + sizeof(Meeting); }
	void lay_out(uint8_t *first)
	{
		WindowedEnd::lay_out(first);
		meeting = reinterpret_cast<Meeting *>(first + WindowedEnd::memory_bytes());
	}

	const Way &way;
	Meeting *meeting = nullptr;
	DataBell bell;
	std::unique_ptr<Inlet> inlet;
	std::unique_ptr<Outlet> outlet;
};

namespace {

// CORBA's exceptions aren't std::exceptions.
template <class Step> int run(icepath_endpoint &end, const char *doing, Step step)
{
	return guarded(end, doing, [&]() -> int {
		try {
			return step();
		} catch (const CORBA::Exception &error) {
			return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: CORBA's %s", end.target, doing, error._name());
		}
	});
}

int make_ports(icepath_endpoint &end)
{
	const std::string endpoint = end.way.carrier == Carrier::Tcp
									 ? "giop:tcp:127.0.0.1:"
									 : "giop:unix:/tmp/icepath-openrtm-" + std::to_string(getpid());
	if (!join_manager(endpoint, 2 * kLargest))
		return end.sentence.tell(ICEPATH_FAILED, "%s: OpenRTM's manager has no ORB at %s", end.target,
								 endpoint.c_str());
	const ThreadsNamed named("openrtm");
	if (end.receives)
		end.inlet = std::make_unique<Inlet>(end.window, end.wait == ICEPATH_WAIT_EPOLL ? &end.bell : nullptr);
	if (end.sends)
		end.outlet = std::make_unique<Outlet>();
	return ICEPATH_OK;
}

template <size_t size> int publish(icepath_endpoint &end, RTC::PortService_ptr port, char (&place)[size])
{
	const CORBA::String_var text = RTC::Manager::instance().theORB()->object_to_string(port);
	if (std::strlen(text) >= size)
		return end.sentence.tell(ICEPATH_FAILED, "%s: a port's IOR has %zu bytes, room is for %zu", end.target,
								 std::strlen(text), size);
	std::strcpy(place, text);
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [](icepath_endpoint &end) -> int {
		if (const int status = set_up_memory(end); status != ICEPATH_OK)
			return status;
		return run(end, "making the ports", [&] {
			int status = make_ports(end);
			if (end.side == 1 || status != ICEPATH_OK)
				return status;
			give_text(end, new_channel());
			if (end.inlet)
				status = publish(end, end.inlet->reference(), end.meeting->inlet);
			if (end.outlet && status == ICEPATH_OK)
				status = publish(end, end.outlet->reference(), end.meeting->outlet);
			return status;
		});
	});
}

RTC::PortService_var find_port(const char *ior)
{
	const CORBA::Object_var found = RTC::Manager::instance().theORB()->string_to_object(ior);
	return RTC::PortService::_narrow(found);
}

int join(icepath_endpoint &end, const std::string &name)
{
	const ThreadsNamed named("openrtm");
	const auto are_joined = [&](RTC::PortService_ptr from, RTC::PortService_ptr to) {
		return connect_ports(name, end.way.interface_type, end.payload_bytes, from, to);
	};
	bool has_joined = true;
	if (end.outlet)
		has_joined = are_joined(end.outlet->reference(), find_port(end.meeting->inlet));
	if (end.inlet && has_joined)
		has_joined = are_joined(find_port(end.meeting->outlet), end.inlet->reference());
	return has_joined ? ICEPATH_OK
					  : end.sentence.tell(ICEPATH_FAILED, "%s: OpenRTM can't connect the ports of %s", end.target,
										  name.c_str());
}

// Side 1 connects first, and connects both sides' ports.
int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	const int status = connect_memory(end, peer);
	if (status != ICEPATH_OK || end->side == 0)
		return status;
	const std::string name = text_of(*peer);
	if (name.starts_with(std::to_string(getpid()) + "-"))
		return end->sentence.tell(ICEPATH_UNSUPPORTED,
								  "%s goes between processes only: within one, omniORB calls the port without a socket",
								  end->target);
	return run(*end, "connecting", [&] { return join(*end, name); });
}

int failed_write(icepath_endpoint &end)
{
	if (end.is_over())
		return end.end_of_call();
	if (end.outlet->was_refused_for_room())
		return end.sentence.tell(ICEPATH_FAILED, "%s: the InPort's buffer has no room for a message", end.target);
	return end.sentence.tell(ICEPATH_CLOSED, "the connector of %s is lost", end.target);
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->call_ns = message->publish_ns = 0;
	if (const int status = end->await_room(); status != ICEPATH_OK)
		return status;
	return run(*end, "sending", [&] {
		message->attempts = 1;
		message->call_ns = icepath_now_ns();
		const bool is_written = end->outlet->write(message->data, message->bytes);
		message->return_ns = icepath_now_ns();
		return is_written ? end->end_of_send(message->return_ns) : failed_write(*end);
	});
}

// One look, or, with `block`, one wait of the port. False: no message.
bool take(icepath_endpoint &end, icepath_recv &message)
{
	message.attempts++;
	message.take_call_ns = icepath_now_ns();
	const bool is_read = (end.wait == ICEPATH_WAIT_BLOCK || end.inlet->has_message()) && end.inlet->read();
	message.take_return_ns = icepath_now_ns();
	return is_read;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	return run(*end, "receiving", [&] {
		for (;;) {
			if (end->is_over())
				return end->end_of_call();
			if (take(*end, *message))
				break;
			if (!end->inlet->has_connector())
				return end->sentence.tell(ICEPATH_CLOSED, "the peer has disconnected its port of %s", end->target);
			if (end->wait == ICEPATH_WAIT_EPOLL)
				message->wait_return_ns = end->bell.sleep();
		}
		message->bytes = end->inlet->copy_to(message->data, message->capacity);
		end->tell_of_room();
		return static_cast<int>(ICEPATH_OK);
	});
}

void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	let_calls_fail_soon();
	end->bell.ring();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("openrtm", target, open_end, connect_end, send_message, recv_message);
		table.library_version = "OpenRTM-aist " OPENRTM_VERSION;
		table.cancel = cancel;
		return table;
	}();
	return &plugin;
}
