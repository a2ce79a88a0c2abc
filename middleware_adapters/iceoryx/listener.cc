// SPDX-License-Identifier: Apache-2.0
// Ports whose subscriber is served by a Listener: the library's thread sleeps on a semaphore, which publish() posts,
// and calls back. It takes all messages and passes them to the receiver's thread, which sleeps on a condition variable,
// as any program must that waits for messages in its own thread. Only references are passed, and nothing is copied.
//
// The Listener reports arrivals, not what is there: it is attached before the peer can send, and each time it takes
// until nothing is left. It holds at most `kHeld` chunks for the receiver: beyond that the queue fills up, and the
// publisher waits.
#include <array>
#include <condition_variable>
#include <mutex>

#include "middleware_adapters/iceoryx/untyped.h"
#include "plugin_kit/library.h"
#include <iceoryx_posh/popo/listener.hpp>

namespace icepath::plugin_kit {
namespace {

class ListenerPorts final : public UntypedPorts {
public:
	explicit ListenerPorts(const WantedPorts &wanted) : UntypedPorts(wanted)
	{
		if (!subscriber_)
			return;
		const ThreadsNamed named("iox listener");
		listener_.emplace();
		if (listener_
				->attachEvent(*subscriber_, iox::popo::SubscriberEvent::DATA_RECEIVED,
							  iox::popo::createNotificationCallback(on_data, *this))
				.has_error())
			throw std::runtime_error("a Listener doesn't take the subscriber");
	}
	~ListenerPorts() override { end(); } // otherwise its thread wouldn't

	Taking take(const void **chunk, uint64_t &bytes) override
	{
		std::unique_lock lock(mutex_);
		changed_.wait(lock, [this] { return came_ != taken_ || is_over_; });
		if (came_ == taken_)
			return too_many_ ? Taking::HoldsTooMany : Taking::NothingThere;
		const Held held = held_[taken_++ % kHeld];
		lock.unlock();
		changed_.notify_one(); // the Listener's thread, if it waits for room
		*chunk = held.chunk;
		bytes = held.bytes;
		return Taking::Taken;
	}
	void await() override {} // take() waited

	// The container of a subscriber's chunks is for one thread at a time.
	void release(const void *chunk) override
	{
		const std::lock_guard lock(mutex_);
		UntypedPorts::release(chunk);
	}
	void cancel() override
	{
		UntypedPorts::cancel();
		end();
	}

private:
	struct Held {
		const void *chunk;
		uint64_t bytes;
	};
	static constexpr uint64_t kHeld = 8;

	static void on_data(iox::popo::UntypedSubscriber *, ListenerPorts *ports) { ports->take_all(); }

	// Runs in the Listener's thread.
	void take_all()
	{
		std::unique_lock lock(mutex_);
		for (;;) {
			changed_.wait(lock, [this] { return came_ - taken_ < kHeld || is_over_; });
			if (is_over_)
				return;
			Held &held = held_[came_ % kHeld];
			const Taking taking = UntypedPorts::take(&held.chunk, held.bytes);
			if (taking == Taking::NothingThere)
				return;
			if (taking == Taking::Taken)
				came_++;
			else
				is_over_ = too_many_ = true;
			lock.unlock(); // or the woken thread would have to wait for it
			changed_.notify_one();
			lock.lock();
		}
	}
	void end()
	{
		const std::lock_guard lock(mutex_);
		is_over_ = true;
		changed_.notify_all();
	}

	std::mutex mutex_;
	std::condition_variable changed_;
	std::array<Held, kHeld> held_{};
	uint64_t came_ = 0, taken_ = 0;
	bool is_over_ = false, too_many_ = false;
	std::optional<iox::popo::Listener> listener_; // of the subscriber; ends before the others
};

} // namespace

std::unique_ptr<Ports> listener_ports(const WantedPorts &wanted) { return std::make_unique<ListenerPorts>(wanted); }

} // namespace icepath::plugin_kit
