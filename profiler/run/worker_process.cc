// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "profiler/failure.h"
#include "profiler/run/descriptor_limit.h"

namespace icepath::run {
namespace {

namespace fs = std::filesystem;
constexpr int kAnswerMs = 5000;

template <size_t N> std::string text(const char (&field)[N]) { return {field, strnlen(field, N)}; }

// Read once: who enters another mount namespace later may find another path there, in a chroot that from the root outside.
const fs::path &program_folder()
{
	static const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
	return folder;
}

pid_t fork_worker(const std::string &program, std::vector<std::string> words, const std::vector<int> &inherited,
				  const MiddlewareSpace *space)
{
	words.insert(words.begin(), program);
	std::vector<char *> arguments;
	for (std::string &word : words)
		arguments.push_back(word.data());
	arguments.push_back(nullptr);
	const pid_t pid = fork();
	if (pid != 0)
		return pid;
	restore_descriptor_limit();
	setsid(); // a group of its own, with whatever it starts; the terminal interrupts icepath, which ends its workers itself
	for (const int fd : inherited)
		fcntl(fd, F_SETFD, 0);
	if (space && !space->enter())
		_exit(126);
	execv(program.c_str(), arguments.data());
	_exit(127);
}

} // namespace

WorkerProcess::WorkerProcess(const std::string &program, std::string what, const std::vector<Fd> &sockets,
							 bool one_thread, const MiddlewareSpace *space)
	: what_(std::move(what))
{
	std::vector<std::string> words;
	std::vector<int> inherited;
	for (const Fd &socket : sockets) {
		inherited.push_back(socket.get());
		words.insert(words.end(), {"--control", std::to_string(socket.get())});
	}
	if (one_thread)
		words.push_back("--one-thread");
	pid_ =
		space && space->root() ? space->root()->start(words, inherited) : fork_worker(program, words, inherited, space);
	if (pid_ < 0)
		throw WorkerFailed(fmt::format("cannot start the {}: {}", what_, std::strerror(errno)));
	pidfd_ = Fd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
}

WorkerProcess::~WorkerProcess()
{
	if (!pidfd_)
		return;
	syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
	kill(-pid_, SIGKILL); // what it started: the number stays its group's until it was waited for
	waitpid(pid_, nullptr, 0);
}

bool WorkerProcess::has_ended() const
{
	pollfd look{pidfd_.get(), POLLIN, 0};
	return poll(&look, 1, 0) == 1;
}

std::optional<std::string> WorkerProcess::end() const
{
	siginfo_t end{};
	// It may just be dying: its socket closes before it can be waited for.
	for (int tries = 0; tries < 20 && end.si_pid == 0; tries++) {
		if (tries)
			usleep(5000);
		if (waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &end, WEXITED | WNOHANG | WNOWAIT))
			break;
	}
	if (end.si_pid == 0)
		return std::nullopt;
	if (end.si_code != CLD_EXITED)
		return fmt::format("the {} was killed by signal {} ({})", what_, end.si_status, strsignal(end.si_status));
	if (end.si_status == 126)
		return fmt::format("the {} can't enter the run's namespaces for middleware", what_);
	return end.si_status == 127 ? fmt::format("the {} can't be started", what_)
								: fmt::format("the {} exited with {}", what_, end.si_status);
}

Worker::Worker(const std::string &program, const std::string &what, const MiddlewareSpace *space)
	: Worker(std::move(*start(program, what, {what}, false, space)[0]))
{}

std::vector<std::unique_ptr<Worker>> Worker::start(const std::string &program, const std::string &what,
												   const std::vector<std::string> &sides, bool one_thread,
												   const MiddlewareSpace *space)
{
	std::vector<Fd> ours, theirs;
	for (size_t side = 0; side < sides.size(); side++) {
		auto [mine, its] = channel::open_pair();
		ours.push_back(std::move(mine));
		theirs.push_back(std::move(its));
	}
	const auto process = std::make_shared<WorkerProcess>(program, what, theirs, one_thread, space);
	std::vector<std::unique_ptr<Worker>> workers;
	for (size_t side = 0; side < sides.size(); side++)
		workers.emplace_back(new Worker(process, std::move(ours[side]), sides[side]));
	return workers;
}

void Worker::call_it(const std::string &what)
{
	process_->call_it(what);
	what_ = what;
}

void Worker::fail() const { throw WorkerFailed(process_->end().value_or(fmt::format("the {} doesn't answer", what_))); }

void Worker::send(const worker::Request &request, const std::vector<int> &fds)
{
	if (!channel::send(socket_.get(), &request, sizeof(request), fds))
		fail();
}

worker::Reply Worker::receive(std::vector<Fd> &received, int timeout_ms)
{
	worker::Reply reply{};
	if (!channel::receive(socket_.get(), &reply, sizeof(reply), received, timeout_ms))
		fail();
	if (reply.status != worker::ReplyStatus::Done)
		throw WorkerFailed(
			fmt::format("{}: {}", what_, text(reply.message)), reply.status == worker::ReplyStatus::Cancelled,
			reply.status == worker::ReplyStatus::Failed || reply.status == worker::ReplyStatus::Cancelled);
	return reply;
}

