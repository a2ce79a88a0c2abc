// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lays segments one after the other. Each begins where the last one ended, so that they tile by construction.
#include <functional>
#include <span>

#include "profiler/path/shares.h"
#include "profiler/path/timeline.h"

namespace icepath::path {

// Whose time is tiled. Hops are counted from the receiver backwards (0 is the receiver) until the walk knows how many.
struct Place {
	const Thread *thread = nullptr;
	uint16_t hop = 0;
	Role role = Role::Receiver;
};

Layer user_layer(Role role);
Layer kernel_layer(Role role);
bool is_kernel(Layer layer); // of a thread

// What a running thread did.
struct Label {
	Layer layer = Layer::SenderUser;
	Part part = Part::None;
};

// Records of interrupts that did this message's own work.
struct OwnInterrupts {
	std::optional<uint32_t> ready, device;
	std::array<uint64_t, 2> connection{}; // keys of the sockets that it goes by
	bool hold(const Interrupt &one) const { return one.record == ready || one.record == device; }
	// It did nothing but handle packets of that connection: an acknowledgement that the thread's own call sent, mostly.
	bool serve(const Interrupt &one) const
	{
		const auto is_of_it = [&](uint64_t key) { return key == connection[0] || key == connection[1]; };
		return one.sockets[0] != 0 && is_of_it(one.sockets[0]) && (one.sockets[1] == 0 || is_of_it(one.sockets[1]));
	}
};

Boundary at_mark(const Mark &mark);
// When a thread was switched in: inferred where only an instant soon after it was seen.
Boundary switch_in(const OffCpu &off);
Boundary at_record(uint64_t at_ns, uint32_t record, Provenance provenance = Provenance::Exact);

// Segments in time order, with the shares of those that have any.
struct Tiles {
	std::vector<Segment> segments;
	std::vector<Share> shares; // by segment
	// One more, or more of the last one.
	void add(const Segment &segment, std::span<const Share> its_shares);
};

class Tiling {
public:
	Tiling(const Observations &seen, Boundary begin) : seen_(seen), sharing_out_(seen), cursor_(begin) {}

	// One segment from the cursor to `end`, which becomes the cursor. Of no length: nothing. Backwards: inverted_time.
	void until(const Boundary &end, const Place &place, Label label, Culprit culprit = {});

	// A stretch in which the thread ran: cut at `cuts`, labelled by the begin of each piece, interrupts carved out.
	void running(const Stretch &stretch, const Boundary &end, const Place &place, std::span<const Boundary> cuts,
				 const std::function<Label(uint64_t)> &label, const OwnInterrupts &own);

	// What follows a wakeup: [wakeup, in) of `off`, no further than `end`, cut where the CPU had left idle.
	void runqueue(const OffCpu &off, const Boundary &end, const Place &place, Part part = Part::None);

	// [waking, wakeup) of `off` in its parts.
	void wakeup(const OffCpu &off, const Boundary &end, const Place &place, Part part = Part::None);

	// The rest of `off`, all of which it waited for a CPU.
	void preempted(const OffCpu &off, const Boundary &end, const Place &place, Label label);
	void blocked(const OffCpu &off, const Boundary &end, const Place &place, Part part);

	const Observations &seen() const { return seen_; }
	const Boundary &cursor() const { return cursor_; }
	Reason reason() const { return reason_; }
	void refuse(Reason reason);
	Tiles take() { return std::move(tiles_); }

private:
	void add(const Boundary &end, const Place &place, Label label, const Culprit &culprit,
			 std::span<const Share> shares);
	void wait_until(const Boundary &end, const Place &place, Label label, const OffCpu &off);

	const Observations &seen_;
	SharingOut sharing_out_;
	Boundary cursor_;
	Reason reason_ = Reason::None;
	Tiles tiles_;
};

// Whether `next` is more of the same: then the two are one segment.
bool continues(const Segment &last, const Segment &next);

// The earlier of two ends; of equal ones the other, with its bounds: what follows a window begins with the window's end.
const Boundary &sooner(const Boundary &one, const Boundary &other);

} // namespace icepath::path
