// SPDX-License-Identifier: Apache-2.0
// YARP 3: ports joined by connections, each with one carrier. yarpserver only resolves port names.
//
// A Port's write() writes to the connection in the caller's thread. The receiver has a thread for each connection: it
// reads a message's head at once, and its bytes as soon as the receiver is in read(), into the receiver's memory. Then
// it wakes the receiver through a semaphore. With tcp and shmem it answers then, and write() waits for that; with the
// other carriers, unread bytes stay in the kernel.
//
// yarp/buffered, yarp/shmem: a BufferedPort at either end. The sender copies the message into a buffer and wakes its
// connection's thread, which writes it and waits for the answer; the next message waits for that. The receiver's thread
// reads at once, into a buffer that it queues, and answers. With setStrict() and writeStrict() none is dropped.
//
// yarp/rpc: a message is a call, which ends with an answer. The receiver's thread writes it before recv() returns.
//
// By callback, a Port's thread calls read() of the PortReader set by setReader(), and a BufferedPort's queue has a
// thread of its own that calls onRead() (useCallback()). The side handles each message there, and may write another
// port. But the thread of a Port acknowledges or answers only once read() has returned: with tcp and in a call, a side
// that writes in its handler waits for one that waits for it. So yarp/tcp and yarp/rpc have no such wait.
//
// cancel() interrupts the receiving port, which wakes its read(). The accompanying signal ends a send: the socket's
// call fails, and the connection with it. It wouldn't end a wait for shmem's answer, so shmem uses a BufferedPort,
// whose receiver always answers. YARP doesn't report the peer's death to a port.
#include <yarp/conf/version.h>
#include <yarp/os/Bottle.h>
#include <yarp/os/BufferedPort.h>
#include <yarp/os/PortInfo.h>
#include <yarp/os/PortReport.h>
#include <yarp/os/RpcClient.h>
#include <yarp/os/RpcServer.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "middleware_adapters/yarp/payload.h"
#include "middleware_adapters/yarp/server.h"
#include "middleware_adapters/yarp/ways.h"
#include "plugin_kit/channel_end.h"
#include "plugin_kit/library.h"
#include "plugin_kit/send_window.h"

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLongestJoinNs = 5'000'000'000, kLongestDepartureNs = 2'000'000'000;
using Buffer = yarp::os::BufferedPort<Slot>;

// The receiving port's reports about the connection from the peer.
class Arrival : public yarp::os::PortReport {
public:
	void report(const yarp::os::PortInfo &info) override
	{
		if (info.tag == yarp::os::PortInfo::PORTINFO_CONNECTION && info.incoming && info.sourceName == from)
			(info.created ? can_carry : has_ended) = true;
	}
	std::string from;
	std::atomic<bool> can_carry{false}, has_ended{false};
};

} // namespace

struct icepath_endpoint : WindowedEnd, yarp::os::PortReader, yarp::os::TypedReaderCallback<Slot> {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: WindowedEnd(how, what), way(way_of(what)), handler(how),
		  handled(handler.is_used() && way.ports == Ports::Plain ? how.payload_bytes : 0)
	{}
	// The sending port first: the peer's receiving port sees its connection end, and needn't ask for it.
	~icepath_endpoint() override
	{
		outlet.reset();
		// A thread in shmem's read() crashes if the port is closed. It checks for the peer once a second.
		const uint64_t give_up_ns = icepath_now_ns() + kLongestDepartureNs;
		if (inlet && (way.target.mechanisms & ICEPATH_USES_SHARED_MEMORY) && a_peer_has_ended())
			while (arrival.can_carry && !arrival.has_ended && icepath_now_ns() < give_up_ns)
				usleep(1000);
		inlet.reset();
	}
	yarp::os::UnbufferedContactable &plain_inlet() { return static_cast<yarp::os::UnbufferedContactable &>(*inlet); }
	yarp::os::UnbufferedContactable &plain_outlet() { return static_cast<yarp::os::UnbufferedContactable &>(*outlet); }

