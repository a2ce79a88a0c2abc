// SPDX-License-Identifier: Apache-2.0
// gRPC over a UNIX socket, with its synchronous and its callback API, and generated code (peer.proto).
//
// grpc/stream: side 1 is the server. Side 0 calls its method once, and the two streams of that call carry the messages
// of both directions: sending is Write(), receiving is Read(). The server's handler, in a thread of the library, only
// lends its stream to the endpoint's thread. Write() returns as soon as flow control, by the receiver's window, lets
// the whole message go to the connection.
//
// grpc/unary: each receiver is a server, and the sender calls its method for each message; in a ping-pong both ends are
// both, with a connection for each direction. Sending is that call, which ends with an empty answer. Receiving waits
// for the handler, which has the message, in a thread of the library; it answers once the message was copied out of it.
//
// grpc/callback: the stream of grpc/stream, but neither end waits within a library call (reactor.h). Sending is
// StartWrite(), once the previous message was written. A thread of the library (nexting_thread: each process has at
// least two) waits for the sockets and calls the reactor. By callback, the side handles the message there, and may call
// StartWrite(), as the library's own benchmark does (test/cpp/qps/client_callback.cc); it mustn't wait (gRFC L67), so a
// message that must wait for the one before is written by its OnWriteDone(). By block, the reactor puts messages into a
// queue and wakes the endpoint's thread, which sleeps on a condition variable.
//
// A thread that waits within a call serves all of the process's sockets, unless another one does: a server has one or
// two threads that always do. So another thread (grpcpp_sync_ser) may read a message, and wake the one that asked for
// it. Work for a connection that another thread serves is left to that thread, or to a dedicated one (default-executo).
//
// No signal interrupts a call. cancel() ends the client's calls and the server's stream with TryCancel(); the handler
// of grpc/unary and the queue of grpc/callback are awaited on a condition variable.
#include <grpcpp/grpcpp.h>

#include <string>

#include "middleware_adapters/grpc/end.h"
#include "plugin_kit/library.h"
#include "plugin_kit/plugin_table.h"

using namespace icepath::plugin_kit;
using icepath::plugin_kit::guarded;
using icepath::plugin_kit::kCallback;
using icepath::plugin_kit::kStream;
using icepath::plugin_kit::kUnary;
using icepath::plugin_kit::Message;
using icepath::plugin_kit::Peer;
using icepath::plugin_kit::Taken;

struct icepath_endpoint : icepath::plugin_kit::GrpcEnd {
	using GrpcEnd::GrpcEnd;
};

