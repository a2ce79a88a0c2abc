// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a target is: how the kernel or a library carries its messages, and its special traits. Run directories keep
// these words. targets::traits_of() and mechanisms_of() translate a plug-in's bits, so a new ABI changes no file.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace icepath::model {

// As the bits icepath_mechanism in include/icepath/plugin.h, which says what each means.
enum class Mechanism : uint8_t {
	Socket,
	NetworkDevice,
	SkbCopy,
	UserSlot,
	ByteStream,
	Pipe,
	MessageQueue,
	MappedQueue,
	KernelThread,
	LibraryCalls,
	LibraryThreads,
	SharedMemory,
	Bell,
};
inline constexpr const char *kMechanismNames[] = {
	"socket",       "network-device", "skb-copy",      "user-slot",       "byte-stream",   "pipe", "message-queue",
	"mapped-queue", "kernel-thread",  "library-calls", "library-threads", "shared-memory", "bell",
};
static_assert(std::size(kMechanismNames) == static_cast<size_t>(Mechanism::Bell) + 1);

// As the bits icepath_capability there.
enum class Trait : uint8_t {
	CanLoan,
	Lossy,
	NotIpc,
	FanIn,
	Rendezvous,
	WithinProcess,
	BetweenProcesses,
	Turns,
};
inline constexpr const char *kTraitNames[] = {
	"can-loan", "lossy", "not-ipc", "fan-in", "rendezvous", "within-process", "between-processes", "turns",
};
static_assert(std::size(kTraitNames) == static_cast<size_t>(Trait::Turns) + 1);

// Some of the values of an enum that has at most 32.
template <typename Enum> class SetOf {
public:
	constexpr SetOf() = default;
	constexpr SetOf(std::initializer_list<Enum> values)
	{
		for (const Enum value : values)
			add(value);
	}
	constexpr void add(Enum value) { bits_ |= bit(value); }
	constexpr bool has(Enum value) const { return (bits_ & bit(value)) != 0; }
	constexpr bool has_all(SetOf all) const { return (bits_ & all.bits_) == all.bits_; }
	constexpr bool has_any(SetOf some) const { return (bits_ & some.bits_) != 0; }
	constexpr bool empty() const { return bits_ == 0; }
	friend constexpr bool operator==(SetOf, SetOf) = default;

private:
	static constexpr uint32_t bit(Enum value) { return 1u << static_cast<unsigned>(value); }
	uint32_t bits_ = 0;
};
using Mechanisms = SetOf<Mechanism>;
using Traits = SetOf<Trait>;

} // namespace icepath::model