	// By callback, called in a library thread, of a Port or of a BufferedPort.
	bool read(yarp::os::ConnectionReader &from) override
	{
		icepath_recv message{};
		message.size = sizeof(message);
		begin_taking(message);
		Incoming what(handled.data(), handled.size());
		message.attempts = 1;
		message.take_call_ns = icepath_now_ns();
		if (!what.read(from)) // the port closes, or a datagram is missing
			return false;
		message.take_return_ns = icepath_now_ns();
		message.data = handled.data();
		message.capacity = handled.size();
		message.bytes = what.bytes;
		handler.take(message);
		return true;
	}
	using TypedReaderCallback<Slot>::onRead;
	void onRead(Slot &came) override
	{
		handler.take(icepath_now_ns(), came.bytes.data(), came.bytes.size());
		tell_of_room();
	}

	const Way &way;
	const Handler handler;
	std::vector<char> handled; // by callback: a Port's message
	Arrival arrival;
	yarp::os::Bottle answer{"ok"}, answered; // to a call
	std::unique_ptr<yarp::os::Contactable> inlet, outlet;
	std::atomic<bool> asking{false}; // inside recv()
};

namespace {

std::unique_ptr<yarp::os::Contactable> make_port(Ports ports, bool sends)
{
	if (ports == Ports::Plain)
		return std::make_unique<yarp::os::Port>();
	if (ports == Ports::Rpc)
		return sends ? std::unique_ptr<yarp::os::Contactable>(new yarp::os::RpcClient)
					 : std::make_unique<yarp::os::RpcServer>();
	auto port = std::make_unique<Buffer>();
	port->setStrict();
	return port;
}

std::string name_of(const std::string &channel, uint32_t from, const char *port)
{
	return "/icepath/" + channel + "/" + std::to_string(from) + port;
}
std::string outlet_name(const std::string &channel, uint32_t from) { return name_of(channel, from, "/out"); }
std::string inlet_name(const std::string &channel, uint32_t from) { return name_of(channel, from, "/in"); }

int open_port(icepath_endpoint &end, yarp::os::Contactable &port, const std::string &name)
{
	if (port.open(name))
		return ICEPATH_OK;
	return end.sentence.tell(ICEPATH_FAILED, "%s: the port %s can't be opened, or yarpserver doesn't take its name",
							 end.target, name.c_str());
}

// Call it with an open port: a port that isn't open but has the thread never closes (issue 442).
void call_back(icepath_endpoint &end)
{
	const ThreadsNamed named("yarp onRead");
	static_cast<Buffer &>(*end.inlet).useCallback(end);
}

int join(icepath_endpoint &end, const std::string &channel)
{
	const ThreadsNamed named("yarp");
	join_network();
	int status = ICEPATH_OK;
	if (end.receives) {
		end.arrival.from = outlet_name(channel, 1 - end.side);
		end.inlet = make_port(end.way.ports, false);
		end.inlet->setReporter(end.arrival);
		if (end.handler.is_used() && end.way.ports == Ports::Plain)
			end.inlet->setReader(end);
		status = open_port(end, *end.inlet, inlet_name(channel, 1 - end.side));
		if (end.handler.is_used() && end.way.ports == Ports::Buffered && status == ICEPATH_OK)
			call_back(end);
	}
	if (end.sends && status == ICEPATH_OK) {
		end.outlet = make_port(end.way.ports, true);
		status = open_port(end, *end.outlet, outlet_name(channel, end.side));
	}
	return status;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address,
					   [](icepath_endpoint &end) -> int { return open_with_memory(end, join); });
}

int connect_ports(icepath_endpoint &end, const std::string &channel, uint32_t from)
{
	const ThreadsNamed named("yarp");
	const std::string outlet = outlet_name(channel, from), inlet = inlet_name(channel, from);
	if (yarp::os::Network::connect(outlet, inlet, end.way.carrier))
		return ICEPATH_OK;
	return end.sentence.tell(ICEPATH_FAILED, "%s: YARP can't connect %s to %s; it may lack the carrier %s", end.target,
							 outlet.c_str(), inlet.c_str(), end.way.carrier);
}

// Messages sent before the receiver's thread has the connection may be lost.
int await_arrival(icepath_endpoint &end)
{
	const uint64_t give_up_ns = icepath_now_ns() + kLongestJoinNs;
	while (end.receives && !end.arrival.can_carry) {
		if (end.is_cancelled() || end.a_peer_has_ended())
			return end.end_of_cancelled();
		if (icepath_now_ns() > give_up_ns)
			return end.sentence.tell(ICEPATH_FAILED, "%s: the peer's connection hasn't come in 5 s", end.target);
		usleep(1000);
	}
	return ICEPATH_OK;
}