namespace {

constexpr uint64_t kLargest = 32 * 1024 * 1024;
constexpr int kLargestEncoded = kLargest + 64;
constexpr int kQueued = 8; // messages read ahead for a busy receiver
constexpr auto kConnectTime = std::chrono::seconds(5);

const icepath_target *target(uint32_t n)
{
	static const auto made = [](const char *name, const char *summary, uint32_t capabilities, uint32_t also = 0) {
		icepath_target it =
			relayed_target(name, summary, ICEPATH_WAIT_BLOCK | also, kLargest,
						   "icepath's own limit: the library's is 4 MiB by default, and what a program sets");
		it.capabilities = capabilities;
		return it;
	};
	static const icepath_target targets[] = {
		made(kStream, "a bidirectional stream over a UNIX socket, read and written synchronously", 0),
		made(kCallback,
			 "a bidirectional stream over a UNIX socket, whose ends are called back by the library's threads", 0,
			 ICEPATH_WAIT_CALLBACK),
		made(kUnary, "a synchronous call over a UNIX socket for each message, answered once it was taken",
			 ICEPATH_IS_RENDEZVOUS),
	};
	return n < std::size(targets) ? &targets[n] : nullptr;
}

int closed(icepath_endpoint &end)
{
	return end.is_cancelled() ? end.end_of_cancelled()
							  : end.sentence.tell(ICEPATH_CLOSED, "the connection of %s has ended", end.target);
}

int failed(icepath_endpoint &end, const char *what, const grpc::Status &status)
{
	if (end.is_cancelled() || status.error_code() == grpc::StatusCode::UNAVAILABLE ||
		status.error_code() == grpc::StatusCode::CANCELLED)
		return closed(end);
	return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: %s", end.target, what, status.error_message().c_str());
}

int serve(icepath_endpoint &end, const std::string &name)
{
	const std::string where = "unix:/tmp/icepath-" + name + "-" + std::to_string(end.side);
	grpc::ServerBuilder builder;
	builder.AddListeningPort(where, grpc::InsecureServerCredentials());
	builder.SetMaxReceiveMessageSize(kLargestEncoded);
	if (end.callback_service)
		builder.RegisterService(&*end.callback_service);
	else
		builder.RegisterService(&end.service);
	end.server = builder.BuildAndStart();
	if (!end.server)
		return end.sentence.tell(ICEPATH_FAILED, "%s: gRPC can't listen on %s", end.target, where.c_str());
	end.given.bytes_used =
		static_cast<uint32_t>(where.copy(reinterpret_cast<char *>(end.given.bytes), sizeof(end.given.bytes)));
	return ICEPATH_OK;
}

// NULL: the stream is over.
void handle(icepath_endpoint &end, Message *came)
{
	const uint64_t called_ns = icepath_now_ns();
	if (came)
		end.handler.take(called_ns, came->mutable_payload()->data(), came->payload().size());
	else
		end.handler.end(closed(end));
}

void make_reactor(icepath_endpoint &end, int queue)
{
	if (end.side == 0) {
		end.reactor = &end.calling_reactor.emplace(queue);
	} else {
		end.reactor = &end.serving_reactor.emplace(queue);
		end.callback_service.emplace(*end.serving_reactor);
	}
	if (end.handler.is_used())
		end.reactor->hand_to([&end](Message *came) { handle(end, came); });
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [=](icepath_endpoint &end) -> int {
		return guarded(end, "serving", [&]() -> int {
			if (end.is(kCallback))
				make_reactor(end, icepath::plugin_kit::queue_length(*how, kQueued));
			return end.serves() ? serve(end, how->name) : ICEPATH_OK;
		});
	});
}

