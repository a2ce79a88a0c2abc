// SPDX-License-Identifier: Apache-2.0
#include "profiler/targets/target.h"

#include <array>
#include <cstddef>
#include <iterator>

namespace icepath::targets {
namespace {

using model::Mechanism;
using model::Trait;
using model::Wait;

template <typename Enum> struct Word {
	uint32_t bit;
	Enum word;
};

constexpr Word<Wait> kWaits[] = {
	{ICEPATH_WAIT_BLOCK, Wait::Block}, {ICEPATH_WAIT_POLL, Wait::Poll},         {ICEPATH_WAIT_EPOLL, Wait::Epoll},
	{ICEPATH_WAIT_SPIN, Wait::Spin},   {ICEPATH_WAIT_CALLBACK, Wait::Callback},
};
static_assert(std::size(kWaits) == std::size(model::kWaitNames));

constexpr Word<Mechanism> kMechanisms[] = {
	{ICEPATH_USES_SOCKET, Mechanism::Socket},
	{ICEPATH_USES_NETDEV, Mechanism::NetworkDevice},
	{ICEPATH_USES_SKB_COPY, Mechanism::SkbCopy},
	{ICEPATH_USES_USER_SLOT, Mechanism::UserSlot},
	{ICEPATH_USES_BYTE_STREAM, Mechanism::ByteStream},
	{ICEPATH_USES_PIPE, Mechanism::Pipe},
	{ICEPATH_USES_MESSAGE_QUEUE, Mechanism::MessageQueue},
	{ICEPATH_USES_MAPPED_QUEUE, Mechanism::MappedQueue},
	{ICEPATH_USES_KERNEL_THREAD, Mechanism::KernelThread},
	{ICEPATH_USES_LIBRARY_CALLS, Mechanism::LibraryCalls},
	{ICEPATH_USES_LIBRARY_THREADS, Mechanism::LibraryThreads},
	{ICEPATH_USES_SHARED_MEMORY, Mechanism::SharedMemory},
	{ICEPATH_USES_BELL, Mechanism::Bell},
};
static_assert(std::size(kMechanisms) == std::size(model::kMechanismNames));

constexpr Word<Trait> kTraits[] = {
	{ICEPATH_CAN_LOAN, Trait::CanLoan},
	{ICEPATH_IS_LOSSY, Trait::Lossy},
	{ICEPATH_NOT_IPC, Trait::NotIpc},
	{ICEPATH_CAN_FANIN, Trait::FanIn},
	{ICEPATH_IS_RENDEZVOUS, Trait::Rendezvous},
	{ICEPATH_WITHIN_PROCESS, Trait::WithinProcess},
	{ICEPATH_BETWEEN_PROCESSES, Trait::BetweenProcesses},
	{ICEPATH_HAS_TURNS, Trait::Turns},
};
static_assert(std::size(kTraits) == std::size(model::kTraitNames));

template <typename Enum, size_t N> model::SetOf<Enum> set_of(uint32_t bits, const Word<Enum> (&words)[N])
{
	model::SetOf<Enum> set;
	for (const Word<Enum> &one : words)
		if (bits & one.bit)
			set.add(one.word);
	return set;
}

} // namespace

Waits waits_of(uint32_t icepath_wait_bits) { return set_of(icepath_wait_bits, kWaits); }
model::Mechanisms mechanisms_of(uint32_t icepath_mechanism_bits) { return set_of(icepath_mechanism_bits, kMechanisms); }
model::Traits traits_of(uint32_t icepath_capability_bits) { return set_of(icepath_capability_bits, kTraits); }

icepath_wait bit_of(Wait wait)
{
	for (const Word<Wait> &one : kWaits)
		if (one.word == wait)
			return static_cast<icepath_wait>(one.bit);
	return ICEPATH_WAIT_BLOCK;
}

} // namespace icepath::targets
