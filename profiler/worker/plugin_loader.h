// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loads a worker's plug-in, and owns an endpoint that the worker opens.
#include <string>

#include "icepath/plugin.h"

namespace icepath::worker {

// A loaded plug-in. It is never unloaded, because middleware leaves threads and exit handlers whose code is in it.
class Plugin {
public:
	// Throws Failure(MachineCannot) if the file is no plug-in, or has another interface version.
	explicit Plugin(const std::string &path);

	// Null after the last. Throws Failure(MachineCannot) if the target is invalid or was built with another struct.
	const icepath_target *target(uint32_t n) const;
	const icepath_plugin &calls() const { return *plugin_; }
	const std::string &file() const { return file_; }

private:
	std::string file_; // without its folder
	const icepath_plugin *plugin_ = nullptr;
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