int call_server(icepath_endpoint &end, const std::string &where)
{
	grpc::ChannelArguments options;
	options.SetMaxReceiveMessageSize(kLargestEncoded);
	const auto channel = grpc::CreateCustomChannel(where, grpc::InsecureChannelCredentials(), options);
	if (!channel->WaitForConnected(std::chrono::system_clock::now() + kConnectTime))
		return end.sentence.tell(ICEPATH_FAILED, "%s: nobody answers on %s", end.target, where.c_str());
	end.stub = Peer::NewStub(channel);
	if (end.is(kCallback)) {
		if (!end.calling_reactor->call(*end.stub))
			return closed(end);
	} else if (end.has_stream()) {
		end.stream = end.stub->Exchange(end.begin_call());
		end.stream->WaitForInitialMetadata(); // afterwards the server has the stream, or the call has failed
	}
	return ICEPATH_OK;
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	if (const int status = end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	if (!end->calls())
		return ICEPATH_OK;
	if (peer->bytes_used == 0 || peer->bytes_used > sizeof(peer->bytes))
		return end->sentence.tell(ICEPATH_FAILED, "%s: the peer's address names no endpoint", end->target);
	return guarded(*end, "connecting", [&] {
		return call_server(*end, std::string(reinterpret_cast<const char *>(peer->bytes), peer->bytes_used));
	});
}

// Side 1 is connected before there is a stream.
bool has_stream_by_now(icepath_endpoint &end)
{
	if (end.side == 1 && !end.served)
		end.served = end.service.await_stream();
	return end.side == 0 || end.served;
}

int write(icepath_endpoint &end, icepath_send &message)
{
	if (!has_stream_by_now(end))
		return closed(end);
	message.call_ns = icepath_now_ns();
	const bool is_written = end.side == 0 ? end.stream->Write(end.outgoing) : end.served->Write(end.outgoing);
	message.return_ns = icepath_now_ns();
	return is_written ? ICEPATH_OK : closed(end);
}

int push(icepath_endpoint &end, icepath_send &message)
{
	Taken answer;
	grpc::ClientContext *call = end.begin_call();
	message.call_ns = icepath_now_ns();
	const grpc::Status status = end.stub->Push(call, end.outgoing, &answer);
	message.return_ns = icepath_now_ns();
	return status.ok() ? ICEPATH_OK : failed(end, "a call", status);
}

int start_write(icepath_endpoint &end, icepath_send &message)
{
	Message *to_fill = end.reactor->await_room();
	if (!to_fill)
		return closed(end);
	to_fill->set_payload(message.data, message.bytes);
	message.call_ns = icepath_now_ns();
	end.reactor->write();
	message.return_ns = icepath_now_ns();
	return ICEPATH_OK;
}

int write_in_turn(icepath_endpoint &end, icepath_send &message)
{
	end.outgoing.set_payload(message.data, message.bytes);
	message.call_ns = icepath_now_ns();
	const bool is_taken = end.reactor->write_in_turn(end.outgoing);
	message.return_ns = icepath_now_ns();
	return is_taken ? ICEPATH_OK : closed(end);
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	message->attempts = 1;
	message->call_ns = message->publish_ns = 0;
	if (end->is_cancelled())
		return end->end_of_cancelled();
	return guarded(*end, "a send", [&] {
		if (end->is(kCallback))
			return end->handler.answers() ? write_in_turn(*end, *message) : start_write(*end, *message);
		end->outgoing.set_payload(message->data, message->bytes);
		return end->has_stream() ? write(*end, *message) : push(*end, *message);
	});
}

void copy_out(const Message &from, icepath_recv &message)
{
	message.bytes = std::min<uint64_t>(from.payload().size(), message.capacity);
	std::memcpy(message.data, from.payload().data(), message.bytes);
}

int read(icepath_endpoint &end, icepath_recv &message)
{
	message.take_call_ns = icepath_now_ns();
	const bool is_read =
		has_stream_by_now(end) && (end.side == 0 ? end.stream->Read(&end.incoming) : end.served->Read(&end.incoming));
	message.take_return_ns = icepath_now_ns();
	if (!is_read)
		return closed(end);
	copy_out(end.incoming, message);
	return ICEPATH_OK;
}

int await_call(icepath_endpoint &end, icepath_recv &message)
{
	message.take_call_ns = icepath_now_ns();
	const bool is_taken = end.service.take([&](const Message &arrived) {
		message.take_return_ns = icepath_now_ns();
		copy_out(arrived, message);
	});
	return is_taken ? ICEPATH_OK : closed(end);
}

int await_message(icepath_endpoint &end, icepath_recv &message)
{
	message.take_call_ns = icepath_now_ns();
	const Message *came = end.reactor->await_message();
	message.take_return_ns = icepath_now_ns();
	if (!came)
		return closed(end);
	copy_out(*came, message);
	end.reactor->give_back();
	return ICEPATH_OK;
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	if (end->is_cancelled())
		return end->end_of_cancelled();
	if (end->handler.is_used())
		return closed(*end);
	message->attempts = 1;
	return guarded(*end, "a receive", [&] {
		if (end->is(kCallback))
			return await_message(*end, *message);
		return end->has_stream() ? read(*end, *message) : await_call(*end, *message);
	});
}

const char *version()
{
	static const std::string text = "gRPC " + grpc::Version();
	return text.c_str();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("grpc", target, open_end, connect_end, send_message, recv_message);
		table.library_version = version();
		table.cancel = [](icepath_endpoint *end) { end->cancel(); };
		return table;
	}();
	return &plugin;
}
