// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens and connects the endpoints of a cell's channels, by its workers.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/channel.h"
#include "profiler/model/cell.h"
#include "profiler/run/worker_process.h"

namespace icepath::run {

// `first`: the end of a channel that begins.
inline bool sends_from(const model::Cell &cell, bool first) { return first || model::is_answered(cell.pattern); }
inline bool receives_at(const model::Cell &cell, bool first) { return !first || model::is_answered(cell.pattern); }
inline bool is_fan_in(const model::Cell &cell) { return model::senders_of(cell) > 1; }

class Endpoints {
public:
	// The references are the caller's. `number`: of the opening; names that a transport needs have it. `shared`: what each worker gets
	// with each endpoint.
	Endpoints(const model::Cell &cell, uint32_t number, const std::vector<std::unique_ptr<Worker>> &workers,
			  std::vector<int> shared);

	// All of them, with room for so many messages. Throws WorkerFailed.
	void open(const std::string &plugin, uint32_t max_messages);

	// Of the messages of a channel, by its end. Of a fan-in that has one socket for all senders the first channel has it.
	const std::vector<Fd> &sockets(uint32_t channel, uint32_t end) const { return sockets_[channel][end]; }
	const model::Qos &granted() const { return granted_; } // by the library
	// Between threads: which one each side is, by what its worker says.
	const std::vector<uint32_t> &threads() const { return threads_; }

private:
	using Sockets = std::array<std::vector<Fd>, 2>; // by end
	// Of an endpoint, for its peer.
	struct Address {
		icepath_address told{};
		std::vector<Fd> fds;
	};
	// Both ends of a channel, those beyond channels_of() being idle ones.
	void open_channel(uint32_t channel, Sockets &sockets);
	void open_fan_in(); // all channels, which end in one endpoint
	Address open_end(uint32_t channel, uint32_t end, uint32_t side, std::vector<Fd> &sockets);
	// The side's endpoint of that number.
	void connect_end(uint32_t endpoint, uint32_t side, const Address &peer, std::vector<Fd> &sockets);

	const model::Cell &cell_;
	const uint32_t number_;
	const std::vector<std::unique_ptr<Worker>> &workers_; // by side
	const std::vector<int> shared_;
	worker::Request request_{}; // what all endpoints have in common
	std::vector<Sockets> sockets_; // by channel
	std::vector<uint32_t> threads_;
	model::Qos granted_;
};

} // namespace icepath::run
