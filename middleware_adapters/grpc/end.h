// SPDX-License-Identifier: Apache-2.0
#pragma once
// An end of a channel of any target.
#include <grpcpp/grpcpp.h>

#include <memory>
#include <mutex>
#include <optional>

#include "middleware_adapters/grpc/reactor.h"
#include "middleware_adapters/grpc/service.h"
#include "plugin_kit/channel_end.h"
#include "plugin_kit/library.h"

namespace icepath::plugin_kit {

inline constexpr const char *kStream = "grpc/stream", *kCallback = "grpc/callback", *kUnary = "grpc/unary";

struct GrpcEnd : plugin_kit::ChannelEnd {
	GrpcEnd(const icepath_open &how, const icepath_target &what) : ChannelEnd(how, what), handler(how) {}
	~GrpcEnd()
	{
		cancel();
		stream.reset();
		service.close();
		if (reactor)
			reactor->close();
		if (server)
			server->Shutdown(std::chrono::system_clock::now());
	}

	bool is(const char *name) const { return std::strcmp(target, name) == 0; }
	bool has_stream() const { return !is(kUnary); }
	bool serves() const { return has_stream() ? side == 1 : receives; }
	bool calls() const { return has_stream() ? side == 0 : sends; }
	void cancel()
	{
		cancelled.store(true, std::memory_order_relaxed);
		service.end();
		if (reactor)
			reactor->end();
		const std::lock_guard lock(calling);
		if (call)
			call->TryCancel();
	}
	// Begins a client call, before or after cancel(), but never in between.
	grpc::ClientContext *begin_call()
	{
		const std::lock_guard lock(calling);
		call = std::make_unique<grpc::ClientContext>();
		if (is_cancelled())
			call->TryCancel();
		return call.get();
	}

	const Handler handler; // of grpc/callback
	Message outgoing, incoming;
	Service service;
	std::optional<ClientStream> calling_reactor; // of grpc/callback: one of the two, by side
	std::optional<ServerStream> serving_reactor;
	CallbackStream *reactor = nullptr;
	std::optional<CallbackService> callback_service;
	std::unique_ptr<grpc::Server> server;
	std::unique_ptr<Peer::Stub> stub;
	std::mutex calling;
	std::unique_ptr<grpc::ClientContext> call; // changes with `calling` held
	std::unique_ptr<grpc::ClientReaderWriter<Message, Message>> stream; // of side 0
	Service::ServerStream *served = nullptr; // of side 1
};

} // namespace icepath::plugin_kit
