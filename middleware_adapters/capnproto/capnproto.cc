// SPDX-License-Identifier: Apache-2.0
// Cap'n Proto RPC over a UNIX socket: each end offers the other one a method that takes a message (channel.capnp).
//
// Sending calls it. The method streams ("-> stream"): the call may return before the other end has answered, until the
// window, as large as the socket's send buffer, is full of unanswered calls; then it waits. So each call is still
// answered, but the sender doesn't wait for the answer. Receiving runs the event loop until the method is called. It
// ends when the message was copied out of the call, whose answer is written when this thread next runs its loop.
//
// The library has no threads: an endpoint's thread reads, writes and sleeps (in epoll_wait()) only within its own
// calls. So a send runs the loop until the socket has taken the whole message, and reads meanwhile.
//
// A signal doesn't interrupt the event loop. cancel() fulfils a promise of the loop, which KJ allows from other
// threads. The socket reports the peer's death.
#include <capnp/common.h>
#include <kj/string.h>
#if defined(__clang__) && CAPNP_VERSION < 1000000
// capnp/blob.h of 0.9 needs these, which clang's C++20 doesn't synthesize: clang-tidy reads this file.
namespace kj {
inline bool operator==(const char *one, const StringPtr &other) { return StringPtr(one) == other; }
inline bool operator!=(const char *one, const StringPtr &other) { return !(StringPtr(one) == other); }
} // namespace kj
#endif
#include <capnp/rpc-twoparty.h>
#include <kj/async-io.h>
#include <sys/socket.h>

#include <memory>
#include <string>

#include "channel.capnp.h"
#include "middleware_adapters/capnproto/wire.h"
#include "plugin_kit/library.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;
using icepath::plugin_kit::guarded;

namespace {

constexpr uint64_t kLargest = 32 * 1024 * 1024;

// A thread may have only one.
struct Loop {
	kj::AsyncIoContext io = kj::setupAsyncIo();
};

std::shared_ptr<Loop> loop_of_this_thread()
{
	thread_local std::weak_ptr<Loop> current;
	std::shared_ptr<Loop> loop = current.lock();
	if (!loop)
		current = loop = std::make_shared<Loop>();
	return loop;
}

// A call from the other end that awaits its answer.
struct Call {
	capnp::Data::Reader message;
	kj::Own<kj::PromiseFulfiller<void>> answer;
};

} // namespace

// Members are destroyed from the last to the first.
struct icepath_endpoint : ChannelEnd {
	using ChannelEnd::ChannelEnd;
	~icepath_endpoint() noexcept(false) { close_all({socket}); }

	// Runs the loop until one of the members below changes.
	void await_change()
	{
		auto next = kj::newPromiseAndFulfiller<void>();
		waiting = kj::mv(next.fulfiller);
		next.promise.wait(loop->io.waitScope);
		waiting = nullptr;
	}
	void changed()
	{
		if (waiting)
			waiting->fulfill();
	}

	std::shared_ptr<Loop> loop;
	int socket = -1; // until `wire` owns it
	kj::Own<kj::PromiseFulfiller<void>> waiting;
	kj::Maybe<Call> called; // one at a time: the library holds back a stream's others
	uint64_t calls = 0;
	bool is_gone = false;
	bool has_room = true; // in the window
	kj::Own<kj::CrossThreadPromiseFulfiller<void>> cancel;
	kj::Own<icepath::plugin_kit::Wire> wire;
	kj::Own<capnp::TwoPartyClient> connection;
	kj::Maybe<icepath::wire::Channel::Client> peer;
	kj::Promise<void> cancelling = nullptr, disconnecting = nullptr, sending = nullptr;
};

namespace {

class Inbox final : public icepath::wire::Channel::Server {
public:
	explicit Inbox(icepath_endpoint &end) : end_(end) {}

	// The message stays in the socket's read buffer until the call is answered.
	kj::Promise<void> push(PushContext context) override
	{
		auto answered = kj::newPromiseAndFulfiller<void>();
		end_.called = Call{context.getParams().getMessage(), kj::mv(answered.fulfiller)};
		const uint64_t call = ++end_.calls;
		end_.changed();
		return answered.promise.attach(kj::defer([&end = end_, call] {
			if (call == end.calls)
				end.called = nullptr; // taken, or the connection ended
		}));
	}

private:
	icepath_endpoint &end_;
};

const icepath_target *target(uint32_t n)
{
	static const icepath_target only = [] {
		icepath_target it{};
		it.size = sizeof(it);
		it.name = "capnproto";
		it.summary = "RPC over a UNIX socket: a call of a streaming method for each message";
		it.waits = ICEPATH_WAIT_BLOCK;
		it.mechanisms = ICEPATH_USES_LIBRARY_CALLS;
		it.max_payload_bytes = kLargest;
		it.max_payload_why = "a call has one message, and the library reads none above 64 MiB by default";
		return it;
	}();
	return n == 0 ? &only : nullptr;
}

int closed(icepath_endpoint &end)
{
	return end.sentence.tell(ICEPATH_CLOSED, "the other end of %s is closed", end.target);
}

template <class Body> int run(icepath_endpoint &end, const char *doing, Body body)
{
	return guarded(end, doing, [&]() -> int {
		try {
			return body();
		} catch (const kj::Exception &failure) {
			if (failure.getType() == kj::Exception::Type::DISCONNECTED)
				return closed(end);
			return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, doing,
									 failure.getDescription().cStr());
		}
	});
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [=](icepath_endpoint &end) -> int {
		if (end.side == 1)
			return ICEPATH_OK;
		int both[2];
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both))
			return end.failed("socketpair");
		end.socket = both[0];
		end.give(both[1]);
		return ICEPATH_OK;
	});
}

