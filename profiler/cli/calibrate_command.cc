// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

#include "cpuset/choose.h"
#include "cpuset/topology.h"
#include "profiler/calibrate/calibrate.h"
#include "profiler/channel.h"
#include "profiler/cli/commands.h"
#include "profiler/cli/output.h"
#include "profiler/exports/written_file.h"
#include "profiler/machine/host.h"
#include "profiler/model/cell_title.h"
#include "profiler/privilege/cpu_claim.h"
#include "profiler/privilege/identity.h"
#include "profiler/rundir/json_text.h"

namespace icepath::cli {
namespace {

std::string text_of(const calibrate::Share &share)
{
	const auto percent = [](double part) { return std::lround(100 * part); };
	return fmt::format("{:>3} % [{}, {}]", percent(share.value), percent(share.low), percent(share.high));
}

std::string text_of(const std::vector<calibrate::CalibratedTarget> &targets)
{
	std::string text = fmt::format("{:<14} {:>8}   {:<28} {}\n", "queue", "payload", "has it, of the sending call",
								   "is rid of it, of the taking call");
	for (const calibrate::CalibratedTarget &target : targets) {
		for (const calibrate::CalibratedSize &size : target.sizes)
			text += fmt::format("{:<14} {:>8}   {:<28} {}\n", target.target, model::payload_text(size.payload_bytes),
								text_of(size.ready), text_of(size.taken));
		if (!target.why_not.empty())
			text += fmt::format("{:<14} not placed: {}\n", target.target, target.why_not);
	}
	return text;
}

// Calls WrittenFile::check() as `user`, in a child, because this process still needs root's rights. Throws as it does.
void check_as(const privilege::Identity &user, const std::string &file)
{
	char sentence[4096] = {};
	auto [ours, theirs] = channel::open_pair();
	const pid_t child = fork();
	if (child == 0) {
		try {
			privilege::become(user);
			exports::WrittenFile::check(file);
		} catch (const Failure &failure) {
			std::string(failure.what()).copy(sentence, sizeof(sentence) - 1);
		}
		channel::send(theirs.get(), sentence, sizeof(sentence));
		_exit(0);
	}
	theirs.reset();
	std::vector<Fd> none;
	const bool answered = child > 0 && channel::receive(ours.get(), sentence, sizeof(sentence), none);
	if (child > 0)
		waitpid(child, nullptr, 0);
	if (!answered || *sentence)
		throw Failure(ExitCode::Usage, answered ? sentence : fmt::format("{}: can't be checked as its owner", file));
}

// Returns nothing where claims aren't possible, and says so.
std::optional<privilege::CpuClaim> claimed(uint32_t cpu)
{
	try {
		return privilege::CpuClaim({cpu}, getpid());
	} catch (const privilege::NoClaims &none) {
		complain(fmt::format("icepath: {}\n", none.what()));
		return std::nullopt;
	}
}

} // namespace

ExitCode calibrate(const CalibrateOptions &options)
{
	const privilege::Identity user = privilege::invoking_user();
	if (!user.was_root)
		throw Failure(ExitCode::MachineCannot, "watching the kernel's words needs root: run `sudo icepath calibrate`");
	check_as(user, options.output); // fails before the measurement rather than after
	const cpuset::Machine machine = cpuset::read_machine(cpuset::read_permission());
	calibrate::Pass pass;
	pass.cpu = options.cpu.value_or(cpuset::choose_pair(machine).receiver);
	calibrate::Calibration calibration;
	{
		const auto claim = claimed(pass.cpu);
		calibration.targets = calibrate::calibrate(pass);
	}
	privilege::become(user); // the file belongs to the invoking user
	calibration.icepath_version = ICEPATH_VERSION;
	calibration.made_utc = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
	calibration.host = calibrate::host_of(machine::describe_host(user));
	exports::WrittenFile file(options.output);
	file.add(calibrate::to_json(calibration).dump(1) + "\n");
	file.done();
	print(text_of(calibration.targets) +
		  fmt::format("In brackets: the uncertainty. Times under watchpoints aren't latencies.\n"
					  "written: {}   next: sudo icepath run --calibration {}\n",
					  options.output, options.output));
	const bool any = std::ranges::any_of(calibration.targets, [](const auto &target) { return !target.sizes.empty(); });
	return any ? ExitCode::Ok : ExitCode::MachineCannot;
}

} // namespace icepath::cli
