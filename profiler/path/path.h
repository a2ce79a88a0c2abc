// SPDX-License-Identifier: Apache-2.0
#pragma once
// The walk's result: the path of one delivery as segments that tile [send, recv], or the reason why there is none.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/layers.h"

namespace icepath::path {

using model::Layer;
using model::Part;

// How well a boundary is known, from best to worst.
enum class Provenance : uint8_t {
	Exact, // message identity: a stamp of this message, or an event that names it
	Paired, // a wake edge, or the only message in flight
	// Between earliest_ns and latest_ns, at the place that `icepath calibrate` measured in another pass.
	Calibrated,
	Inferred, // between the same bounds, with no further evidence
};
inline constexpr std::array<std::string_view, 4> kProvenanceNames = {"exact", "paired", "inferred (calibrated)",
																	 "inferred"};
constexpr bool is_inferred(Provenance provenance) { return provenance >= Provenance::Calibrated; }

// Why a delivery has no breakdown. Each incomplete delivery has exactly one reason.
enum class Reason : uint8_t {
	None, // complete
	LostRecord, // overlaps a window in which records were lost
	LeftPath, // the walk came to the time of `send` on another thread
	AmbiguousRelay, // several messages could be the one that a relay forwarded
	InvertedTime, // two pieces of evidence contradict each other in their order
	NoEvidence, // a required stamp or record is missing
	UnreadableRecord, // overlaps the time of a captured record that this program can't read
};
inline constexpr std::array<std::string_view, 7> kReasonNames = {
	"complete", "lost_record", "left_path", "ambiguous_relay", "inverted_time", "no_evidence", "unreadable_record"};

// Evidence of a boundary. `index`: a stamp's place among its side's stamps, or a record's place in the block's records
// as `Observations` numbers them.
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

// The culprit of a stretch of time: what had the CPU, or the waker. The last three kinds apply where a thread waited
// for a CPU that no task or interrupt had, as far as records show.
struct Culprit {
	enum class Kind : uint8_t {
		None,
		Task,
		Interrupt,
		IdleCpu, // the CPU was idle or leaving idle
		Throttled, // the CPU was idle, and the thread's control group had used up its quota
		Unknown, // no record shows it
	};
	// What an interrupt did, or the interrupt that ended a sleep, as far as records tell: decode/own_interrupts.h.
	enum class Work : uint8_t {
		NotTold,
		OwnPackets, // those of the cell's own sockets, and no others
		OwnTimer, // that a thread or a socket of the cell had set
		OtherTimer, // neither the scheduler's tick nor known to be the cell's
	};
	Kind kind = Kind::None;
	uint32_t id = 0; // Task: tid. Interrupt: vector
	uint8_t interrupt = 0; // Interrupt: icepath_interrupt_kind
	Work work = Work::NotTold; // Interrupt
	uint8_t timer = 0; // Interrupt that took a CPU: the icepath_timer that took longest in it
	friend bool operator==(const Culprit &, const Culprit &) = default;
};

// A hop's place on the path.
enum class Role : uint8_t { Sender, Relay, Receiver };
inline constexpr std::array<std::string_view, 3> kRoleNames = {"sender", "relay", "receiver"};

struct Segment {
	Layer layer = Layer::SenderUser;
	Part part = Part::None;
	uint16_t hop = 0; // 0 is the sender; a transfer belongs to its downstream hop
	uint32_t thread = 0; // tid of the hop
	Boundary begin, end; // a segment begins where the one before it ends
	// Set where the thread waited for a CPU: what had that CPU for at least half of the time, if anything. Never
	// Unknown.
	Culprit culprit;
	uint64_t duration_ns() const { return end.at_ns - begin.at_ns; }
	// The worse of both ends.
	Provenance provenance() const { return begin.provenance > end.provenance ? begin.provenance : end.provenance; }
};

// A culprit's part of a segment in which the thread waited for a CPU (waits_for_cpu()). The parts of a segment add up
// to it.
struct Share {
	uint32_t segment = 0; // index into Path::segments
	Culprit who; // never None
	uint64_t ns = 0; // never 0
};

struct Path {
	Reason reason = Reason::None;
	uint64_t send_ns = 0, recv_ns = 0;
	std::vector<Segment> segments; // in time order; empty unless complete
	std::vector<Share> shares; // by segment, each of its culprits once
	// Of a segment in which the thread slept until a thread of the cell woke it: for how long that one had no CPU
	// meanwhile, and what had its CPU. By segment, each culprit once.
	std::vector<Share> late_wakers;
	bool complete() const { return reason == Reason::None; }
};

} // namespace icepath::path
