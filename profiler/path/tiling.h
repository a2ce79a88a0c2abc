// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lays segments one after the other. Each begins where the one before it ends, so they tile by construction.
#include <functional>
#include <span>

#include "profiler/path/shares.h"
#include "profiler/path/timeline.h"

namespace icepath::path {

// The thread whose time is tiled. Hops count from the receiver backwards (0 is the receiver) until the walk knows how
// many there are.
struct Place {
	const Thread *thread = nullptr;
	uint16_t hop = 0;
	Role role = Role::Receiver;
};

Layer user_layer(Role role);
Layer kernel_layer(Role role);
bool is_kernel(Layer layer); // whether it is a thread's time in the kernel

// What a running thread was doing.
struct Label {
	Layer layer = Layer::SenderUser;
	Part part = Part::None;
};

// Interrupts that did this message's own work, by their records.
struct OwnInterrupts {
	std::optional<uint32_t> ready, device;
	std::array<uint64_t, 2> connection{}; // keys of the sockets that the message goes through
	bool hold(const Interrupt &one) const { return one.record == ready || one.record == device; }
	// Whether it only handled packets of that connection, mostly an acknowledgement that the thread's own call sent, or
	// of other sockets of the cell: the other datagrams of a message.
	bool serve(const Interrupt &one) const
	{
		if (one.work == Culprit::Work::OwnPackets)
			return true;
		const auto is_of_it = [&](uint64_t key) { return key == connection[0] || key == connection[1]; };
		return one.sockets[0] != 0 && is_of_it(one.sockets[0]) && (one.sockets[1] == 0 || is_of_it(one.sockets[1]));
	}
};

// The label of a thread's time in which it was interrupted outside its calls.
inline Label interrupted_by(const Interrupt &one)
{
	return {Layer::Interrupt, one.work == Culprit::Work::OwnPackets ? Part::Softirq : Part::None};
}

Boundary at_mark(const Mark &mark);
// When the thread was switched in; inferred if only an instant shortly after it has a record.
Boundary switch_in(const OffCpu &off);
Boundary at_record(uint64_t at_ns, uint32_t record, Provenance provenance = Provenance::Exact);

// Segments with their shares: windows in any order, each of them in time order.
struct Tiles {
	struct Window {
		size_t segment = 0, share = 0, late_waker = 0; // its first
	};
	std::vector<Segment> segments;
	std::vector<Share> shares; // by segment
	std::vector<Share> late_wakers; // likewise, as of Path
	std::vector<Window> windows;

	void begin_window() { windows.push_back({segments.size(), shares.size(), late_wakers.size()}); }
	// Appends the segment, or extends the window's last one if it continues that.
	void add(const Segment &segment, std::span<const Share> its_shares, std::span<const Share> its_late_wakers);
	void clear();
};

class Tiling {
public:
	// Appends its tiles to `tiles`, as a new window.
	Tiling(const Observations &seen, Boundary begin, SharingOut &sharing_out, Tiles &tiles)
		: seen_(seen), sharing_out_(sharing_out), cursor_(begin), tiles_(tiles)
	{
		tiles.begin_window();
	}

	// Adds one segment from the cursor to `end` and moves the cursor there. Adds nothing if the segment has no length;
	// refuses with inverted_time if it goes backwards.
	void until(const Boundary &end, const Place &place, Label label, Culprit culprit = {});

	// Tiles a stretch in which the thread ran: cut at `cuts`, each piece labelled by its begin, interrupts carved out.
	void running(const Stretch &stretch, const Boundary &end, const Place &place, std::span<const Boundary> cuts,
				 const std::function<Label(uint64_t)> &label, const OwnInterrupts &own);

	// Tiles [wakeup, in) of `off`, at most to `end`, cut where the CPU left idle.
	void runqueue(const OffCpu &off, const Boundary &end, const Place &place, Part part = Part::None);

	// Tiles [waking, wakeup) of `off` by its parts.
	void wakeup(const OffCpu &off, const Boundary &end, const Place &place, Part part = Part::None);

	// Tiles the rest of `off` as time waited for a CPU.
	void preempted(const OffCpu &off, const Boundary &end, const Place &place, Label label);
	void blocked(const OffCpu &off, const Boundary &end, const Place &place, Part part);

	const Observations &seen() const { return seen_; }
	const Boundary &cursor() const { return cursor_; }
	Reason reason() const { return reason_; }
	void refuse(Reason reason);

private:
	void add(const Boundary &end, const Place &place, Label label, const Culprit &culprit,
			 std::span<const Share> shares, std::span<const Share> late_wakers = {});
	void wait_until(const Boundary &end, const Place &place, Label label, const OffCpu &off);
	// Who had the CPU of the waker, a thread of the cell, while that one waited for it.
	std::vector<Share> without_cpu(const Culprit &waker, uint64_t begin_ns, uint64_t end_ns);

	const Observations &seen_;
	SharingOut &sharing_out_;
	Boundary cursor_;
	Reason reason_ = Reason::None;
	Tiles &tiles_;
};

// Whether both belong to one segment.
bool continues(const Segment &last, const Segment &next);

// The earlier of two ends. `other` if they are equal: the next window begins with the window's end and its bounds.
const Boundary &sooner(const Boundary &one, const Boundary &other);

} // namespace icepath::path