worker::Reply Worker::ask(const worker::Request &request, const std::vector<int> &fds, std::vector<Fd> &received)
{
	send(request, fds);
	return receive(received, kAnswerMs);
}

std::string worker_program() { return program_folder() / "icepath-worker"; }

std::vector<std::string> plugin_folders()
{
	const char *wish = std::getenv("ICEPATH_PLUGIN_PATH");
	if (!wish || !*wish)
		return {(program_folder() / "../lib/icepath").lexically_normal()};
	std::vector<std::string> folders;
	std::istringstream list(wish);
	for (std::string folder; std::getline(list, folder, ':');)
		if (!folder.empty())
			folders.push_back(folder);
	return folders;
}

namespace {

// What root loads shall be nobody else's to change: a plug-in's code runs as who loads it.
void check_not_others(const std::string &path)
{
	struct stat status{};
	if (geteuid() != 0 || stat(path.c_str(), &status))
		return;
	const bool by_group = (status.st_mode & S_IWGRP) != 0 && status.st_gid != 0;
	if (status.st_uid != 0 || by_group || (status.st_mode & S_IWOTH) != 0)
		throw Failure(ExitCode::Usage,
					  fmt::format("root loads no plug-in from {}, which others can change: run icepath by sudo "
								  "from an ordinary user, or chown root and chmod go-w it",
								  path));
}

} // namespace

std::vector<std::string> plugin_paths()
{
	std::vector<std::string> paths;
	for (const std::string &folder : plugin_folders()) {
		std::error_code none;
		for (const auto &entry : fs::directory_iterator(folder, none)) {
			const std::string file = entry.path().filename();
			if (!file.starts_with("icepath-") || !file.ends_with(".so"))
				continue;
			check_not_others(folder);
			check_not_others(entry.path());
			paths.push_back(fs::weakly_canonical(entry.path()));
		}
	}
	std::sort(paths.begin(), paths.end());
	paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
	return paths;
}

// middleware_adapters/CMakeLists.txt writes the list beside the plug-ins: a line for each, of a name, "package", "library" or "cargo",
// and what that is called.
std::vector<NotBuilt> adapters_not_built()
{
	std::vector<NotBuilt> all;
	for (const std::string &folder : plugin_folders()) {
		std::ifstream list(fs::path(folder) / "not-built");
		NotBuilt one;
		for (std::string kind, missing; list >> one.name >> kind >> std::ws && std::getline(list, missing);) {
			(kind == "package" ? one.package : kind == "cargo" ? one.cargo : one.library) = missing;
			all.push_back(std::exchange(one, {}));
		}
	}
	return all;
}

std::string why_not_built(const NotBuilt &adapter)
{
	if (!adapter.cargo.empty())
		return fmt::format("cargo builds it on demand (cmake {})", adapter.cargo);
	return (adapter.package.empty() ? adapter.library + ", which Debian doesn't package,"
									: "Debian's package " + adapter.package) +
		   " was missing when icepath was configured";
}

std::vector<plan::Target> describe_targets(std::vector<std::string> &notices)
{
	const std::vector<std::string> paths = plugin_paths();
	if (paths.empty())
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("there is no transport: no icepath-<name>.so in {}; ICEPATH_PLUGIN_PATH=FOLDER names "
								  "another folder to look in",
								  fmt::join(plugin_folders(), ", ")));
	return describe_plugins(paths, notices);
}

std::vector<plan::Target> describe_plugins(const std::vector<std::string> &paths, std::vector<std::string> &notices)
{
	std::vector<plan::Target> targets;
	for (const std::string &path : paths) {
		const std::string file = fs::path(path).filename();
		try {
			Worker describer(worker_program(), "worker that describes " + file);
			worker::Request request{};
			request.kind = worker::RequestKind::Describe;
			if (path.size() >= sizeof(request.plugin))
				throw WorkerFailed(fmt::format("{}: its path is too long", path));
			path.copy(request.plugin, sizeof(request.plugin) - 1);
			constexpr uint32_t kMaxTargets = 64;
			for (; request.index < kMaxTargets; request.index++) {
				std::vector<Fd> none;
				const worker::TargetReply told = describer.ask(request, {}, none).target;
				if (told.name[0] == 0)
					break;
				targets.push_back({path, text(told.name), text(told.summary), text(told.library_version), told.waits,
								   told.mechanisms, told.capabilities, told.max_payload_bytes, told.max_part_bytes,
								   text(told.max_payload_why), text(told.why_not), told.fanin_waits,
								   told.fanin_max_bytes, told.qos, text(told.daemon), text(told.why_no_daemon)});
			}
		} catch (const WorkerFailed &failure) {
			notices.push_back(failure.what());
		}
	}
	return targets;
}

} // namespace icepath::run
