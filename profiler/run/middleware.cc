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

Daemon::Daemon(const std::string &plugin, const MiddlewareSpace &space)
	: plugin_(plugin), output_(make_log()),
	  worker_(std::make_unique<Worker>(worker_program(), daemon_of(plugin), &space))
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

Surroundings Middleware::surroundings_of(const model::Cell &cell, const std::string &plugin)
{
	if (cell.kind != model::kAdapter)
		return {};
	if (!space_) {
		std::vector<std::string> kept = targets::plugin_folders();
		kept.push_back(std::filesystem::path(worker_program()).parent_path());
		kept.push_back(std::filesystem::path(plugin).parent_path());
		space_.emplace(kept, root_);
	}
	if (const auto failed = failures_.find(plugin); failed != failures_.end())
		throw WorkerFailed(failed->second);
	try {
		if (!daemons_.contains(plugin))
			daemons_.emplace(plugin, daemon_for(plugin));
	} catch (const WorkerFailed &failed) {
		failures_.emplace(plugin, failed.what());
		throw;
	}
	if (const auto why = daemon_end(plugin))
		throw WorkerFailed(*why);
	const Daemon &daemon = *daemons_.at(plugin);
	if (WorkerProcess *process = daemon.process())
		process->go_on();
	return {&*space_, daemon.family(), daemon.clock()};
}

std::shared_ptr<Daemon> Middleware::daemon_for(const std::string &plugin)
{
	auto daemon = std::make_shared<Daemon>(plugin, *space_);
	for (const auto &[other, running] : daemons_)
		if (!daemon->identity().empty() && running->identity() == daemon->identity())
			return running;
	daemon->start(cpus_, helper_, interrupted_);
	return daemon;
}

void Middleware::empty_logs()
{
	for (const auto &[plugin, daemon] : daemons_)
		daemon->empty_log();
}

std::optional<std::string> Middleware::daemon_end(const std::string &plugin) const
{
	const auto daemon = daemons_.find(plugin);
	return daemon == daemons_.end() ? std::nullopt : daemon->second->end();
}

const Daemon *Middleware::find_daemon(const std::string &plugin) const
{
	const auto daemon = daemons_.find(plugin);
	return daemon == daemons_.end() || !daemon->second->process() ? nullptr : daemon->second.get();
}

} // namespace icepath::run
