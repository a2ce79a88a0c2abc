// SPDX-License-Identifier: Apache-2.0
// Ports with the C binding, whose functions call those of the C++ interface: polled, or with a wait set, which waits
// only once nothing is left to take, as in untyped.h. The binding doesn't report a message's length.
#include <stdexcept>

#include "middleware_adapters/iceoryx/ports.h"
#include "plugin_kit/spin_pause.h"
extern "C" {
#include <iceoryx_binding_c/api.h>
}

namespace icepath::plugin_kit {
namespace {

const char *why_not_lent(iox_AllocationResult result)
{
	switch (result) {
	case AllocationResult_NO_MEMPOOLS_AVAILABLE:
		return "NO_MEMPOOLS_AVAILABLE";
	case AllocationResult_RUNNING_OUT_OF_CHUNKS:
		return "RUNNING_OUT_OF_CHUNKS";
	case AllocationResult_TOO_MANY_CHUNKS_ALLOCATED_IN_PARALLEL:
		return "TOO_MANY_CHUNKS_ALLOCATED_IN_PARALLEL";
	default:
		return "the binding reports no reason";
	}
}

class CPorts final : public Ports {
public:
	explicit CPorts(const WantedPorts &wanted) : payload_bytes_(wanted.payload_bytes)
	{
		if (wanted.sends) {
			iox_pub_options_t options;
			iox_pub_options_init(&options);
			options.subscriberTooSlowPolicy =
				wanted.discards ? ConsumerTooSlowPolicy_DISCARD_OLDEST_DATA : ConsumerTooSlowPolicy_WAIT_FOR_CONSUMER;
			publisher_ = iox_pub_init(&publisher_storage_, wanted.kService, wanted.channel.c_str(),
									  wanted.event(wanted.side), &options);
		}
		if (wanted.receives) {
			iox_sub_options_t options;
			iox_sub_options_init(&options);
			options.queueCapacity = wanted.queue;
			options.queueFullPolicy =
				wanted.discards ? QueueFullPolicy_DISCARD_OLDEST_DATA : QueueFullPolicy_BLOCK_PRODUCER;
			subscriber_ = iox_sub_init(&subscriber_storage_, wanted.kService, wanted.channel.c_str(),
									   wanted.event(1 - wanted.side), &options);
		}
		if (wanted.receives && wanted.in_wait_set) {
			wait_set_ = iox_ws_init(&wait_set_storage_);
			if (iox_ws_attach_subscriber_state(wait_set_, subscriber_, SubscriberState_HAS_DATA, 0, nullptr) !=
				WaitSetResult_SUCCESS) {
				end();
				throw std::runtime_error("a wait set doesn't take the subscriber");
			}
		}
	}
	~CPorts() override { end(); }

	bool are_joined() override
	{
		return (!publisher_ || has_subscriber()) &&
			   (!subscriber_ || iox_sub_get_subscription_state(subscriber_) == SubscribeState_SUBSCRIBED);
	}
	bool has_subscriber() override { return iox_pub_has_subscribers(publisher_); }

	void *lend(uint32_t bytes, const char *&why_not) override
	{
		void *chunk = nullptr;
		const iox_AllocationResult result = iox_pub_loan_chunk(publisher_, &chunk, bytes);
		if (result == AllocationResult_SUCCESS)
			return chunk;
		why_not = why_not_lent(result);
		return nullptr;
	}
	void publish(void *chunk) override { iox_pub_publish_chunk(publisher_, chunk); }

	Taking take(const void **chunk, uint64_t &bytes) override
	{
		bytes = payload_bytes_;
		switch (iox_sub_take_chunk(subscriber_, chunk)) {
		case ChunkReceiveResult_SUCCESS:
			return Taking::Taken;
		case ChunkReceiveResult_NO_CHUNK_AVAILABLE:
			return Taking::NothingThere;
		default:
			return Taking::HoldsTooMany;
		}
	}
	void await() override
	{
		if (!wait_set_)
			return plugin_kit::pause_spin();
		iox_notification_info_t info;
		uint64_t missed = 0;
		iox_ws_timed_wait(wait_set_, {0, kLongestWaitMs * 1'000'000}, &info, 1, &missed);
	}
	void release(const void *chunk) override { iox_sub_release_chunk(subscriber_, chunk); }

	// Sets an atomic: iox-roudi does the rest.
	void cancel() override
	{
		if (publisher_)
			iox_pub_stop_offer(publisher_);
	}

private:
	void end()
	{
		if (wait_set_)
			iox_ws_deinit(wait_set_);
		if (subscriber_)
			iox_sub_deinit(subscriber_);
		if (publisher_)
			iox_pub_deinit(publisher_);
	}

	const uint64_t payload_bytes_;
	iox_pub_storage_t publisher_storage_{};
	iox_sub_storage_t subscriber_storage_{};
	iox_ws_storage_t wait_set_storage_{};
	iox_pub_t publisher_ = nullptr;
	iox_sub_t subscriber_ = nullptr;
	iox_ws_t wait_set_ = nullptr;
};

} // namespace

std::unique_ptr<Ports> c_ports(const WantedPorts &wanted) { return std::make_unique<CPorts>(wanted); }

} // namespace icepath::plugin_kit
