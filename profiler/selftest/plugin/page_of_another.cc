// SPDX-License-Identifier: Apache-2.0
// A page whose faults another process handles (userfaultfd(2)): before each message the sender touches it, and gets it
// some time later. After the message it is dropped again.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/selftest/plugin/beside.h"
#include "profiler/selftest/plugin/own_delay.h"

namespace icepath::selftest {
namespace {

uint64_t page_bytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

// The process that provides the page.
void bring(void *with, std::span<const int> kept)
{
	const uint64_t ns = *static_cast<uint64_t *>(with);
	for (uffd_msg fault; read(kept[0], &fault, sizeof(fault)) == sizeof(fault);) {
		if (fault.event != UFFD_EVENT_PAGEFAULT)
			continue;
		sleep_for(ns);
		uffdio_zeropage page{};
		page.range.start = fault.arg.pagefault.address & ~(page_bytes() - 1);
		page.range.len = page_bytes();
		ioctl(kept[0], UFFDIO_ZEROPAGE, &page);
	}
}

class Faulting : public OwnDelay {
public:
	Faulting(volatile uint8_t *page, int faults, uint64_t ns) : page_(page), faults_(faults), ns_(ns) {}
	~Faulting() override
	{
		end_beside(bringer_);
		close(faults_);
		munmap(const_cast<uint8_t *>(page_), page_bytes());
	}
	bool before_send() override
	{
		// Only now: this thread has the policy and the CPU that the other process inherits.
		if (bringer_ < 0 && (bringer_ = start_beside("selftest-bringer", bring, &ns_, {&faults_, 1})) < 0)
			return false;
		*page_ = 1;
		return true;
	}
	bool after_send() override { return madvise(const_cast<uint8_t *>(page_), page_bytes(), MADV_DONTNEED) == 0; }

private:
	volatile uint8_t *const page_;
	const int faults_;
	uint64_t ns_;
	pid_t bringer_ = -1;
};

// A descriptor that reports the page's faults; -1 with errno set.
int watch(void *page)
{
	const int faults = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
	uffdio_api api{};
	api.api = UFFD_API;
	uffdio_register range{};
	range.range.start = reinterpret_cast<uint64_t>(page);
	range.range.len = page_bytes();
	range.mode = UFFDIO_REGISTER_MODE_MISSING;
	if (faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0 && ioctl(faults, UFFDIO_REGISTER, &range) == 0)
		return faults;
	plugin_kit::close_all({faults});
	return -1;
}

} // namespace

std::unique_ptr<OwnDelay> page_of_another(uint64_t ns)
{
	void *page = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return nullptr;
	const int faults = watch(page);
	if (faults < 0) {
		munmap(page, page_bytes());
		return nullptr;
	}
	return std::make_unique<Faulting>(static_cast<volatile uint8_t *>(page), faults, ns);
}

} // namespace icepath::selftest
