// SPDX-License-Identifier: Apache-2.0
// D-Bus with systemd's sd-bus, through a dbus-daemon of icepath's own (bus_end.h). The library has no threads:
// sd_bus_send() writes in the caller's, and sd_bus_flush() writes the rest that the socket had no room for. A receiver
// calls sd_bus_process(), which reads pending messages, and sleeps in sd_bus_wait() until the socket is readable: a
// readiness wait, so the wait is `epoll`.
#include <systemd/sd-bus.h>

#include "middleware_adapters/dbus/bus_end.h"

using namespace icepath::plugin_kit;

struct icepath_endpoint : BusEnd {
	using BusEnd::BusEnd;
	~icepath_endpoint() override { sd_bus_close_unref(bus); }
	sd_bus *bus = nullptr;
};

namespace {

const PrivateBus &private_bus()
{
	static const PrivateBus bus("sd-bus");
	return bus;
}

const icepath_target *target(uint32_t n)
{
	static const icepath_target only =
		bus_target("sd-bus", "D-Bus signals by sd-bus through dbus-daemon, awaited by sd_bus_wait", ICEPATH_WAIT_EPOLL);
	return n == 0 ? &only : nullptr;
}

bool is_lost(int error) { return error == -ENOTCONN || error == -ECONNRESET || error == -EPIPE || error == -ESHUTDOWN; }

// `error`: a negative errno, as sd-bus returns it.
int failed(icepath_endpoint &end, const char *call, int error)
{
	if (end.is_over() || is_lost(error))
		return end.lost();
	return end.sentence.tell(ICEPATH_FAILED, "sd-bus: %s failed: %s", call, std::strerror(-error));
}

int join(icepath_endpoint &end)
{
	int error = sd_bus_new(&end.bus);
	if (error >= 0)
		error = sd_bus_set_address(end.bus, private_bus().address.c_str());
	if (error >= 0)
		error = sd_bus_set_bus_client(end.bus, true);
	if (error >= 0)
		error = sd_bus_start(end.bus);
	const char *name = nullptr;
	if (error >= 0)
		error = sd_bus_get_unique_name(end.bus, &name); // waits for the daemon's answer
	if (error < 0)
		return end.sentence.tell(ICEPATH_FAILED, "sd-bus: dbus-daemon at %s can't be joined: %s",
								 private_bus().address.c_str(), std::strerror(-error));
	end.socket = sd_bus_get_fd(end.bus);
	give_text(end, name);
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [](icepath_endpoint &end) -> int {
		const int status = set_up_memory(end);
		return status == ICEPATH_OK ? join(end) : status;
	});
}

int make(icepath_endpoint &end, const icepath_send &what, sd_bus_message **message)
{
	int error = sd_bus_message_new_signal(end.bus, message, kBusPath, kBusInterface, kBusMember);
	if (error >= 0)
		error = sd_bus_message_set_destination(*message, end.peer.c_str());
	if (error >= 0)
		error = sd_bus_message_append_array(*message, 'y', what.data, what.bytes);
	return error < 0 ? failed(end, "making a message", error) : ICEPATH_OK;
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	if (const int status = end->await_room(); status != ICEPATH_OK)
		return status;
	sd_bus_message *signal = nullptr;
	if (const int status = make(*end, *message, &signal); status != ICEPATH_OK) {
		sd_bus_message_unref(signal);
		return status;
	}
	message->attempts = 1;
	message->call_ns = icepath_now_ns();
	int error = sd_bus_send(end->bus, signal, nullptr);
	if (error >= 0)
		error = sd_bus_flush(end->bus);
	message->return_ns = icepath_now_ns();
	sd_bus_message_unref(signal);
	return error < 0 ? failed(*end, "sd_bus_send", error) : end->end_of_send(message->return_ns);
}

// The daemon sends messages of its own, about names.
int take(icepath_endpoint &end, sd_bus_message *signal, icepath_recv &message)
{
	const void *bytes = nullptr;
	size_t length = 0;
	if (const int error = sd_bus_message_read_array(signal, 'y', &bytes, &length); error < 0)
		return failed(end, "sd_bus_message_read_array", error);
	message.bytes = std::min<uint64_t>(length, message.capacity);
	std::memcpy(message.data, bytes, message.bytes);
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	for (;;) {
		if (end->is_over())
			return end->end_of_call();
		message->attempts++;
		message->take_call_ns = icepath_now_ns();
		sd_bus_message *signal = nullptr;
		const int did = sd_bus_process(end->bus, &signal);
		message->take_return_ns = icepath_now_ns();
		if (did < 0)
			return failed(*end, "sd_bus_process", did);
		if (signal && sd_bus_message_is_signal(signal, kBusInterface, kBusMember) > 0) {
			const int status = take(*end, signal, *message);
			sd_bus_message_unref(signal);
			end->tell_of_room();
			return status;
		}
		sd_bus_message_unref(signal);
		if (did > 0)
			continue;
		const int error = sd_bus_wait(end->bus, UINT64_MAX);
		message->wait_return_ns = icepath_now_ns();
		if (error < 0 && error != -EINTR)
			return failed(*end, "sd_bus_wait", error);
	}
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table =
			plugin_table("sd-bus", target, open_end, connect_bus<icepath_endpoint>, send_message, recv_message);
		table.library_version = "libsystemd " LIBSYSTEMD_VERSION;
		table.daemon = &private_bus().daemon;
		table.cancel = [](icepath_endpoint *end) { end->cancel(); };
		return table;
	}();
	return &plugin;
}
