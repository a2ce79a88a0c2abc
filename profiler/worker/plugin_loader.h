// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loads the one plug-in of a worker, and owns the one endpoint that it opens.
#include <string>

#include "icepath/plugin.h"

namespace icepath::worker {

// A loaded plug-in; never unloaded, because middleware leaves threads and exit handlers behind that live in it.
class Plugin {
public:
	// Throws Failure(MachineCannot) where the file is no plug-in, or one of another interface.
	explicit Plugin(const std::string &path);

	// Null after the last. Throws Failure(MachineCannot) where the target was built with another struct.
	const icepath_target *target(uint32_t n) const;
	const icepath_plugin &calls() const { return *plugin_; }
	const std::string &file() const { return file_; }

private:
	std::string file_; // without its folder
	const icepath_plugin *plugin_ = nullptr;
};

// Closed by its destructor. Everything but cancel() belongs to one thread.
class Endpoint {
public:
	// Throws Failure with the plug-in's sentence.
	Endpoint(const Plugin &plugin, const icepath_open &how, icepath_address &address);
	~Endpoint() { calls_.close(endpoint_); }
	Endpoint(const Endpoint &) = delete;
	Endpoint &operator=(const Endpoint &) = delete;

	void connect(const icepath_address &peer); // throws Failure
	int send(icepath_send &message) { return calls_.send(endpoint_, &message); }
	int recv(icepath_recv &message) { return calls_.recv(endpoint_, &message); }
	// Where the target has ICEPATH_CAN_LOAN.
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
