// SPDX-License-Identifier: Apache-2.0
#pragma once
// A client of the media driver at one end of a channel, with a publication and a subscription of the inter-process
// channel.
#include <aeron/aeronc.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "icepath/plugin.h"

namespace icepath::plugin_kit {

class AeronClient {
public:
	AeronClient() = default;
	~AeronClient()
	{
		if (client_)
			aeron_close(client_); // and everything it owns
		if (assembler_)
			aeron_fragment_assembler_delete(assembler_);
		if (context_)
			aeron_context_close(context_);
	}
	AeronClient(const AeronClient &) = delete;
	AeronClient &operator=(const AeronClient &) = delete;

	// False on failure, as with the others: aeron_errmsg() has the reason, unless the driver didn't answer for 5 s.
	bool start(const char *folder)
	{
		return aeron_context_init(&context_) == 0 && aeron_context_set_dir(context_, folder) == 0 &&
			   // The default handler would end the process.
			   aeron_context_set_error_handler(context_, note, this) == 0 && aeron_init(&client_, context_) == 0 &&
			   aeron_start(client_) == 0;
	}
	bool publish(const char *channel, int32_t stream)
	{
		aeron_async_add_exclusive_publication_t *asked = nullptr;
		return aeron_async_add_exclusive_publication(&asked, client_, channel, stream) == 0 &&
			   await([&] { return aeron_async_add_exclusive_publication_poll(&publication_, asked); });
	}
	// poll() calls `take` with each message.
	bool subscribe(const char *channel, int32_t stream, aeron_fragment_handler_t take, void *taker)
	{
		aeron_async_add_subscription_t *asked = nullptr;
		return aeron_fragment_assembler_create(&assembler_, take, taker) == 0 &&
			   aeron_async_add_subscription(&asked, client_, channel, stream, nullptr, nullptr, nullptr, nullptr) ==
				   0 &&
			   await([&] { return aeron_async_add_subscription_poll(&subscription_, asked); });
	}
	bool is_joined() const
	{
		return (!publication_ || aeron_exclusive_publication_is_connected(publication_)) &&
			   (!subscription_ || aeron_subscription_is_connected(subscription_));
	}
	bool has_failed() const { return has_failed_.load(std::memory_order_relaxed); }

	// A position, or AERON_PUBLICATION_….
	int64_t offer(const void *data, uint64_t bytes)
	{
		return aeron_exclusive_publication_offer(publication_, static_cast<const uint8_t *>(data), bytes, nullptr,
												 nullptr);
	}
	// Whether there was at least a part of a message; below zero: failed.
	int poll() { return aeron_subscription_poll(subscription_, aeron_fragment_assembler_handler, assembler_, 1); }

private:
	static constexpr uint64_t kLongestNs = 5'000'000'000;

	static void note(void *client, int, const char *)
	{
		static_cast<AeronClient *>(client)->has_failed_.store(true, std::memory_order_relaxed);
	}
	template <class Poll> static bool await(Poll poll)
	{
		const uint64_t give_up_ns = icepath_now_ns() + kLongestNs;
		int status = poll();
		for (; status == 0 && icepath_now_ns() < give_up_ns; status = poll())
			usleep(1000);
		return status == 1;
	}

	aeron_context_t *context_ = nullptr;
	aeron_t *client_ = nullptr;
	aeron_exclusive_publication_t *publication_ = nullptr;
	aeron_subscription_t *subscription_ = nullptr;
	aeron_fragment_assembler_t *assembler_ = nullptr;
	std::atomic<bool> has_failed_{false};
};

} // namespace icepath::plugin_kit
