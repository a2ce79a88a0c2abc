// SPDX-License-Identifier: Apache-2.0
#pragma once
// A socket of any pattern, in the context that all sockets of a process share.
#include <zmq.h>

#include <cerrno>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "icepath/plugin.h"

namespace icepath::plugin_kit {

// Of this process; ends with its last socket.
inline std::shared_ptr<void> shared_context()
{
	static std::mutex mutex;
	static std::weak_ptr<void> current;
	const std::lock_guard lock(mutex);
	std::shared_ptr<void> context = current.lock();
	if (!context) {
		if (void *made = zmq_ctx_new())
			context.reset(made, [](void *it) {
				while (zmq_ctx_term(it) && errno == EINTR)
					;
			});
		current = context;
	}
	return context;
}

inline std::string library_version()
{
	int major = 0, minor = 0, patch = 0;
	zmq_version(&major, &minor, &patch);
	return "ZeroMQ " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

using Option = std::pair<int, int>; // and its value

class Socket {
public:
	Socket() = default;
	~Socket()
	{
		if (socket_)
			zmq_close(socket_);
	}
	Socket(const Socket &) = delete;
	Socket &operator=(const Socket &) = delete;

	void *get() const { return socket_; }

	// NULL, or the call that failed, with errno set.
	const char *make(int type, std::initializer_list<Option> options)
	{
		context_ = shared_context();
		if (!context_)
			return "zmq_ctx_new";
		socket_ = zmq_socket(context_.get(), type);
		if (!socket_)
			return "zmq_socket";
		for (const auto &[option, value] : options)
			if (zmq_setsockopt(socket_, option, &value, sizeof(value)))
				return "zmq_setsockopt";
		return nullptr;
	}

	// Likewise. `told` gets the address that the library reports, with its terminating zero.
	const char *bind(const std::string &where, icepath_address &told)
	{
		if (zmq_bind(socket_, where.c_str()))
			return "zmq_bind";
		size_t bytes = sizeof(told.bytes);
		if (zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, told.bytes, &bytes))
			return "zmq_getsockopt(ZMQ_LAST_ENDPOINT)";
		told.bytes_used = static_cast<uint32_t>(bytes);
		return nullptr;
	}

	// Whether `event` occurred within that time; -1: no limit. False with errno set, perhaps EINTR.
	bool await(short event, int limit_ms) const
	{
		zmq_pollitem_t wait{socket_, 0, event, 0};
		return zmq_poll(&wait, 1, limit_ms) > 0;
	}

private:
	std::shared_ptr<void> context_; // outlives the socket
	void *socket_ = nullptr;
};

} // namespace icepath::plugin_kit
