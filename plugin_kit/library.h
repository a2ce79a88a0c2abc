// SPDX-License-Identifier: Apache-2.0
#pragma once
// What adapters of libraries share: their targets, exceptions, qualities of service, queues, threads, handlers and lent
// messages.
#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>

#include "icepath/plugin.h"
#include "plugin_kit/channel_end.h"

namespace icepath::plugin_kit {

// A target of a library whose messages pass through its own threads, or through a daemon.
//
// The caller adds capabilities beyond a ping-pong. The texts must live as long as the plug-in.
inline icepath_target relayed_target(const char *name, const char *summary, uint32_t waits, uint64_t max_payload_bytes,
									 const char *max_payload_why)
{
	icepath_target it{};
	it.size = sizeof(it);
	it.name = name;
	it.summary = summary;
	it.waits = waits;
	it.mechanisms = ICEPATH_USES_LIBRARY_CALLS | ICEPATH_USES_LIBRARY_THREADS;
	it.max_payload_bytes = max_payload_bytes;
	it.max_payload_why = max_payload_why;
	return it;
}

// Keeps a library's std::exception inside the plug-in. The adapter's body must catch anything else.
//
// Returns the body's status, or ICEPATH_FAILED with a sentence. `doing`: the action to name in it.
template <class Endpoint, class Body> int guarded(Endpoint &end, const char *doing, Body body)
{
	try {
		return body();
	} catch (const std::exception &failure) {
		return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, doing, failure.what());
	}
}

inline std::optional<uint64_t> value_of(const icepath_qos &qos, icepath_qos_policy policy)
{
	return qos.policies & (1u << policy) ? std::optional(qos.values[policy]) : std::nullopt;
}

inline void set_value(icepath_qos &qos, icepath_qos_policy policy, uint64_t value)
{
	qos.policies |= 1u << policy;
	qos.values[policy] = value;
}

constexpr uint32_t kEveryPolicy = (1u << ICEPATH_QOS_POLICIES) - 1;

// How many messages a library's queue may hold, where it counts messages instead of bytes.
//
// The requested length, or else the library's own, limited to 8 MiB of messages (but at least 2).
inline int queue_length(const icepath_open &how, uint64_t otherwise)
{
	constexpr uint64_t kQueuedBytes = 8 * 1024 * 1024;
	const uint64_t fits = std::max<uint64_t>(kQueuedBytes / how.payload_bytes, 2);
	return static_cast<int>(std::min<uint64_t>(how.depth ? how.depth : otherwise, fits));
}

// The requested quality of service of a DDS end. Where it has one message at a time, of one peer and with one answer,
// it keeps the last one unless asked otherwise: DDS's default. So does an end that answers in a handler, which has each
// message before the next comes. Elsewhere the adapter chooses.
inline icepath_qos qos_where_answered(const icepath_open &how)
{
	icepath_qos qos = how.qos;
	const bool has_one = how.peers <= 1 && how.answers == 1;
	if (how.answers > 0 && (has_one || how.wait == ICEPATH_WAIT_CALLBACK) && !value_of(qos, ICEPATH_QOS_HISTORY))
		set_value(qos, ICEPATH_QOS_HISTORY, ICEPATH_KEEP_LAST);
	return qos;
}

// Names the threads of a library that doesn't name them: a thread inherits the name of the thread that creates it.
class ThreadsNamed {
public:
	explicit ThreadsNamed(const char *name)
	{
		prctl(PR_GET_NAME, own_);
		prctl(PR_SET_NAME, name);
	}
	~ThreadsNamed() { prctl(PR_SET_NAME, own_); }
	ThreadsNamed(const ThreadsNamed &) = delete;
	ThreadsNamed &operator=(const ThreadsNamed &) = delete;

private:
	char own_[16] = "";
};

// The side's handler, for an end whose library passes each message to a callback.
class Handler {
public:
	explicit Handler(const icepath_open &how)
		: handler_(how.handler), is_used_(how.wait == ICEPATH_WAIT_CALLBACK && how.receives),
		  answers_(is_used_ && how.sends)
	{}
	bool is_used() const { return is_used_; }
	// Whether the side sends from the handler, so that at most the answers to one message are under way.
	bool answers() const { return answers_; }

	// Call it in the thread in which the library called, at `called_ns`.
	void take(uint64_t called_ns, void *data, uint64_t bytes) const
	{
		icepath_recv message{};
		message.size = sizeof(message);
		message.ask_ns = called_ns;
		message.attempts = 1;
		message.data = data;
		message.bytes = message.capacity = bytes;
		take(message);
	}
	// Likewise, where the plug-in called the library for the message.
	void take(icepath_recv &message) const { handler_.handle(handler_.side, ICEPATH_OK, &message); }
	// No message will come. `status`: why.
	void end(int status) const
	{
		icepath_recv none{};
		none.size = sizeof(none);
		handler_.handle(handler_.side, status, &none);
	}

private:
	const icepath_handler handler_;
	const bool is_used_, answers_;
};

// send() and recv() of a plug-in whose library lends memory: copies into a lent slot, and out of a taken one.
template <auto kLend, auto kSendLent, class Endpoint> int send_copy(Endpoint *end, icepath_send *message)
{
	void *slot = nullptr;
	if (const int status = kLend(end, message->bytes, &slot); status != ICEPATH_OK)
		return status;
	std::memcpy(slot, message->data, message->bytes);
	return kSendLent(end, slot, message);
}

template <auto kTakeLent, auto kGiveBack, class Endpoint> int recv_copy(Endpoint *end, icepath_recv *message)
{
	const void *slot = nullptr;
	if (const int status = end->check_capacity(*message); status != ICEPATH_OK)
		return status;
	if (const int status = kTakeLent(end, &slot, message); status != ICEPATH_OK)
		return status;
	message->bytes = std::min(message->bytes, message->capacity);
	std::memcpy(message->data, slot, message->bytes);
	return kGiveBack(end, slot);
}

} // namespace icepath::plugin_kit
