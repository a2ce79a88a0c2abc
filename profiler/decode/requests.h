// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests of programs that stamp nothing: a thread takes a message at the end of a connection that it serves, and its
// next message there is the answer. While it works on that, it may be the client of others: their requests nest, so a
// chain client, proxy, server is one tree.
//
// Content isn't known, so a request has an answer only if one is possible. If a second message was taken before the
// first answer, either may be answered first: all of them are *ambiguous*, and so are later ones until as many answers
// came as are owed. So is a request that another thread answers, and one whose message isn't known well. What isn't
// answered within kLongestOpenNs is given up.
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "profiler/decode/called_messages.h"

namespace icepath::decode {

// Which end of a connection serves the other one.
class Roles {
public:
	explicit Roles(Objects &objects) : objects_(objects) {}
	void know(const model::Connection &connection);
	void accepted(uint64_t object, uint64_t other_end);
	// Where nobody knows who listened, the thread that takes first serves. Where it is known of one end only, as of a
	// connection that wasn't accepted yet when connections were listed, the other end is the opposite.
	void learn(const CalledMessage &first);
	bool serves(uint64_t object) const;

private:
	Objects &objects_;
};

struct Unpaired {
	uint64_t ambiguous = 0, too_old = 0;
};

// Pairs requests with answers. Keeps its state from one window to the next.
class Pairing {
public:
	explicit Pairing(Objects &objects) : objects_(objects), roles_(objects) {}
	void know(const model::Connection &connection) { roles_.know(connection); }
	// Takes in what was decided after the last call and until `until_ns`, each message once.
	void advance(const CalledMessages &messages, const Observations &seen, const Peers &peers, uint64_t until_ns);
	// The answer's call, by the request's.
	const std::map<CallKey, CallKey> &answers() const { return answers_; }
	const Roles &roles() const { return roles_; }
	// Since it was last called, by the object of the serving end.
	std::map<uint64_t, Unpaired> take_unpaired() { return std::exchange(unpaired_, {}); }
	// When the oldest request that waits for its answer was sent; UINT64_MAX: none does.
	uint64_t oldest_ns() const;
	void forget_before(uint64_t at_ns);

private:
	using Waiting = ServingEnd::Waiting;
	void taken(uint64_t object, const Waiting &request);
	void answer(uint64_t object, const CallKey &by, uint64_t at_ns);
	void give_up(uint64_t object, ServingEnd &end, uint64_t at_ns);

	Objects &objects_;
	Roles roles_;
	uint64_t until_ns_ = 0;
	std::map<CallKey, CallKey> answers_;
	std::map<uint64_t, Unpaired> unpaired_;
};

// A request with those that its server made one after another before it answered.
struct Request {
	const CalledMessage *asked = nullptr, *answered = nullptr; // never nullptr
	std::vector<Request> nested; // in time order, none overlaps another
	// How many others were answered meanwhile, at the same time as these.
	uint32_t beside = 0;
	uint64_t decided_ns = 0;

	uint64_t send_ns() const { return asked->send_ns; }
	uint64_t recv_ns() const { return answered->recv_ns; }
};

// The requests whose messages all have a receiver. A nested one is there by itself, too.
std::vector<Request> requests_of(const CalledMessages &messages, const Pairing &pairing);

// The request's messages in the order of its path: each begins at the thread where the one before ended.
std::vector<const CalledMessage *> chain_of(const Request &request);

} // namespace icepath::decode
