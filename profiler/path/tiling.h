// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lays segments one after the other. Each begins where the last one ended, so that they tile by construction.
#include <functional>
#include <span>

#include "profiler/path/timeline.h"

namespace icepath::path {

enum class Role : uint8_t { Sender, Relay, Receiver };

// Whose time is tiled. Hops are counted from the receiver backwards (0 is the receiver) until the walk knows how many.
struct Place {
	const Thread *thread = nullptr;
	uint16_t hop = 0;
	Role role = Role::Receiver;
};

Layer user_layer(Role role);
Layer kernel_layer(Role role);

// What a running thread did.
struct Label {
	Layer layer = Layer::SenderUser;
	Part part = Part::None;
};

// Records of interrupts that did this message's own work.
struct OwnInterrupts {
	std::optional<uint32_t> ready, device;
	bool hold(const Interrupt &one) const { return one.record == ready || one.record == device; }
};

Boundary at_mark(const Mark &mark);
// When a thread was switched in: inferred where only an instant soon after it was seen.
Boundary switch_in(const OffCpu &off);
Boundary at_record(uint64_t at_ns, uint32_t record, Provenance provenance = Provenance::Exact);

class Tiling {
public:
	Tiling(const Observations &seen, Boundary begin) : seen_(seen), cursor_(begin) {}

	// One segment from the cursor to `end`, which becomes the cursor. Of no length: nothing. Backwards: inverted_time.
	void until(const Boundary &end, const Place &place, Label label, Culprit culprit = {});

	// A stretch in which the thread ran: cut at `cuts`, labelled by the begin of each piece, interrupts carved out.
	void running(const Stretch &stretch, const Boundary &end, const Place &place, std::span<const Boundary> cuts,
				 const std::function<Label(uint64_t)> &label, const OwnInterrupts &own);

	// What follows a wakeup: [wakeup, in) of `off`, no further than `end`.
	void runqueue(const OffCpu &off, const Boundary &end, const Place &place, Part part = Part::None);

	// [waking, wakeup) of `off` in its parts.
	void wakeup(const OffCpu &off, const Boundary &end, const Place &place, Part part = Part::None);

	void preempted(const OffCpu &off, const Boundary &end, const Place &place, Label label);
	void blocked(const OffCpu &off, const Boundary &end, const Place &place, Part part);

	const Boundary &cursor() const { return cursor_; }
	Reason reason() const { return reason_; }
	void refuse(Reason reason);
	std::vector<Segment> take() { return std::move(segments_); }

private:
	const Observations &seen_;
	Boundary cursor_;
	Reason reason_ = Reason::None;
	std::vector<Segment> segments_;
};

// Whether `next` is more of the same: then the two are one segment.
bool continues(const Segment &last, const Segment &next);

// The earlier of two ends.
const Boundary &sooner(const Boundary &one, const Boundary &other);

// `blocked` outside the sending call: for what, as far as the waker tells.
Part blocked_part(const OffCpu &off);

} // namespace icepath::path
