// SPDX-License-Identifier: Apache-2.0
#pragma once
// The socket below a connection: the library doesn't report when everything is written.
#include <kj/async-io.h>
#include <kj/function.h>

namespace icepath::plugin_kit {

class Wire final : public kj::AsyncIoStream {
public:
	Wire(kj::Own<kj::AsyncIoStream> socket, kj::Function<void()> written)
		: socket_(kj::mv(socket)), written_(kj::mv(written))
	{}
	bool is_idle() const { return writing_ == 0; }

	kj::Promise<size_t> tryRead(void *to, size_t least, size_t most) override
	{
		return socket_->tryRead(to, least, most);
	}
	kj::Promise<void> write(const void *from, size_t bytes) override { return count(socket_->write(from, bytes)); }
	kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override
	{
		return count(socket_->write(pieces));
	}
	kj::Promise<void> whenWriteDisconnected() override { return socket_->whenWriteDisconnected(); }
	void shutdownWrite() override { socket_->shutdownWrite(); }
	void abortRead() override { socket_->abortRead(); }
	// The library reads the window's size with it.
	void getsockopt(int level, int option, void *value, kj::uint *bytes) override
	{
		socket_->getsockopt(level, option, value, bytes);
	}

private:
	kj::Promise<void> count(kj::Promise<void> writing)
	{
		writing_++;
		return writing.then([this] {
			writing_--;
			written_();
		});
	}

	kj::Own<kj::AsyncIoStream> socket_;
	kj::Function<void()> written_;
	uint64_t writing_ = 0;
};

} // namespace icepath::plugin_kit