// The first calls may go before the ends have exchanged their objects: Cap'n Proto sends them to the promised object.
int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, end->side); status != ICEPATH_OK)
		return status;
	if (end->side == 1)
		end->socket = peer->fds[0];
	return run(*end, "connecting", [&] {
		end->loop = loop_of_this_thread();
		auto cancelling = kj::newPromiseAndCrossThreadFulfiller<void>();
		end->cancel = kj::mv(cancelling.fulfiller);
		end->cancelling = cancelling.promise.then([end] { end->changed(); }).eagerlyEvaluate(nullptr);
		auto socket =
			end->loop->io.lowLevelProvider->wrapSocketFd(end->socket, kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP);
		end->socket = -1;
		end->wire = kj::heap<icepath::plugin_kit::Wire>(kj::mv(socket), [end] { end->changed(); });
		end->connection = kj::heap<capnp::TwoPartyClient>(*end->wire, kj::heap<Inbox>(*end),
														  end->side == 0 ? capnp::rpc::twoparty::Side::SERVER
																		 : capnp::rpc::twoparty::Side::CLIENT);
		end->disconnecting = end->connection->onDisconnect()
								 .then([end] {
									 end->is_gone = true;
									 end->changed();
								 })
								 .eagerlyEvaluate(nullptr);
		end->peer = end->connection->bootstrap().castAs<icepath::wire::Channel>();
		return ICEPATH_OK;
	});
}

int call_peer(icepath_endpoint *end, icepath_send *message)
{
	auto call =
		KJ_ASSERT_NONNULL(end->peer).pushRequest(capnp::MessageSize{message->bytes / sizeof(capnp::word) + 8, 0});
	std::memcpy(call.initMessage(static_cast<kj::uint>(message->bytes)).begin(), message->data, message->bytes);
	end->has_room = false;
	message->call_ns = icepath_now_ns();
	end->sending = call.send()
					   .then(
						   [end] {
							   end->has_room = true;
							   end->changed();
						   },
						   [end](kj::Exception &&) {
							   end->is_gone = true;
							   end->changed();
						   })
					   .eagerlyEvaluate(nullptr);
	for (;;) {
		end->loop->io.waitScope.poll();
		if (end->is_cancelled())
			return end->end_of_cancelled();
		if (end->is_gone)
			return closed(*end);
		if (end->has_room && end->wire->is_idle()) {
			message->return_ns = icepath_now_ns();
			return ICEPATH_OK;
		}
		end->await_change();
	}
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->attempts = 1;
	message->call_ns = message->publish_ns = 0;
	if (end->is_cancelled())
		return end->end_of_cancelled();
	return run(*end, "a call", [&] { return call_peer(end, message); });
}

int await_call(icepath_endpoint *end, icepath_recv *message)
{
	message->attempts = 1;
	message->take_call_ns = icepath_now_ns();
	while (end->called == nullptr) {
		if (end->is_cancelled())
			return end->end_of_cancelled();
		if (end->is_gone)
			return closed(*end);
		end->await_change();
	}
	message->take_return_ns = icepath_now_ns();
	auto &call = KJ_ASSERT_NONNULL(end->called);
	message->bytes = std::min<uint64_t>(call.message.size(), message->capacity);
	std::memcpy(message->data, call.message.begin(), message->bytes);
	call.answer->fulfill();
	end->called = nullptr;
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	if (end->is_cancelled())
		return end->end_of_cancelled();
	return run(*end, "awaiting a call", [&] { return await_call(end, message); });
}

const char *version()
{
	static const std::string text = "Cap'n Proto " + std::to_string(CAPNP_VERSION_MAJOR) + "." +
									std::to_string(CAPNP_VERSION_MINOR) + "." + std::to_string(CAPNP_VERSION_MICRO);
	return text.c_str();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("capnproto", target, open_end, connect_end, send_message, recv_message);
		table.library_version = version();
		table.cancel = [](icepath_endpoint *end) {
			end->cancelled.store(true, std::memory_order_relaxed);
			if (end->cancel)
				end->cancel->fulfill();
		};
		table.close = [](icepath_endpoint *end) {
			static_cast<void>(kj::runCatchingExceptions([end] { delete end; })); // an exception can't be reported here
		};
		return table;
	}();
	return &plugin;
}
