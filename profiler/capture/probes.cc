// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/probes.h"

#include <span>

namespace icepath::capture {

using model::Mechanism;

std::string Uses::text() const
{
	std::string text;
	for (const Use &use : std::span(all).first(count)) {
		text += (text.empty() ? "" : ", ") + std::string(model::name(use.layer));
		if (use.part != Part::None)
			text += "/" + std::string(model::name(use.part));
	}
	return note.empty() ? text : text + " (" + std::string(note) + ")";
}

std::optional<std::string_view> Uses::of(Layer layer) const
{
	for (const Use &use : std::span(all).first(count))
		if (use.layer == layer)
			return use.part == Part::None ? note : model::name(use.part);
	return std::nullopt;
}

Candidates in_order(const Probe &probe, std::optional<Tier> forced)
{
	if (!forced)
		return probe.candidates;
	Candidates order{};
	size_t count = 0;
	for (const bool own : {true, false})
		for (const Candidate &candidate : probe.candidates)
			if (!candidate.program.empty() &&
				(own ? candidate.tier == *forced : candidate.tier == Tier::Tracepoint && *forced != Tier::Tracepoint))
				order[count++] = candidate;
	return order;
}

ProbeSet needed_by(const model::Cell &cell)
{
	const auto uses = [&cell](Mechanism mechanism) { return cell.mechanisms.has(mechanism); };
	const bool on_device = uses(Mechanism::NetworkDevice), polls = model::never_sleeps(cell.wait);
	const bool stream = uses(Mechanism::ByteStream);
	const bool relayed = uses(Mechanism::LibraryThreads); // possibly over sockets
	const auto needs = [&](Group group) {
		switch (group) {
		case Group::Scheduling:
		case Group::Interrupts:
		case Group::Blocking:
			return true;
		case Group::SocketReady:
			return uses(Mechanism::Socket) || relayed;
		case Group::DeviceQueue:
			return on_device || relayed;
		case Group::SocketTaken:
			return uses(Mechanism::SkbCopy) && polls;
		case Group::LocalQueue:
			return uses(Mechanism::Socket) && !on_device;
		case Group::Packets:
			return (uses(Mechanism::Socket) && on_device) || relayed;
		case Group::TcpQueue:
		case Group::TcpPackets:
			return uses(Mechanism::Socket) && on_device && stream;
		case Group::UdpTaken:
			return uses(Mechanism::Socket) && on_device && !stream && polls;
		case Group::PipeQueue:
			return uses(Mechanism::Pipe);
		case Group::MessageQueue:
			return uses(Mechanism::MessageQueue);
		case Group::MessageTaken:
			return uses(Mechanism::MessageQueue) && polls;
		case Group::Streams: // its plug-in numbers messages
			return false;
		case Group::Calls:
			return uses(Mechanism::LibraryCalls);
		case Group::Threads:
			return relayed;
		}
		return false;
	};
	ProbeSet set = 0;
	for (size_t i = 0; i < kProbes.size(); i++)
		if (needs(kProbes[i].group))
			set |= bit(i);
	return set;
}

ProbeSet needed_by_running_programs()
{
	ProbeSet set = 0;
	for (size_t i = 0; i < kProbes.size(); i++)
		switch (kProbes[i].group) {
		case Group::Scheduling:
		case Group::Interrupts:
		case Group::Blocking:
		case Group::SocketReady:
		case Group::DeviceQueue:
		case Group::Packets:
		case Group::TcpPackets:
		case Group::Streams:
		case Group::Calls:
		case Group::Threads:
			set |= bit(i);
			break;
		default: // more exact evidence, which costs time at each message
			break;
		}
	return set;
}

} // namespace icepath::capture
