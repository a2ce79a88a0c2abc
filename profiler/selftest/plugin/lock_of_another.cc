// SPDX-License-Identifier: Apache-2.0
// A lock shared by two processes, as in futex(7): 0 free, 1 taken, 2 taken and contended. Before each message the other
// process holds it for a time, then releases it.
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <climits>

#include "profiler/selftest/plugin/beside.h"
#include "profiler/selftest/plugin/own_delay.h"

namespace icepath::selftest {
namespace {

struct Shared {
	std::atomic<uint32_t> lock{0}, asked{0}; // asked: how often the other process was given the lock
	uint64_t ns = 0;
};

void futex(std::atomic<uint32_t> &word, int operation, uint32_t value)
{
	syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

// The process that holds the lock.
void hold(void *with, std::span<const int>)
{
	Shared &shared = *static_cast<Shared *>(with);
	for (uint32_t seen = 0;; seen++) {
		while (shared.asked.load() == seen)
			futex(shared.asked, FUTEX_WAIT, seen);
		sleep_for(shared.ns);
		if (shared.lock.exchange(0) == 2)
			futex(shared.lock, FUTEX_WAKE, INT_MAX);
	}
}

class Contended : public OwnDelay {
public:
	explicit Contended(Shared *shared) : shared_(shared) {}
	~Contended() override
	{
		end_beside(holder_);
		munmap(shared_, sizeof(Shared));
	}

	bool before_send() override
	{
		// Only now: this thread has the policy and the CPU that the other process inherits.
		if (holder_ < 0 && (holder_ = start_beside("selftest-holder", hold, shared_, {})) < 0)
			return false;
		shared_->lock.store(1); // on the other process's behalf
		shared_->asked.fetch_add(1);
		futex(shared_->asked, FUTEX_WAKE, 1);
		while (shared_->lock.exchange(2) != 0)
			futex(shared_->lock, FUTEX_WAIT, 2);
		if (shared_->lock.exchange(0) == 2) // marked as contended above
			futex(shared_->lock, FUTEX_WAKE, 1);
		return true;
	}

private:
	Shared *const shared_;
	pid_t holder_ = -1;
};

} // namespace

std::unique_ptr<OwnDelay> lock_of_another(uint64_t ns)
{
	void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return nullptr;
	auto *shared = new (memory) Shared;
	shared->ns = ns;
	return std::make_unique<Contended>(shared);
}

} // namespace icepath::selftest
