// SPDX-License-Identifier: Apache-2.0
// What a thread was doing as it went to sleep: page faults, in user mode and in a call, that another thread serves late
// (userfaultfd), followed by sleeps for something else, which must not count as faults.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "icepath/plugin.h"
#include "tests/capture/exchange.h"
#include "tests/capture/player.h"

namespace icepath::capture {
namespace {

enum Step : size_t { FaultOfUser, FaultInCall, ReadAfterFaults, ReadAfterAFailedFault, Nap, kSteps };

struct Shared {
	std::array<std::array<uint64_t, 2>, kSteps> times; // begin and end of each step
};

void nap()
{
	const timespec two_ms{0, 2'000'000};
	nanosleep(&two_ms, nullptr);
}

// Pages that become present only some time after they are touched.
class LatePages {
public:
	explicit LatePages(size_t count) : bytes_(count * kPage)
	{
		uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
		fd_ = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC));
		memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		uffdio_register range{};
		range.range = {reinterpret_cast<uintptr_t>(memory_), bytes_};
		range.mode = UFFDIO_REGISTER_MODE_MISSING;
		works_ = fd_ >= 0 && ioctl(fd_, UFFDIO_API, &api) == 0 && memory_ != MAP_FAILED &&
				 ioctl(fd_, UFFDIO_REGISTER, &range) == 0;
		if (works_)
			std::thread([this] { serve(); }).detach(); // ends with its process
	}
	bool works() const { return works_; }
	volatile char *page(size_t number) const { return static_cast<char *>(memory_) + number * kPage; }

private:
	static constexpr size_t kPage = 4096;

	void serve() const
	{
		static std::array<char, kPage> content{};
		uffd_msg message{};
		while (read(fd_, &message, sizeof(message)) == sizeof(message)) {
			nap();
			uffdio_copy copy{};
			copy.dst = message.arg.pagefault.address & ~uint64_t{kPage - 1};
			copy.src = reinterpret_cast<uintptr_t>(content.data());
			copy.len = kPage;
			ioctl(fd_, UFFDIO_COPY, &copy);
		}
	}

	size_t bytes_;
	int fd_ = -1;
	void *memory_ = nullptr;
	bool works_ = false;
};

// Sleeps until a thread has written to it, some time later.
bool read_late(const int (&pipe_ends)[2])
{
	std::thread writer([&] {
		nap();
		(void)!write(pipe_ends[1], "x", 1);
	});
	char byte = 0;
	const bool works = read(pipe_ends[0], &byte, 1) == 1;
	writer.join();
	return works;
}

bool play(Shared &shared)
{
	int pipe_ends[2];
	const LatePages late(2);
	if (pipe(pipe_ends) != 0 || !late.works())
		return false;
	const auto step = [&](Step which, auto &&what) {
		shared.times[which][0] = icepath_now_ns();
		const bool works = what();
		shared.times[which][1] = icepath_now_ns();
		return works;
	};
	return step(FaultOfUser, [&] { return *late.page(0) == 0; }) &&
		   step(FaultInCall, [&] { return write(pipe_ends[1], const_cast<char *>(late.page(1)), 1) == 1; }) &&
		   step(ReadAfterFaults,
				[&] { // takes its own byte first
					char byte = 1;
					return read(pipe_ends[0], &byte, 1) == 1 && byte == 0 && read_late(pipe_ends);
				}) &&
		   step(ReadAfterAFailedFault,
				[&] {
					void *forbidden = mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
					return forbidden != MAP_FAILED && write(pipe_ends[1], forbidden, 1) < 0 && read_late(pipe_ends);
				}) &&
		   step(Nap, [] {
			   nap();
			   return true;
		   });
}

TEST(Blocking, SleepsWithinPageFaultsAreToldFromOthers)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root to load BPF programs";
	const auto cpus = two_cpus();
	Capture capture({cpus.first}, 1u << 12);
	const auto user = number_of("page_fault_user"), kernel = number_of("page_fault_kernel");
	void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(memory, MAP_FAILED);
	auto &shared = *new (memory) Shared{};
	std::vector<icepath_record> records;
	{
		const Player player(cpus.first, [&](int) { return play(shared); });
		capture.add_worker(player.pidfd);
		capture.attach(~ProbeSet{0});
		capture.begin_block({player.pidfd});
		player.go();
		player.await();
		EXPECT_TRUE(capture.end_block().empty());
		std::vector<icepath_slot> heads;
		records = copy_slots(capture, heads);
		std::erase_if(records, [&](const icepath_record &one) {
			return one.type != ICEPATH_RECORD_OFF_CPU || one.tid != static_cast<uint32_t>(player.pid) ||
				   one.off.reason != ICEPATH_OFF_BLOCKED;
		});
	}
	std::array<int, kSteps> faults{}, others{};
	for (const icepath_record &one : records)
		for (size_t i = 0; i < kSteps; i++)
			if (one.off.out_ns >= shared.times[i][0] && one.end_ns <= shared.times[i][1])
				((one.flags & ICEPATH_FLAG_IN_FAULT) ? faults : others)[i]++;
	EXPECT_EQ(faults[FaultOfUser] > 0, capture.selection()[user].works);
	EXPECT_EQ(faults[FaultInCall] > 0, capture.selection()[kernel].works);
	for (const Step step : {ReadAfterFaults, ReadAfterAFailedFault, Nap}) {
		EXPECT_EQ(faults[step], 0) << "step " << step;
		EXPECT_GT(others[step], 0) << "step " << step;
	}
	munmap(memory, sizeof(Shared));
}

} // namespace
} // namespace icepath::capture
