// SPDX-License-Identifier: Apache-2.0
// D-Bus with its reference library, libdbus, through a dbus-daemon of icepath's own (bus_end.h). The library has no
// threads: dbus_connection_send() writes in the caller's, and dbus_connection_flush() writes the rest that the socket
// had no room for. A receiver sleeps in dbus_connection_read_write(), which reads incoming messages, then pops them
// from the library's queue. Signals don't interrupt its sleep.
#include <dbus/dbus.h>

#include "middleware_adapters/dbus/bus_end.h"

using namespace icepath::plugin_kit;

struct icepath_endpoint : BusEnd {
	using BusEnd::BusEnd;
	~icepath_endpoint() override
	{
		if (!connection)
			return;
		dbus_connection_close(connection);
		dbus_connection_unref(connection);
	}
	DBusConnection *connection = nullptr;
};

namespace {

const PrivateBus &private_bus()
{
	static const PrivateBus bus("libdbus");
	return bus;
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target only =
		bus_target("libdbus", "D-Bus signals by libdbus through dbus-daemon, read by dbus_connection_read_write",
				   ICEPATH_WAIT_BLOCK);
	return n == 0 ? &only : nullptr;
}

int join(icepath_endpoint &end)
{
	constexpr long kAnyBytes = 1'000'000'000; // with more bytes in unfreed messages, it stops reading
	dbus_threads_init_default();
	DBusError error = DBUS_ERROR_INIT;
	end.connection = dbus_connection_open_private(private_bus().address.c_str(), &error);
	if (end.connection) {
		dbus_connection_set_exit_on_disconnect(end.connection, false);
		dbus_connection_set_max_received_size(end.connection, kAnyBytes);
	}
	if (!end.connection || !dbus_bus_register(end.connection, &error)) {
		end.sentence.tell(ICEPATH_FAILED, "libdbus: dbus-daemon at %s can't be joined: %s",
						  private_bus().address.c_str(), error.message ? error.message : "no reason given");
		dbus_error_free(&error);
		return ICEPATH_FAILED;
	}
	dbus_connection_get_unix_fd(end.connection, &end.socket);
	give_text(end, dbus_bus_get_unique_name(end.connection));
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [](icepath_endpoint &end) -> int {
		const int status = set_up_memory(end);
		return status == ICEPATH_OK ? join(end) : status;
	});
}

// NULL: no memory.
DBusMessage *make(const icepath_endpoint &end, const icepath_send &what)
{
	DBusMessage *signal = dbus_message_new_signal(kBusPath, kBusInterface, kBusMember);
	if (!signal)
		return nullptr;
	if (dbus_message_set_destination(signal, end.peer.c_str()) &&
		dbus_message_append_args(signal, DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE, &what.data, static_cast<int>(what.bytes),
								 DBUS_TYPE_INVALID))
		return signal;
	dbus_message_unref(signal);
	return nullptr;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	if (const int status = end->await_room(); status != ICEPATH_OK)
		return status;
	DBusMessage *signal = make(*end, *message);
	if (!signal)
		return end->sentence.tell(ICEPATH_FAILED, "libdbus: no memory for a message");
	message->attempts = 1;
	message->call_ns = icepath_now_ns();
	const bool sent = dbus_connection_send(end->connection, signal, nullptr);
	if (sent)
		dbus_connection_flush(end->connection);
	message->return_ns = icepath_now_ns();
	dbus_message_unref(signal);
	if (!sent)
		return end->sentence.tell(ICEPATH_FAILED, "libdbus: no memory to send a message");
	if (!dbus_connection_get_is_connected(end->connection))
		return end->lost();
	return end->end_of_send(message->return_ns);
}

int take(icepath_endpoint &end, DBusMessage *signal, icepath_recv &message)
{
	const void *bytes = nullptr;
	int length = 0;
	if (!dbus_message_get_args(signal, nullptr, DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE, &bytes, &length, DBUS_TYPE_INVALID))
		return end.sentence.tell(ICEPATH_FAILED, "libdbus: received a message that isn't a byte array");
	message.bytes = std::min<uint64_t>(static_cast<uint64_t>(length), message.capacity);
	std::memcpy(message.data, bytes, message.bytes);
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	message->take_call_ns = icepath_now_ns();
	for (;;) {
		if (end->is_over())
			return end->end_of_call();
		message->attempts++;
		DBusMessage *signal = dbus_connection_pop_message(end->connection);
		if (!signal) {
			if (!dbus_connection_read_write(end->connection, -1))
				return end->lost();
			continue;
		}
		// The daemon sends messages of its own, about names.
		if (dbus_message_is_signal(signal, kBusInterface, kBusMember)) {
			message->take_return_ns = icepath_now_ns();
			const int status = take(*end, signal, *message);
			dbus_message_unref(signal);
			end->tell_of_room();
			return status;
		}
		dbus_message_unref(signal);
	}
}

const char *version()
{
	static const std::string text = [] {
		int major = 0, minor = 0, revision = 0;
		dbus_get_version(&major, &minor, &revision);
		return "libdbus " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(revision);
	}();
	return text.c_str();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table =
			plugin_table("libdbus", target, open_end, connect_bus<icepath_endpoint>, send_message, recv_message);
		table.library_version = version();
		table.daemon = &private_bus().daemon;
		table.cancel = [](icepath_endpoint *end) { end->cancel(); };
		return table;
	}();
	return &plugin;
}
