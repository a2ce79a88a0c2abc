// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages and requests of watched programs, resolved while windows of a capture that goes on come in. What is open as
// a window ends (calls, off-CPU periods, streams, requests) goes on in the next one, so where windows were cut makes no
// difference.
//
// A record is written when what it describes has ended, and windows are cut at the clock. So what was decided (see
// CalledMessage::decided_ns) until kLate before a window's end is resolved with that window. Records are kept from the
// begin of the oldest message or request that is still open, and no longer than decode::kLongestOpenNs.
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "profiler/decode/called_messages.h"
#include "profiler/decode/decode.h"
#include "profiler/decode/requests.h"
#include "profiler/model/window.h"
#include "profiler/path/path.h"

namespace icepath::resolve {

// By then a record is in its slot, and an interrupt or a call's return that belongs to a message is over.
inline constexpr uint64_t kLateNs = 100'000'000;

class StreamVisitor {
public:
	virtual ~StreamVisitor() = default;
	// In the order of their deciding. `path` has a reason unless the message has a receiver. All are valid during the
	// call only.
	virtual void message(const decode::CalledMessage &message, const path::Path &path,
						 const path::Observations &seen) = 0;
	// Those that are nested in others come by themselves as well.
	virtual void request(const decode::Request &request, const path::Path &path, const path::Observations &seen) = 0;
	// Nothing more is told of this object, but as of one that wasn't known before.
	virtual void over(uint64_t) {}
};

struct LeftOpen {
	uint64_t too_old = 0; // messages that nobody took in time
	uint64_t at_end = 0; // on their way as the watching ended
	uint64_t without_giver = 0; // calls that took bytes of a giver that isn't known
};

class Stream {
public:
	Stream(const std::vector<model::Connection> &connections, StreamVisitor &visitor);
	// Those that are open now, in place of those before; before the window in which they were listed.
	void know(const std::vector<model::Connection> &connections);
	void add(const model::Window &window);
	// Nothing follows. Call it once.
	void finish();

	const LeftOpen &left_open() const { return left_; }
	// Since it was last called.
	std::map<uint64_t, decode::Unpaired> take_unpaired() { return pairing_.take_unpaired(); }
	size_t objects() const { return objects_.size(); } // of which something is known
	const decode::Roles &roles() const { return pairing_.roles(); }
	uint64_t lost_records() const { return lost_records_; }

private:
	void append(const model::Window &window);
	// Resolves what is decided until then.
	void resolve(uint64_t until_ns);
	void visit(const decode::CalledMessages &messages, const std::vector<decode::Request> &requests,
			   decode::DecodedWindow &decoded, uint64_t until_ns);
	uint64_t needed_since(const decode::CalledMessages &messages, const std::vector<decode::Request> &requests,
						  uint64_t until_ns) const;
	// The threads that used their CPUs last, at most kMaxKeptThreads: the name of each is in a record at that time.
	std::unordered_map<uint32_t, uint64_t> names_to_keep();
	void forget_before(uint64_t at_ns);

	StreamVisitor &visitor_;
	decode::Objects objects_; // the next ones use it
	decode::Peers peers_;
	decode::Positions positions_;
	decode::Pairing pairing_;
	model::Window kept_; // records since the oldest that is still needed
	std::map<int32_t, uint32_t> shifts_; // by CPU: a record's number in `kept_` less that in its window
	std::vector<path::LossWindow> lost_; // in records that aren't kept any more
	std::set<decode::CallKey> told_messages_, told_requests_; // by the first message's give
	std::unordered_map<uint32_t, uint64_t> threads_ns_; // by tid, their latest record
	uint64_t kept_since_ns_ = 0; // `kept_` has all records that ended since then
	uint64_t resolved_ns_ = 0;
	uint64_t lost_records_ = 0;
	LeftOpen left_;
};

} // namespace icepath::resolve
