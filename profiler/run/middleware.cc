// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/middleware.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cpuset/affinity.h"
#include "icepath/plugin.h"
#include "profiler/run/arms.h"
#include "profiler/targets/plugin_files.h"

namespace icepath::run {
namespace {

constexpr uint64_t kReadyNs = 10'000'000'000;
constexpr size_t kWords = 4096; // bytes of a daemon's last output that are kept, at most

// Size of a daemon's log. The daemon's output may neither block it nor wake icepath during a block, so the log isn't a
// pipe. It may not fill the memory, so it is a memory file of fixed size (F_SEAL_GROW): a write beyond it fails with
// EPERM, as on a full disk. Daemon and icepath share its offset; icepath empties it between blocks.
constexpr size_t kLogBytes = 16u << 20;

Fd make_log()
{
	Fd log(memfd_create("icepath-daemon", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (!log || ftruncate(log.get(), kLogBytes) || fcntl(log.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SEAL))
		throw WorkerFailed(fmt::format("a daemon can't have a log: {}", std::strerror(errno)));
	return log;
}

std::string daemon_of(const std::string &plugin)
{
	return "daemon of " + std::filesystem::path(plugin).stem().string();
}

} // namespace

Daemon::Daemon(const std::string &plugin, const MiddlewareSpace &space, const Environment &environment)
	: plugin_(plugin), output_(make_log()),
	  worker_(std::make_unique<Worker>(worker_program(), daemon_of(plugin), &space, environment))
{
	identity_ = worker::text(ask(worker::RequestKind::DescribeDaemon, {}).message);
	if (identity_.empty())
		worker_.reset();
	else
		worker_->call_it("daemon " + identity_.substr(0, identity_.find(' ')));
}

worker::Reply Daemon::ask(worker::RequestKind kind, const std::vector<int> &fds)
{
	worker::Request request{};
	request.kind = kind;
	plugin_.copy(request.plugin, sizeof(request.plugin) - 1);
	std::vector<Fd> none;
	return worker_->ask(request, fds, none);
}

void Daemon::start(const cpuset::CpuList &cpus, privilege::Helper *helper, const std::atomic<bool> *interrupted)
{
	if (!worker_)
		return;
	if (!cpus.empty())
		if (const auto problem = cpuset::confine(worker_->process().pid(), cpus))
			throw WorkerFailed(
				fmt::format("the {} can't run on the CPUs of --daemon-cpus: {}", worker_->what(), *problem));
	if (helper)
		family_ = helper->follow(worker_->process().pidfd());
	await(worker::text(ask(worker::RequestKind::BecomeDaemon, {output_.get()}).message), interrupted);
}

void Daemon::await(const std::string &ready, const std::atomic<bool> *interrupted) const
{
	const uint64_t give_up_ns = icepath_now_ns() + kReadyNs;
	std::string all;
	while (all.find(ready) == std::string::npos) {
		if (const auto why = end())
			throw WorkerFailed(*why);
		if (interrupted && *interrupted)
			throw WorkerFailed(fmt::format("interrupted before the {} was ready", worker_->what()));
		if (icepath_now_ns() > give_up_ns)
			throw WorkerFailed(fmt::format("the {} isn't ready after {} s{}", worker_->what(), kReadyNs / 1'000'000'000,
										   last_words()));
		usleep(2000);
		char more[kWords];
		for (const size_t until = written(); all.size() < until;) {
			const ssize_t got =
				pread(output_.get(), more, std::min(sizeof(more), until - all.size()), static_cast<off_t>(all.size()));
			if (got <= 0)
				break;
			all.append(more, static_cast<size_t>(got));
		}
	}
}

size_t Daemon::written() const { return static_cast<size_t>(std::max<off_t>(0, lseek(output_.get(), 0, SEEK_CUR))); }

std::string Daemon::last_printed(size_t written) const
{
	char text[kWords];
	const size_t bytes = std::min(written, sizeof(text));
	const ssize_t got = pread(output_.get(), text, bytes, static_cast<off_t>(written - bytes));
	return {text, static_cast<size_t>(std::max<ssize_t>(0, got))};
}

std::string Daemon::last_words() const
{
	const size_t all = written();
	std::string words = printed_before_ + last_printed(all);
	std::erase(words, '\r');
	while (!words.empty() && words.back() == '\n')
		words.pop_back();
	words.erase(0, words.rfind('\n') + 1);
	if (words.empty())
		return "";
	return fmt::format("; {}: {}", all < kLogBytes ? "its last output" : "its output before the log was full", words);
}

void Daemon::empty_log()
{
	const size_t all = written();
	if (all < kLogBytes / 4)
		return;
	printed_before_ = last_printed(all);
	if (all >= kLogBytes)
		printed_before_ += '\n'; // the rest of a line that the full log cut off won't come
	fallocate(output_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kLogBytes);
	lseek(output_.get(), 0, SEEK_SET);
}

std::optional<clockid_t> Daemon::clock() const
{
	clockid_t clock{};
	if (!worker_ || clock_getcpuclockid(worker_->process().pid(), &clock))
		return std::nullopt;
	return clock;
}

std::optional<std::string> Daemon::end() const
{
	if (!worker_)
		return std::nullopt;
	if (const auto stopped = worker_->process().stop())
		return stopped;
	if (!worker_->process().has_ended())
		return std::nullopt;
	return worker_->process().end().value_or(worker_->what() + " is gone") + last_words();
}

Middleware::Middleware(privilege::Helper *helper, const std::atomic<bool> *interrupted,
					   const std::vector<privilege::RootSpace *> &roots, cpuset::CpuList cpus,
					   const std::vector<model::Arm> &arms)
	: helper_(helper), interrupted_(interrupted), cpus_(std::move(cpus))
{
	for (const model::Arm &arm : arms) {
		arms_[arm.name].environment = environment_of(arm);
		arms_[arm.name].folders = folders_of(arm);
	}
	if (arms.empty())
		arms_[""];
	for (size_t i = 0; i < roots.size(); i++)
		(arms.empty() ? arms_.at("") : arms_.at(arms.at(i).name)).root = roots[i];
}

Surroundings Middleware::surroundings_of(const model::Cell &cell, const std::string &plugin)
{
	OfArm &arm = arms_.at(cell.arm);
	if (cell.kind != model::kAdapter)
		return {nullptr, 0, {}, {}, arm.environment};
	if (!arm.space) {
		std::vector<std::string> kept = targets::plugin_folders();
		kept.push_back(std::filesystem::path(worker_program()).parent_path());
		kept.push_back(std::filesystem::path(plugin).parent_path());
		kept.insert(kept.end(), arm.folders.begin(), arm.folders.end());
		arm.space.emplace(kept, arm.root);
	}
	if (const auto failed = arm.failures.find(plugin); failed != arm.failures.end())
		throw WorkerFailed(failed->second);
	try {
		if (!arm.daemons.contains(plugin))
			arm.daemons.emplace(plugin, daemon_for(plugin, arm));
	} catch (const WorkerFailed &failed) {
		arm.failures.emplace(plugin, failed.what());
		throw;
	}
	if (const auto why = daemon_end(plugin, cell.arm))
		throw WorkerFailed(*why);
	const Daemon &daemon = *arm.daemons.at(plugin);
	if (WorkerProcess *process = daemon.process())
		process->go_on();
	return {&*arm.space, daemon.family(), daemon.clock(), {}, arm.environment};
}

std::shared_ptr<Daemon> Middleware::daemon_for(const std::string &plugin, OfArm &arm)
{
	auto daemon = std::make_shared<Daemon>(plugin, *arm.space, arm.environment);
	for (const auto &[other, running] : arm.daemons)
		if (!daemon->identity().empty() && running->identity() == daemon->identity())
			return running;
	daemon->start(cpus_, helper_, interrupted_);
	return daemon;
}

void Middleware::empty_logs()
{
	for (const auto &[name, arm] : arms_)
		for (const auto &[plugin, daemon] : arm.daemons)
			daemon->empty_log();
}

std::optional<std::string> Middleware::daemon_end(const std::string &plugin, const std::string &arm) const
{
	const auto &daemons = arms_.at(arm).daemons;
	const auto daemon = daemons.find(plugin);
	return daemon == daemons.end() ? std::nullopt : daemon->second->end();
}

const Daemon *Middleware::find_daemon(const std::string &plugin, const std::string &arm) const
{
	const auto &daemons = arms_.at(arm).daemons;
	const auto daemon = daemons.find(plugin);
	return daemon == daemons.end() || !daemon->second->process() ? nullptr : daemon->second.get();
}

} // namespace icepath::run
