// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the walk returns: the path of one delivery as segments that tile [send, recv], or the reason why it can't be told.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/layers.h"

namespace icepath::path {

using model::Layer;
using model::Part;

// How well a boundary is known. Worse is larger.
enum class Provenance : uint8_t {
	Exact, // message identity: a stamp of this message, or an event that names it
	Paired, // a wake edge, or the only message in flight
	// Bounded by its neighbours, earliest_ns and latest_ns; where between them, `icepath calibrate` found in another pass.
	Calibrated,
	Inferred, // bounded likewise, and nothing more is known
};
inline constexpr std::array<std::string_view, 4> kProvenanceNames = {"exact", "paired", "inferred (calibrated)",
																	 "inferred"};
// Whether it is known by its bounds.
constexpr bool is_inferred(Provenance provenance) { return provenance >= Provenance::Calibrated; }

// Why a delivery has no breakdown. Every incomplete delivery has exactly one.
enum class Reason : uint8_t {
	None, // complete
	LostRecord, // overlaps a window in which records were lost
	LeftPath, // reached the time of `send` on another thread
	AmbiguousRelay, // several messages could be the one that a relay forwarded
	InvertedTime, // two pieces of evidence contradict each other in order
	NoEvidence, // a stamp or record that must exist isn't there
	UnreadableRecord, // overlaps the time of a record that was captured, and that this program can't read
};
inline constexpr std::array<std::string_view, 7> kReasonNames = {
	"complete", "lost_record", "left_path", "ambiguous_relay", "inverted_time", "no_evidence", "unreadable_record"};

// What a boundary rests on. `index` counts: for stamps, the message's place in its side's stamps; for records, the place
// in the block's records as `Observations` numbers them.
struct Evidence {
	enum class Source : uint8_t { SendStamp, RecvStamp, CallStamp, Record };
	Source source = Source::SendStamp;
	uint32_t index = 0;
	friend bool operator==(const Evidence &, const Evidence &) = default;
};

struct Boundary {
	uint64_t at_ns = 0;
	Evidence evidence;
	Provenance provenance = Provenance::Exact;
	uint64_t earliest_ns = 0, latest_ns = 0; // both at_ns unless is_inferred()
};

// Whom or what time is blamed on: who had the CPU, who woke. The last three are of time in which a thread waited for a CPU that
// nobody had, as far as records tell. `None` where nobody is to blame.
struct Culprit {
	enum class Kind : uint8_t {
		None,
		Task,
		Interrupt,
		IdleCpu, // the CPU was idle, or leaving idle
		Throttled, // likewise, and the thread's control group had used up its time
		Unknown, // no record tells
	};
	Kind kind = Kind::None;
	uint32_t id = 0; // Task: tid. Interrupt: vector
	uint8_t interrupt = 0; // Interrupt: icepath_interrupt_kind
	friend bool operator==(const Culprit &, const Culprit &) = default;
};

// Where on the way a hop is.
enum class Role : uint8_t { Sender, Relay, Receiver };
inline constexpr std::array<std::string_view, 3> kRoleNames = {"sender", "relay", "receiver"};

struct Segment {
	Layer layer = Layer::SenderUser;
	Part part = Part::None;
	uint16_t hop = 0; // 0 is the sender; a transfer belongs to the hop downstream of it
	uint32_t thread = 0; // tid of the hop
	Boundary begin, end; // begin of a segment is the end of the one before it
	// Where it waited for a CPU: who had it for at least half of that, if anybody. `Unknown` is no culprit of a segment.
	Culprit culprit;
	uint64_t duration_ns() const { return end.at_ns - begin.at_ns; }
	// A segment is as well known as the worse of its ends.
	Provenance provenance() const { return begin.provenance > end.provenance ? begin.provenance : end.provenance; }
};

// What of a segment in which its thread waited for a CPU (waits_for_cpu()) one culprit had. Those of a segment add up to it.
struct Share {
	uint32_t segment = 0; // index into Path::segments
	Culprit who; // never None
	uint64_t ns = 0; // never 0
};

struct Path {
	Reason reason = Reason::None;
	uint64_t send_ns = 0, recv_ns = 0;
	std::vector<Segment> segments; // in time order; empty unless complete
	std::vector<Share> shares; // by segment; each culprit once in it
	bool complete() const { return reason == Reason::None; }
};

} // namespace icepath::path
