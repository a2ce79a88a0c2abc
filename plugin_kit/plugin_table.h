// SPDX-License-Identifier: Apache-2.0
#pragma once
// The common part of every kernel transport's function table.
#include <new>

#include "plugin_kit/channel_end.h"

namespace icepath::plugin_kit {

// From the last open() that failed in this thread.
inline Sentence &open_error()
{
	static thread_local Sentence sentence;
	return sentence;
}

inline int check_open(const icepath_open &how, const icepath_target &target)
{
	if (how.size != sizeof(icepath_open))
		return open_error().tell(ICEPATH_UNSUPPORTED, "%s: icepath_open has %u bytes, expected %zu", target.name,
								 how.size, sizeof(icepath_open));
	if (target.why_not)
		return open_error().tell(ICEPATH_UNSUPPORTED, "%s does not work here: %s", target.name, target.why_not);
	if ((target.waits & how.wait) == 0 || (how.wait & (how.wait - 1)) != 0)
		return open_error().tell(ICEPATH_UNSUPPORTED, "%s does not support the wait that was asked for", target.name);
	if (how.peers > 1 && !(target.capabilities & ICEPATH_CAN_FANIN))
		return open_error().tell(ICEPATH_UNSUPPORTED, "%s can't receive from several senders", target.name);
	if (how.peers > 1 && (target.fanin_waits & how.wait) == 0)
		return open_error().tell(ICEPATH_UNSUPPORTED, "%s does not support that wait for several senders", target.name);
	if (how.qos.policies & ~target.qos)
		return open_error().tell(ICEPATH_UNSUPPORTED, "%s does not have the quality of service that was asked for",
								 target.name);
	if (how.side > 1)
		return open_error().tell(ICEPATH_UNSUPPORTED, "%s has sides 0 and 1, not %u", target.name, how.side);
	if (how.payload_bytes == 0 || how.payload_bytes > target.max_payload_bytes)
		return open_error().tell(ICEPATH_UNSUPPORTED, "%s carries 1 to %llu bytes, not %llu: %s", target.name,
								 static_cast<unsigned long long>(target.max_payload_bytes),
								 static_cast<unsigned long long>(how.payload_bytes), target.max_payload_why);
	return ICEPATH_OK;
}

// All of open() but the target's part: `set_up(Endpoint &)` makes this side's half, gives the peer what it needs, and
// returns an icepath_status.
template <class Endpoint, class SetUp>
int open_endpoint(const icepath_open *how, const icepath_target &target, Endpoint **endpoint, icepath_address *address,
				  SetUp set_up)
{
	*endpoint = nullptr;
	*address = icepath_address{};
	if (const int status = check_open(*how, target); status != ICEPATH_OK)
		return status;
	auto *end = new (std::nothrow) Endpoint(*how, target);
	if (!end)
		return open_error().tell(ICEPATH_FAILED, "%s: no memory", target.name);
	int status = set_up(*end);
	if (status == ICEPATH_OK) {
		const int pidfd = own_pidfd();
		if (pidfd >= 0)
			end->give(pidfd);
		else
			status = end->failed("pidfd_open (Linux 5.3)");
	}
	if (status != ICEPATH_OK) {
		open_error() = end->sentence;
		delete end;
		return status;
	}
	*address = end->given;
	*endpoint = end;
	return ICEPATH_OK;
}

// open_endpoint() for a plug-in of several targets: opens the requested one.
template <class Endpoint, class SetUp>
int open_one_of(const icepath_open *how, const icepath_target *(*target)(uint32_t), Endpoint **endpoint,
				icepath_address *address, SetUp set_up)
{
	for (uint32_t n = 0; const icepath_target *nth = target(n); n++)
		if (std::strcmp(nth->name, how->target) == 0)
			return open_endpoint(how, *nth, endpoint, address, set_up);
	*endpoint = nullptr;
	return open_error().tell(ICEPATH_UNSUPPORTED, "this plug-in has no target %.31s", how->target);
}

// A table with what `Endpoint`, the plug-in's icepath_endpoint, inherits from ChannelEnd.
template <class Endpoint>
icepath_plugin plugin_table(const char *name, const icepath_target *(*target)(uint32_t),
							int (*open)(const icepath_open *, Endpoint **, icepath_address *),
							int (*connect)(Endpoint *, const icepath_address *),
							int (*send)(Endpoint *, icepath_send *), int (*recv)(Endpoint *, icepath_recv *))
{
	icepath_plugin table{};
	table.size = sizeof(table);
	table.abi = ICEPATH_PLUGIN_ABI;
	table.name = name;
#ifdef ICEPATH_PLUGIN_VERSION
	table.version = ICEPATH_PLUGIN_VERSION;
#endif
	table.target = target;
	table.open = open;
	table.connect = connect;
	table.send = send;
	table.recv = recv;
	table.cancel = [](Endpoint *end) { end->cancelled.store(true, std::memory_order_relaxed); };
	table.close = [](Endpoint *end) { delete end; };
	table.error = [](const Endpoint *end) { return end ? end->sentence.text() : open_error().text(); };
	table.sockets = [](const Endpoint *, int *, uint32_t) { return 0u; };
	return table;
}

// For plug-ins that lend slots.
template <class Endpoint>
void add_loans(icepath_plugin &table, int (*lend)(Endpoint *, uint64_t, void **),
			   int (*send_lent)(Endpoint *, void *, icepath_send *),
			   int (*take_lent)(Endpoint *, const void **, icepath_recv *), int (*give_back)(Endpoint *, const void *))
{
	table.loan = lend;
	table.send_loaned = send_lent;
	table.take = take_lent;
	table.give_back = give_back;
}

} // namespace icepath::plugin_kit

#define ICEPATH_EXPORT extern "C" __attribute__((visibility("default")))
