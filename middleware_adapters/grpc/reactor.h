// SPDX-License-Identifier: Apache-2.0
#pragma once
// A stream of peer.proto with the callback API: library threads call a reactor, which mustn't block. It reads into a
// queue, from which the endpoint's own thread takes messages, or hands each message to a handler and then reads the
// next.
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "peer.grpc.pb.h"

namespace icepath::plugin_kit {

using wire::Message;
using wire::Peer;
using wire::Taken;

class CallbackStream {
public:
	// In a library thread. NULL: the stream is over.
	using Handle = std::function<void(Message *)>;

	virtual ~CallbackStream() = default;

	// Before the stream begins.
	void hand_to(Handle handle) { handle_ = std::move(handle); }

	// The message to fill and write(), once the previous one is written. NULL: the stream is over.
	Message *await_room()
	{
		std::unique_lock lock(mutex_);
		room_.wait(lock, [this] { return (has_begun_ && !is_writing_) || is_over_; });
		return is_over_ ? nullptr : &outgoing_;
	}
	void write()
	{
		is_writing_ = true; // before any library thread could look
		start_write(&outgoing_);
	}
	// From a handler, which can't wait: at once, or once the messages before are written. False: the stream is over.
	bool write_in_turn(Message &what)
	{
		std::unique_lock lock(mutex_);
		if (is_over_)
			return false;
		if (is_writing_) {
			in_turn_.push_back(std::move(what));
			return true;
		}
		is_writing_ = true;
		lock.unlock();
		outgoing_.Swap(&what);
		start_write(&outgoing_);
		return true;
	}

	// The next message, to be given back. NULL: the stream is over, and no message is left.
	const Message *await_message()
	{
		std::unique_lock lock(mutex_);
		came_.wait(lock, [this] { return read_ != taken_ || is_over_; });
		return read_ != taken_ ? &place(taken_) : nullptr;
	}
	void give_back()
	{
		std::unique_lock lock(mutex_);
		const bool was_full = read_ - taken_++ == queue_.size();
		const bool reads_on = was_full && !is_over_;
		lock.unlock();
		if (reads_on)
			start_read(&place(read_));
	}

	void end()
	{
		const std::lock_guard lock(mutex_);
		is_over_ = true;
		room_.notify_all();
		came_.notify_all();
	}
	// The last call: no library thread runs afterwards.
	virtual void close() = 0;

protected:
	explicit CallbackStream(int queue) : queue_(static_cast<size_t>(queue)) {}

	virtual void start_read(Message *into) = 0;
	virtual void start_write(const Message *what) = 0;

	// Called with the lock held.
	void has_begun()
	{
		has_begun_ = true;
		room_.notify_all();
	}
	void read_first() { start_read(&place(0)); }
	void has_read(bool is_read)
	{
		if (!is_read)
			end();
		if (handle_)
			handle_(is_read ? &place(read_) : nullptr);
		if (!is_read)
			return;
		std::unique_lock lock(mutex_);
		if (handle_)
			taken_++;
		const bool reads_on = ++read_ - taken_ < queue_.size() && !is_over_;
		lock.unlock(); // or the woken thread would have to wait for it
		came_.notify_one();
		if (reads_on)
			start_read(&place(read_));
	}
	void has_written(bool is_written)
	{
		if (!is_written)
			return end();
		std::unique_lock lock(mutex_);
		const bool writes_on = !in_turn_.empty() && !is_over_;
		is_writing_ = writes_on;
		if (writes_on) {
			outgoing_ = std::move(in_turn_.front());
			in_turn_.pop_front();
		}
		lock.unlock();
		if (writes_on)
			start_write(&outgoing_);
		else
			room_.notify_one();
	}
	void has_finished()
	{
		const std::lock_guard lock(mutex_);
		is_done_ = true;
		done_.notify_one(); // with the lock held: the waiting thread destroys this
	}
	void await_done()
	{
		std::unique_lock lock(mutex_);
		done_.wait(lock, [this] { return is_done_; });
	}

	std::mutex mutex_;
	bool is_over_ = false;

private:
	Message &place(uint64_t n) { return queue_[n % queue_.size()]; }

	std::condition_variable room_, came_, done_;
	bool has_begun_ = false, is_writing_ = false, is_done_ = false;
	uint64_t read_ = 0, taken_ = 0;
	std::vector<Message> queue_;
	Message outgoing_;
	std::deque<Message> in_turn_; // to be written after it
	Handle handle_; // none: the queue
};

template <class Reactor> class ReactorStream : public CallbackStream, public Reactor {
protected:
	using CallbackStream::CallbackStream;

private:
	void start_read(Message *into) final { Reactor::StartRead(into); }
	void start_write(const Message *what) final { Reactor::StartWrite(what); }
	void OnReadDone(bool is_read) final { has_read(is_read); }
	void OnWriteDone(bool is_written) final { has_written(is_written); }
};

class ClientStream final : public ReactorStream<grpc::ClientBidiReactor<Message, Message>> {
public:
	explicit ClientStream(int queue) : ReactorStream(queue) {}

	// Returns once the server has the call. False: the call failed, or is over.
	bool call(Peer::Stub &stub)
	{
		stub.async()->Exchange(&context_, this);
		AddHold(); // the endpoint's own thread starts operations outside callbacks
		is_called_ = true;
		read_first();
		StartCall();
		return await_room();
	}
	void close() override
	{
		end();
		if (!is_called_)
			return;
		context_.TryCancel();
		RemoveHold();
		await_done();
	}

private:
	void OnReadInitialMetadataDone(bool is_read) override
	{
		const std::lock_guard lock(mutex_);
		if (is_read) // false: there are no metadata to read
			has_begun();
	}
	void OnDone(const grpc::Status &) override { has_finished(); }

	grpc::ClientContext context_;
	bool is_called_ = false;
};

class ServerStream final : public ReactorStream<grpc::ServerBidiReactor<Message, Message>> {
public:
	explicit ServerStream(int queue) : ReactorStream(queue) {}

	// Called by a library thread. False: the channel has its stream already.
	bool serve(grpc::CallbackServerContext *context)
	{
		{
			const std::lock_guard lock(mutex_);
			if (context_ || is_over_)
				return false;
			context_ = context;
			has_begun();
		}
		StartSendInitialMetadata(); // connect() of side 0 waits for it
		read_first();
		return true;
	}
	void close() override
	{
		end();
		if (!context_)
			return;
		context_->TryCancel();
		Finish(grpc::Status::CANCELLED);
		await_done();
	}

private:
	void OnDone() override { has_finished(); }

	grpc::CallbackServerContext *context_ = nullptr; // kept after the stream is over
};

class CallbackService final : public Peer::CallbackService {
public:
	explicit CallbackService(ServerStream &stream) : stream_(stream) {}

private:
	class Refusal final : public grpc::ServerBidiReactor<Message, Message> {
	public:
		Refusal() { Finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "a channel has one stream"}); }
		void OnDone() override { delete this; }
	};

	grpc::ServerBidiReactor<Message, Message> *Exchange(grpc::CallbackServerContext *context) override
	{
		if (stream_.serve(context))
			return &stream_;
		return new Refusal;
	}

	ServerStream &stream_;
};

} // namespace icepath::plugin_kit
