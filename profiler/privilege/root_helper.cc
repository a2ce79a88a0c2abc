// SPDX-License-Identifier: Apache-2.0
#include "profiler/privilege/root_helper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "profiler/failure.h"
#include "profiler/own_programs.h"

namespace icepath::privilege {

HelperDied::HelperDied(const RootProcess &helper)
	: Failure(ExitCode::MachineCannot,
			  fmt::format("the root helper {}: no probes from here on",
						  helper.ended_by() == 0
							  ? "died"
							  : fmt::format("was killed by signal {} ({}){}", helper.ended_by(),
											strsignal(helper.ended_by()),
											helper.ended_by() == SIGKILL ? ", perhaps because memory ran out" : "")))
{}

HelperDied::HelperDied(pid_t stuck)
	: Failure(ExitCode::MachineCannot,
			  fmt::format(
				  "the root helper (process {0}) doesn't answer and its probes may still be attached, so nothing is "
				  "measured from here on; end it as root: kill -9 {0}",
				  stuck)),
	  stuck_(true)
{}

namespace {

uid_t user_of_traced(const Identity &user)
{
	if (!user.was_root)
		if (const std::string why = why_not_without_root(); !why.empty())
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("tracing needs root: run `sudo icepath run` (without root: {})", why));
	return user.uid;
}

// Opens the file once, so that the file that is checked is the one that is executed. A user who could replace the
// running program has root's rights anyway, so the helper's file may be that user's too.
Fd open_program()
{
	const std::string path = helper_path();
	Fd program(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
	if (!program)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("{} can't be opened ({}): install icepath again", path, std::strerror(errno)));
	if (geteuid() != 0) // with no rights but those that the kernel gives to the file
		return program;
	struct stat its{}, own{};
	constexpr mode_t kWritable = S_IWGRP | S_IWOTH;
	if (fstat(program.get(), &its) || stat("/proc/self/exe", &own) || !S_ISREG(its.st_mode) ||
		(its.st_uid != 0 && its.st_uid != own.st_uid) || (its.st_mode & kWritable & ~own.st_mode) != 0 ||
		((its.st_mode & S_IWGRP) != 0 && its.st_gid != own.st_gid))
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("refusing to run {} as root: it must be a file owned by root or by icepath's owner, "
								  "and writable by nobody who can't write to icepath too",
								  path));
	return program;
}

std::string text_of(const HelperReply &reply)
{
	return {reply.message.data(), strnlen(reply.message.data(), reply.message.size())};
}

std::vector<capture::SkippedPrograms> skipped_in(const HelperReply &reply)
{
	return {reply.skipped.begin(), reply.skipped.begin() + std::min<size_t>(reply.skipped_count, reply.skipped.size())};
}

HelperRequest request_for(HelperRequestKind kind, const std::vector<uint32_t> &cpus)
{
	HelperRequest request{};
	request.kind = kind;
	if (cpus.size() > request.cpus.size())
		throw Failure(ExitCode::Usage, fmt::format("{} CPUs are more than the {} that one run can watch", cpus.size(),
												   request.cpus.size()));
	request.cpu_count = static_cast<uint32_t>(cpus.size());
	std::copy(cpus.begin(), cpus.end(), request.cpus.begin());
	return request;
}

} // namespace

std::string helper_path() { return own_program(kHelperName); }

std::string why_not_without_root()
{
	const std::string path = helper_path();
	struct stat file{};
	if (stat(path.c_str(), &file))
		return fmt::format("{} can't be found ({})", path, std::strerror(errno));
	if (getxattr(path.c_str(), "security.capability", nullptr, 0) < 0 && errno == ENODATA)
		return fmt::format("{} has no capabilities, which `sudo icepath setup --caps` gives it", path);
	if (faccessat(AT_FDCWD, path.c_str(), R_OK | X_OK, AT_EACCESS)) {
		const group *its = getgrgid(file.st_gid);
		return fmt::format("only members of the group {} may execute {}",
						   its ? its->gr_name : std::to_string(file.st_gid), path);
	}
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return "no_new_privs is set, as by a container or a service manager";
	return {};
}

RootProcess start_helper(uid_t user)
{
	return {kHelperName, open_program(), {ICEPATH_HELPER_VERSION, std::to_string(user), std::to_string(getpid())}};
}

Helper::Helper(const Identity &user) : process_(start_helper(user_of_traced(user))) {}

HelperReply Helper::ask(const HelperRequest &request, const std::vector<int> &fds, std::vector<Fd> &received)
{
	HelperReply reply{};
	// Attaching waits for RCU grace periods. Loading verifies some thirty programs: up to half a minute. Claiming loads
	// one, and may wait for a helper that ends.
	const bool loads = request.kind == HelperRequestKind::Load || request.kind == HelperRequestKind::Claim;
	const int timeout_ms = loads ? 120'000 : 10'000;
	if (!channel::send(process_.socket(), &request, sizeof(request), fds) ||
		!channel::receive(process_.socket(), &reply, sizeof(reply), received, timeout_ms))
		throw process_.end() ? HelperDied(process_) : HelperDied(process_.pid());
	if (reply.exit_code != 0)
		throw Failure(static_cast<ExitCode>(reply.exit_code), text_of(reply));
	return reply;
}

