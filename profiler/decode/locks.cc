// SPDX-License-Identifier: Apache-2.0
#include "profiler/decode/locks.h"

#include <set>
#include <utility>

#include "profiler/decode/log.h"

namespace icepath::decode {
namespace {

using Word = std::pair<uint32_t, uint64_t>; // process, or thread where that isn't known, and address

Word word_of(const Thread &thread, const Call &call)
{
	return {thread.process != 0 ? thread.process : thread.tid, call.object};
}

} // namespace

void tell_locks(Observations &seen)
{
	std::set<Word> locks;
	for (const auto &[tid, thread] : seen.threads) {
		std::set<uint64_t> held; // words that it has waited at since it last woke a waiter there
		for (const Call &call : thread.calls) {
			if (call.kind == Call::Kind::FutexWait && call.object != 0)
				held.insert(call.object);
			else if (call.kind == Call::Kind::FutexWake && held.erase(call.object) != 0)
				locks.insert(word_of(thread, call));
		}
	}
	for (auto &[tid, thread] : seen.threads)
		for (Call &call : thread.calls)
			if (call.kind == Call::Kind::FutexWait && locks.contains(word_of(thread, call)))
				call.kind = Call::Kind::FutexLock;
}

} // namespace icepath::decode
