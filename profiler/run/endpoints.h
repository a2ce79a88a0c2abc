// SPDX-License-Identifier: Apache-2.0
#pragma once
// Has a cell's workers open and connect the endpoints of its channels.
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/model/cell.h"
#include "profiler/run/worker_process.h"

namespace icepath::run {

// `first`: whether it is the channel's end that begins.
inline bool sends_from(const model::Cell &cell, bool first) { return first || model::is_answered(cell.pattern); }
inline bool receives_at(const model::Cell &cell, bool first) { return !first || model::is_answered(cell.pattern); }
inline bool is_fan_in(const model::Cell &cell) { return model::senders_of(cell) > 1; }

class Endpoints {
public:
	// The references must outlive this. `shared`: descriptors that each worker gets with each endpoint.
	Endpoints(const model::Cell &cell, const std::vector<std::unique_ptr<Worker>> &workers, std::vector<int> shared);

	// Opens and connects all of them, with room for so many messages. Throws WorkerFailed, or Failure(MachineCannot)
	// without random numbers for their names.
	void open(const std::string &plugin, uint32_t max_messages);

	// Sockets that carry the channel's messages at that end. If a fan-in's senders share one, the first channel has it.
	const std::vector<Fd> &sockets(uint32_t channel, uint32_t end) const { return sockets_[channel][end]; }
	const model::Qos &granted() const { return granted_; } // by the library
	// If sides are threads of one process: each side's tid, as its worker reports it.
	const std::vector<uint32_t> &threads() const { return threads_; }

private:
	using Sockets = std::array<std::vector<Fd>, 2>; // by end
	// An endpoint's address, for its peer.
	struct Address {
		icepath_address value{};
		std::vector<Fd> fds;
	};
	// Opens both ends of a channel; numbers from OpenRequest::channels on are idle channels.
	void open_channel(uint32_t channel, Sockets &sockets);
	void open_fan_in(); // all channels, with one endpoint at the receiver
	Address open_end(uint32_t channel, uint32_t end, uint32_t side, std::vector<Fd> &sockets);
	// `endpoint`: the side's own number of it.
	void connect_end(uint32_t endpoint, uint32_t side, const Address &peer, std::vector<Fd> &sockets);

	const model::Cell &cell_;
	const std::vector<std::unique_ptr<Worker>> &workers_; // by side
	const std::vector<int> shared_;
	std::map<uint32_t, std::string> names_; // by channel
	worker::Request request_{}; // common to all endpoints
	std::vector<Sockets> sockets_; // by channel
	std::vector<uint32_t> threads_;
	model::Qos granted_;
};

} // namespace icepath::run