std::optional<std::string> Helper::claim(const std::vector<uint32_t> &cpus)
{
	std::vector<Fd> none;
	const std::string why_not = text_of(ask(request_for(HelperRequestKind::Claim, cpus), {}, none));
	return why_not.empty() ? std::nullopt : std::optional(why_not);
}

Helper::Loaded Helper::load(const std::vector<uint32_t> &cpus, uint32_t records_per_slot,
							std::optional<capture::Tier> forced, bool samples)
{
	HelperRequest request = request_for(HelperRequestKind::Load, cpus);
	request.records_per_slot = records_per_slot;
	request.forced_tier = forced ? 1 + static_cast<uint32_t>(*forced) : 0;
	request.samples = samples;
	std::vector<Fd> fds;
	const HelperReply reply = ask(request, {}, fds);
	if (fds.size() != size_t{2} + (samples ? 2 : 0) + (has_targets_ ? 2 : 0))
		throw Failure(ExitCode::Internal, "the root helper sent no slots");
	Loaded loaded;
	loaded.slots = std::move(fds[0]);
	loaded.fills = std::move(fds[1]);
	if (samples) {
		loaded.named_stacks = std::move(fds[2]);
		loaded.user_stacks = std::move(fds[3]);
	}
	if (has_targets_) {
		loaded.ends = std::move(fds.back());
		loaded.taken = std::move(fds[fds.size() - 2]);
	}
	loaded.knows_kernel = reply.knows_kernel != 0;
	loaded.slot_records = records_per_slot;
	loaded.slot_bytes = reply.slot_bytes;
	loaded.slot_count = reply.slot_count;
	loaded.available = reply.available;
	for (size_t i = 0; i < loaded.selection.size(); i++) {
		const ProbeChoice &choices = reply.choices[i];
		const bool works = (loaded.available & capture::bit(i)) != 0;
		loaded.selection[i] = {
			works, works ? capture::kProbes[i].candidates.at(choices.candidate) : capture::Candidate{},
			std::string(choices.why_not.data(), strnlen(choices.why_not.data(), choices.why_not.size()))};
	}
	return loaded;
}

uint32_t Helper::take_target(int pidfd)
{
	HelperRequest request{};
	request.kind = HelperRequestKind::Target;
	std::vector<Fd> none;
	const uint32_t family = ask(request, {pidfd}, none).worker;
	has_targets_ = true;
	return family;
}

uint32_t Helper::add_worker(int pidfd)
{
	HelperRequest request{};
	request.kind = HelperRequestKind::AddWorker;
	std::vector<Fd> none;
	return ask(request, {pidfd}, none).worker;
}

void Helper::add_socket(int fd, uint64_t key)
{
	HelperRequest request{};
	request.kind = HelperRequestKind::AddSocket;
	request.key = key;
	std::vector<Fd> none;
	ask(request, {fd}, none);
}

uint32_t Helper::follow(int pidfd, uint32_t family)
{
	HelperRequest request{};
	request.kind = HelperRequestKind::Follow;
	request.key = family;
	std::vector<Fd> none;
	return ask(request, {pidfd}, none).worker;
}

capture::ProbeSet Helper::attach(capture::ProbeSet probes)
{
	HelperRequest request{};
	request.kind = HelperRequestKind::Attach;
	request.probes = probes;
	std::vector<Fd> none;
	return ask(request, {}, none).available;
}

void Helper::begin_block(const std::vector<uint32_t> &workers, const std::vector<uint32_t> &families, bool looks,
						 uint64_t sample_period_ns)
{
	HelperRequest request{};
	request.kind = HelperRequestKind::BeginBlock;
	request.worker_count = static_cast<uint32_t>(std::min(workers.size(), request.workers.size()));
	std::copy_n(workers.begin(), request.worker_count, request.workers.begin());
	if (families.size() > request.families.size())
		throw Failure(ExitCode::Internal, fmt::format("{} processes are more than the {} that a block can follow",
													  families.size(), request.families.size()));
	request.family_count = static_cast<uint32_t>(families.size());
	std::copy_n(families.begin(), request.family_count, request.families.begin());
	request.looks = looks;
	request.sample_period_ns = sample_period_ns;
	std::vector<Fd> none;
	ask(request, {}, none);
}

std::vector<capture::SkippedPrograms> Helper::end_block()
{
	HelperRequest request{};
	request.kind = HelperRequestKind::EndBlock;
	std::vector<Fd> none;
	const HelperReply reply = ask(request, {}, none);
	unwatched_ = reply.unwatched;
	return skipped_in(reply);
}

Helper::Looked Helper::look()
{
	HelperRequest request{};
	request.kind = HelperRequestKind::Look;
	std::vector<Fd> none;
	const HelperReply reply = ask(request, {}, none);
	unwatched_ = reply.unwatched;
	return {skipped_in(reply), reply.worker};
}

} // namespace icepath::privilege
