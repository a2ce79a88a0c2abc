// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loads a worker's plug-in, and owns an endpoint that the worker opens.
#include <optional>
#include <string>

#include "icepath/plugin.h"

namespace icepath::worker {

// A loaded plug-in. It is never unloaded, because middleware leaves threads and exit handlers whose code is in it.
class Plugin {
public:
	// Throws Failure(MachineCannot) if the file is no plug-in, or was built for an interface that can't be loaded.
	explicit Plugin(const std::string &path);
	Plugin(const Plugin &) = delete; // calls() points into it
	Plugin &operator=(const Plugin &) = delete;

	// Nothing after the last. Throws Failure(MachineCannot) if the target is invalid.
	std::optional<icepath_target> target(uint32_t n) const;
	// What an older interface doesn't have is null.
	const icepath_plugin &calls() const { return calls_; }
	const std::string &file() const { return file_; }

private:
	template <typename Struct> Struct checked(const Struct *its, uint32_t smallest, const char *name) const;

	std::string file_; // without its folder
	icepath_plugin calls_{};
	icepath_daemon daemon_{}; // calls_.daemon, unless that is null
};

// The destructor closes it. One thread, except cancel().
class Endpoint {
public:
	// Throws Failure with the plug-in's message.
	Endpoint(const Plugin &plugin, const icepath_open &how, icepath_address &address);
	~Endpoint() { calls_.close(endpoint_); }
	Endpoint(const Endpoint &) = delete;
	Endpoint &operator=(const Endpoint &) = delete;

	void connect(const icepath_address &peer); // throws Failure
	int send(icepath_send &message) { return calls_.send(endpoint_, &message); }
	int recv(icepath_recv &message) { return calls_.recv(endpoint_, &message); }
	// Only if the target has ICEPATH_CAN_LOAN.
	int loan(uint64_t bytes, void *&slot) { return calls_.loan(endpoint_, bytes, &slot); }
	int send_loaned(void *slot, icepath_send &message) { return calls_.send_loaned(endpoint_, slot, &message); }
	int take(const void *&slot, icepath_recv &message) { return calls_.take(endpoint_, &slot, &message); }
	int give_back(const void *slot) { return calls_.give_back(endpoint_, slot); }
	void cancel() { calls_.cancel(endpoint_); } // any thread
	std::string error() const;
	uint32_t sockets(int *fds, uint32_t capacity) const;
	icepath_qos granted() const; // icepath_plugin::granted

private:
	const icepath_plugin &calls_;
	icepath_endpoint *endpoint_ = nullptr;
};

} // namespace icepath::worker
