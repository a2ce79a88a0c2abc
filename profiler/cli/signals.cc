// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/signals.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "icepath/plugin.h"
#include "profiler/exports/written_file.h"
#include "profiler/failure.h"
#include "profiler/model/printable.h"
#include "profiler/run/session.h"
#include "profiler/rundir/container.h"

namespace icepath::cli {
namespace {

// Signals within this time count as one: timeout(1) signals the process and its group, and Ctrl-C may come twice.
constexpr uint64_t kOneWishNs = 1'000'000'000;

std::atomic<uint64_t> first_ns{0};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Made beforehand, because a signal handler can't allocate.
struct Kept {
	std::string partial, whole, sentence;
};
std::atomic<const Kept *> kept{nullptr};

[[noreturn]] void end_at_once()
{
	const Kept *run = kept;
	const bool is_there = run && (access(run->partial.c_str(), F_OK) == 0 || access(run->whole.c_str(), F_OK) == 0);
	const char *sentence = is_there ? run->sentence.c_str() : "icepath: ended at once: nothing was kept\n";
	(void)!write(STDERR_FILENO, sentence, strlen(sentence));
	exports::remove_begun_files();
	_exit(static_cast<int>(ExitCode::Interrupted));
}

void on_signal(int number)
{
	const int before = errno;
	run::interrupt_session();
	const uint64_t now_ns = icepath_now_ns();
	uint64_t first = 0;
	// A second SIGHUP isn't impatience: the terminal and its shell both send it.
	if (!first_ns.compare_exchange_strong(first, now_ns) && number != SIGHUP && now_ns - first > kOneWishNs)
		end_at_once();
	errno = before;
}

// The process ends by the signal, as its parent expects: SA_RESETHAND has put the default back.
void on_signal_while_reading(int number)
{
	exports::remove_begun_files();
	(void)raise(number);
}

} // namespace

void reset_signals()
{
	sigset_t none;
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, nullptr);
	signal(SIGCHLD, SIG_DFL);
}

void handle_signals()
{
	struct sigaction action{};
	action.sa_handler = on_signal;
	sigaction(SIGINT, &action, nullptr);
	sigaction(SIGTERM, &action, nullptr);
	if (signal(SIGHUP, SIG_IGN) != SIG_IGN) // nohup(1) ignores it
		sigaction(SIGHUP, &action, nullptr);
	signal(SIGPIPE, SIG_IGN);
}

void leave_no_begun_files()
{
	struct sigaction action{};
	action.sa_handler = on_signal_while_reading;
	action.sa_flags = SA_RESETHAND;
	sigaction(SIGINT, &action, nullptr);
	sigaction(SIGTERM, &action, nullptr);
	if (signal(SIGHUP, SIG_IGN) != SIG_IGN)
		sigaction(SIGHUP, &action, nullptr);
}

void name_kept_run(const std::string &directory)
{
	static Kept run;
	run = {fmt::format("{}/{}", directory, rundir::kPartialName),
		   fmt::format("{}/{}", directory, rundir::kContainerName),
		   fmt::format("{}icepath: ended at once: what was measured is kept: icepath report {}\n",
					   isatty(STDERR_FILENO) ? "\n" : "", model::printable(directory))};
	kept = &run;
}

} // namespace icepath::cli