// Side 1 connects first, finds side 0's ports, and makes both connections.
int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	int status = connect_memory(end, peer);
	if (status == ICEPATH_OK && end->side == 1) {
		const std::string channel = text_of(*peer);
		status = join(*end, channel);
		if (status == ICEPATH_OK && end->receives)
			status = connect_ports(*end, channel, 0);
		if (status == ICEPATH_OK && end->sends)
			status = connect_ports(*end, channel, 1);
	}
	return status == ICEPATH_OK ? await_arrival(*end) : status;
}

// The first write makes the connection's thread.
void write_buffered(icepath_endpoint &end, const icepath_send &message)
{
	std::optional<ThreadsNamed> named;
	if (end.sent == 0)
		named.emplace("yarp");
	auto &port = static_cast<Buffer &>(*end.outlet);
	const auto *bytes = static_cast<const char *>(message.data);
	port.prepare().bytes.assign(bytes, bytes + message.bytes);
	port.writeStrict();
}

bool write(icepath_endpoint &end, const icepath_send &message)
{
	if (end.way.ports == Ports::Buffered) {
		write_buffered(end, message);
		return true;
	}
	const Outgoing what(message.data, message.bytes);
	return end.way.ports == Ports::Rpc ? end.plain_outlet().write(what, end.answered) : end.plain_outlet().write(what);
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->call_ns = message->publish_ns = 0;
	if (const int status = end->way.ports == Ports::Buffered ? end->await_room() : end->check_over();
		status != ICEPATH_OK)
		return status;
	message->attempts = 1;
	message->call_ns = icepath_now_ns();
	const bool is_written = write(*end, *message);
	message->return_ns = icepath_now_ns();
	if (is_written)
		return end->end_of_send(message->return_ns);
	return end->is_over() ? end->end_of_call()
						  : end->sentence.tell(ICEPATH_CLOSED, "the connection of %s has ended", end->target);
}

int take_buffered(icepath_endpoint &end, icepath_recv &message)
{
	const Slot *came = static_cast<Buffer &>(*end.inlet).read();
	message.take_return_ns = icepath_now_ns();
	if (!came)
		return end.is_over() ? end.end_of_call()
							 : end.sentence.tell(ICEPATH_CLOSED, "the port of %s is closed", end.target);
	message.bytes = std::min<uint64_t>(came->bytes.size(), message.capacity);
	std::memcpy(message.data, came->bytes.data(), message.bytes);
	end.tell_of_room();
	return ICEPATH_OK;
}

// Over datagrams, a message may arrive incomplete.
int take(icepath_endpoint &end, icepath_recv &message)
{
	Incoming what(message.data, message.capacity);
	while (!what.has_come) {
		if (end.is_over())
			return end.end_of_call();
		end.plain_inlet().read(what, end.way.ports == Ports::Rpc);
	}
	message.take_return_ns = icepath_now_ns();
	message.bytes = what.bytes;
	if (end.way.ports == Ports::Rpc)
		end.plain_inlet().reply(end.answer);
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	if (end->handler.is_used())
		return end->end_of_call();
	end->asking = true;
	if (end->is_over()) {
		end->asking = false; // or cancel() would go on to interrupt the port
		return end->end_of_call();
	}
	message->attempts = 1;
	message->take_call_ns = icepath_now_ns();
	const int status = end->way.ports == Ports::Buffered ? take_buffered(*end, *message) : take(*end, *message);
	end->asking = false;
	return status;
}

// Interrupts only an end inside recv(): otherwise a thread that waits for recv() may hold the port's lock.
void cancel(icepath_endpoint *end)
{
	end->cancelled = true;
	if (end->asking)
		end->inlet->interrupt();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		set_environment();
		icepath_plugin table = plugin_table("yarp", target, open_end, connect_end, send_message, recv_message);
		table.library_version = "YARP " YARP_VERSION_SHORT;
		table.daemon = &kServer;
		table.cancel = cancel;
		return table;
	}();
	return &plugin;
}
