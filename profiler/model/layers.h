// SPDX-License-Identifier: Apache-2.0
#pragma once
// The layers of a message's latency and their parts. All outputs take their names from here.
#include <array>
#include <cstdint>
#include <string_view>

namespace icepath::model {

// Append only: reports keep this order.
enum class Layer : uint8_t {
	SenderUser,
	SenderKernel,
	Network,
	Queue,
	Propagation,
	Wakeup,
	Runqueue,
	ReceiverKernel,
	ReceiverUser,
	Preempted,
	Interrupt,
	Blocked,
	RelayUser,
	RelayKernel,
};
inline constexpr size_t kLayerCount = 14;

// A part is a piece of its layer; `None` is what no other part covers.
enum class Part : uint8_t {
	None,
	Notify, // sender.kernel, network: ready -> waking decided
	Held, // network: accepted from the sender and not yet transmitted
	Busy, // queue: the receiver ran something else
	Preempted, // queue: the receiver had lost its CPU
	Blocked, // queue: the receiver slept for something else
	Ipi, // wakeup: waking -> the interrupt's handler on the target CPU
	IdleExit, // wakeup, runqueue: until the target CPU had left idle
	Backlog, // receiver.user: earlier messages of the same read
	Backpressure, // blocked: inside the sending call, for room
	Lock, // blocked: in a futex wait on a word known to be a lock (decode/locks.h), woken by another thread
	Timer, // blocked: woken by a timer
	Fault, // blocked: within a page fault
	Spurious, // wakeup, runqueue, receiver.kernel: a wakeup that delivered no message
	// sender.kernel, relay.kernel, receiver.kernel: packets of the cell's own sockets, handled during the call.
	// interrupt: the same outside of calls
	Softirq,
	Storage, // blocked: I/O of a storage device
	Reclaim, // blocked: memory had to be freed first
};
inline constexpr size_t kPartCount = 17;

inline constexpr std::array<std::string_view, kLayerCount> kLayerNames = {
	"sender.user",     "sender.kernel", "network",   "queue",     "propagation", "wakeup",     "runqueue",
	"receiver.kernel", "receiver.user", "preempted", "interrupt", "blocked",     "relay.user", "relay.kernel",
};
inline constexpr std::array<std::string_view, kPartCount> kPartNames = {
	"",     "notify", "held",  "busy",     "preempted", "blocked", "ipi",     "idle_exit", "backlog", "backpressure",
	"lock", "timer",  "fault", "spurious", "softirq",   "storage", "reclaim",
};

constexpr std::string_view name(Layer layer) { return kLayerNames[static_cast<size_t>(layer)]; }
constexpr std::string_view name(Part part) { return kPartNames[static_cast<size_t>(part)]; }

// Whether the thread was runnable and had no CPU.
constexpr bool waits_for_cpu(Layer layer, Part part)
{
	return layer == Layer::Runqueue || layer == Layer::Preempted || (layer == Layer::Queue && part == Part::Preempted);
}

} // namespace icepath::model
