// SPDX-License-Identifier: Apache-2.0
#include "cpuset/kept_awake.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace icepath::cpuset {
namespace {

constexpr int32_t kNoDelayUs = 0;
constexpr int32_t kAnyDelayUs = 2'000'000'000; // PM_QOS_CPU_LATENCY_DEFAULT_VALUE

std::string first_word(const std::string &path)
{
	std::string word;
	std::ifstream(path) >> word;
	return word;
}

bool boots_with(const std::string &root, const std::string &wanted)
{
	std::ifstream file(root + "/proc/cmdline");
	for (std::string word; file >> word;)
		if (word == wanted)
			return true;
	return false;
}

// The aggregate of all requests, which any process with the file open can read.
std::optional<int32_t> effective_us(int file)
{
	int32_t us = 0;
	return pread(file, &us, sizeof us, 0) == sizeof us ? std::optional(us) : std::nullopt;
}

} // namespace

KeptAwake::KeptAwake(const std::string &root)
	: path_("/dev/cpu_dma_latency"), step_{"idle_states", StepState::NotPossible, "", ""}
{
	file_ = open((root + path_).c_str(), O_RDWR | O_CLOEXEC);
	if (file_ < 0) {
		step_.found = fmt::format("{} can't be opened: {}", path_, std::strerror(errno));
		step_.remedy = errno == ENOENT ? "use a kernel with CONFIG_CPU_IDLE" : "start icepath with sudo";
		return;
	}
	try_it(root);
}

KeptAwake::~KeptAwake()
{
	if (file_ >= 0)
		close(file_);
}

void KeptAwake::try_it(const std::string &root)
{
	if (boots_with(root, "idle=poll")) {
		step_.state = StepState::AlreadySo;
		step_.found = "CPUs poll while they have nothing to do (idle=poll)";
		return;
	}
	// Without a driver the idle loop halts CPUs in one way, whatever the request (cpuidle_idle_call()).
	const std::string cpus = root + "/sys/devices/system/cpu/", driver = first_word(cpus + "cpuidle/current_driver");
	if (driver.empty() || driver == "none") {
		step_.found = "the kernel has no cpuidle driver: a CPU with nothing to do halts, whatever is asked for";
		step_.remedy = "boot with idle=poll, or, in a KVM guest, load cpuidle-haltpoll";
		return;
	}
	const std::optional<int32_t> before_us = effective_us(file_);
	Problem problem = ask_for(kNoDelayUs);
	if (!problem && effective_us(file_) != kNoDelayUs)
		problem = fmt::format("{} refuses what is written to it", path_);
	if (const Problem still_held = ask_for(kAnyDelayUs); !problem)
		problem = still_held;
	if (problem) {
		step_.found = *problem;
		return;
	}
	works_ = true;
	if (before_us == kNoDelayUs) {
		step_.state = StepState::AlreadySo;
		step_.found = fmt::format("another process holds {} at 0", path_);
		return;
	}
	const std::string state = first_word(cpus + "cpu0/cpuidle/state0/name");
	step_.state = StepState::Done;
	step_.found = fmt::format("idle CPUs stay in {} during blocks, but for sparse cells",
							  state.empty() ? "their lightest state" : state);
}

Problem KeptAwake::ask_for(int32_t most_us)
{
	if (pwrite(file_, &most_us, sizeof most_us, 0) == sizeof most_us)
		return std::nullopt;
	return fmt::format("{} can't be written: {}", path_, std::strerror(errno));
}

Problem KeptAwake::hold() { return works_ ? ask_for(kNoDelayUs) : std::nullopt; }

Problem KeptAwake::let_go() { return works_ ? ask_for(kAnyDelayUs) : std::nullopt; }

} // namespace icepath::cpuset
