// SPDX-License-Identifier: Apache-2.0
// Ports whose subscriber is served by a Listener: the library's thread sleeps on a semaphore, which publish() posts,
// and calls back. The Listener reports arrivals, not what is there: it is attached before the peer can send, and each
// time all is taken until nothing is left.
//
// HandlingPorts take, handle and answer in that thread. The library allows that: iceoryx's "Getting started" names a
// server that sends its responses from the callback. Ports are for one thread at a time, which the side sees to.
//
// PassingPorts pass the messages to the receiver's thread, which sleeps on a condition variable, as any program must
// that waits for messages in its own thread. Only references are passed, and nothing is copied. The Listener's thread
// holds at most `kHeld` chunks for the receiver: beyond that the queue fills up, and the publisher waits.
#include <signal.h>

#include <array>
#include <condition_variable>
#include <mutex>

#include "middleware_adapters/iceoryx/untyped.h"
#include "plugin_kit/library.h"
#include <iceoryx_posh/popo/listener.hpp>

namespace icepath::plugin_kit {
namespace {

// A signal that interrupts the wait for its semaphore makes the library abort, as with a WaitSet (iceoryx.cc). A thread
// inherits what its creator blocks.
class SignalsBlocked {
public:
	SignalsBlocked()
	{
		sigset_t all;
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before_);
	}
	~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
	SignalsBlocked(const SignalsBlocked &) = delete;
	SignalsBlocked &operator=(const SignalsBlocked &) = delete;

private:
	sigset_t before_{};
};

// Its thread runs `on_data` of the ports for each arrival.
template <class ItsPorts>
void listen(std::optional<iox::popo::Listener> &listener, iox::popo::UntypedSubscriber &subscriber, ItsPorts &ports,
			void (&on_data)(iox::popo::UntypedSubscriber *, ItsPorts *))
{
	const ThreadsNamed named("iox listener");
	const SignalsBlocked blocked;
	listener.emplace();
	if (listener
			->attachEvent(subscriber, iox::popo::SubscriberEvent::DATA_RECEIVED,
						  iox::popo::createNotificationCallback(on_data, ports))
			.has_error())
		throw std::runtime_error("a Listener doesn't take the subscriber");
}

class HandlingPorts final : public UntypedPorts {
public:
	explicit HandlingPorts(const WantedPorts &wanted) : UntypedPorts(wanted), on_data_(wanted.on_data)
	{
		if (subscriber_)
			listen(listener_, *subscriber_, *this, handle);
	}

private:
	static void handle(iox::popo::UntypedSubscriber *, HandlingPorts *ports) { ports->on_data_(*ports); }

	const std::function<void(Ports &)> on_data_;
	std::optional<iox::popo::Listener> listener_; // of the subscriber; ends before the others
};

class PassingPorts final : public UntypedPorts {
public:
	explicit PassingPorts(const WantedPorts &wanted) : UntypedPorts(wanted)
	{
		if (subscriber_)
			listen(listener_, *subscriber_, *this, pass);
	}
	~PassingPorts() override { end(); } // otherwise its thread wouldn't

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

	static void pass(iox::popo::UntypedSubscriber *, PassingPorts *ports) { ports->take_all(); }

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

std::unique_ptr<Ports> listener_ports(const WantedPorts &wanted)
{
	if (wanted.on_data)
		return std::make_unique<HandlingPorts>(wanted);
	return std::make_unique<PassingPorts>(wanted);
}

} // namespace icepath::plugin_kit
