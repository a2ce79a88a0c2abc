// SPDX-License-Identifier: Apache-2.0
#pragma once
// The server at an end of a channel (peer.proto), where library threads pass streams and messages on.
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <mutex>

#include "peer.grpc.pb.h"

namespace icepath::plugin_kit {

using wire::Message;
using wire::Peer;
using wire::Taken;

class Service final : public Peer::Service {
public:
	using ServerStream = grpc::ServerReaderWriter<Message, Message>;

	grpc::Status Exchange(grpc::ServerContext *call, ServerStream *stream) override
	{
		std::unique_lock lock(mutex_);
		if (call_ || is_over_)
			return {grpc::StatusCode::RESOURCE_EXHAUSTED, "a channel has one stream"};
		call_ = call;
		lock.unlock();
		stream->SendInitialMetadata(); // connect() of side 0 waits for it
		lock.lock();
		stream_ = stream;
		changed_.notify_all();
		changed_.wait(lock, [this] { return is_closing_; });
		call_ = nullptr;
		return grpc::Status::OK;
	}

	grpc::Status Push(grpc::ServerContext *, const Message *message, Taken *) override
	{
		std::unique_lock lock(mutex_);
		changed_.wait(lock, [this] { return !arrived_ || is_over_; }); // of a call that its client gave up
		if (is_over_)
			return {grpc::StatusCode::CANCELLED, "nobody receives any more"};
		arrived_ = message;
		changed_.notify_all();
		changed_.wait(lock, [=, this] { return arrived_ != message || is_over_; });
		if (arrived_ != message)
			return grpc::Status::OK;
		arrived_ = nullptr;
		return {grpc::StatusCode::CANCELLED, "nobody receives any more"};
	}

	// NULL: the end is over.
	ServerStream *await_stream()
	{
		std::unique_lock lock(mutex_);
		changed_.wait(lock, [this] { return stream_ || is_over_; });
		return is_over_ ? nullptr : stream_;
	}

	// Calls `copy` with the message before answering its call. False: the end is over.
	template <class Copy> bool take(Copy copy)
	{
		std::unique_lock lock(mutex_);
		changed_.wait(lock, [this] { return arrived_ || is_over_; });
		if (is_over_)
			return false;
		copy(*arrived_);
		arrived_ = nullptr;
		changed_.notify_all();
		return true;
	}

	void end()
	{
		const std::lock_guard lock(mutex_);
		is_over_ = true;
		if (call_)
			call_->TryCancel();
		changed_.notify_all();
	}

	// The caller no longer uses the stream.
	void close()
	{
		end();
		const std::lock_guard lock(mutex_);
		is_closing_ = true;
		changed_.notify_all();
	}

private:
	std::mutex mutex_;
	std::condition_variable changed_;
	bool is_over_ = false, is_closing_ = false;
	grpc::ServerContext *call_ = nullptr;
	ServerStream *stream_ = nullptr;
	const Message *arrived_ = nullptr;
};

} // namespace icepath::plugin_kit
