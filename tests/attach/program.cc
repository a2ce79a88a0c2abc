// SPDX-License-Identifier: Apache-2.0
#include "tests/attach/program.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <new>

#include "profiler/failure.h"
#include "profiler/rundir/container.h"

namespace icepath::attach {

void await(const std::atomic<uint32_t> &word)
{
	while (word == 0)
		usleep(1000);
}

Program::Program(const std::function<void(Shared &)> &main)
	: shared_(new(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared)
{
	pid_ = fork();
	if (pid_ == 0) {
		setpgid(0, 0);
		main(*shared_);
		_exit(0);
	}
	setpgid(pid_, pid_);
}

Program::~Program()
{
	kill(-pid_, SIGKILL);
	waitpid(pid_, nullptr, 0);
	munmap(shared_, sizeof(Shared));
}

void Program::await_ready() const { await(shared_->is_ready); }

Watched watch_programs(const std::vector<pid_t> &processes, double seconds, const std::function<void()> &begun,
					   uint32_t records_per_ring)
{
	const std::vector<OpenTarget> targets = open_targets(processes);
	const privilege::Identity user = privilege::invoking_user();
	privilege::Helper helper(user);
	model::Head head;
	head.attached.emplace();
	for (const OpenTarget &target : targets) {
		(void)helper.take_target(target.pidfd.get());
		head.attached->targets.push_back(target.target);
	}
	const std::string directory =
		fmt::format("{}/attach-test-{}", std::filesystem::temp_directory_path().string(), getpid());
	std::filesystem::remove_all(directory);
	bool has_begun = false;
	Watched watched;
	watched.outcome = watch(targets, head, {directory, seconds, records_per_ring}, helper, [&] {
		if (!has_begun)
			begun();
		has_begun = true;
		return false;
	});
	rundir::Reader reader(directory);
	while (const auto read = reader.next())
		watched.windows.push_back(*read->window);
	if (reader.tail() && reader.tail()->detached)
		watched.detached = *reader.tail()->detached;
	std::filesystem::remove_all(directory);
	for (const model::Window &window : watched.windows)
		for (const model::SlotCapture &slot : window.slots)
			std::ranges::copy_if(slot.records, std::back_inserter(watched.calls),
								 [](const icepath_record &record) { return record.type == ICEPATH_RECORD_CALL; });
	std::ranges::sort(watched.calls, {}, &icepath_record::end_ns);
	return watched;
}

} // namespace icepath::attach
