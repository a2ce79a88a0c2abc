// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/daemon.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <vector>

namespace icepath::worker {
namespace {

// Distributions keep daemons where an ordinary user's PATH doesn't lead.
void look_for_daemons_too()
{
	const char *path = std::getenv("PATH");
	setenv("PATH",
		   fmt::format("{}:/usr/local/sbin:/usr/sbin:/sbin", path ? path : "/usr/local/bin:/usr/bin:/bin").c_str(), 1);
}

// With the end of its arguments' list, as execvp() wants it.
std::vector<char *> words_of(const icepath_daemon &daemon)
{
	std::vector<char *> words = {const_cast<char *>(daemon.program)};
	for (const char *const *word = daemon.arguments; word && *word; word++)
		words.push_back(const_cast<char *>(*word));
	words.push_back(nullptr);
	return words;
}

} // namespace

std::string become(const icepath_daemon &daemon, const Fd &output)
{
	if (daemon.file) {
		std::ofstream file(daemon.file);
		file << daemon.file_text << std::flush;
		if (!file.good())
			return fmt::format("{} can't be written for {}: {}", daemon.file, daemon.program, std::strerror(errno));
	}
	if (dup2(output.get(), STDOUT_FILENO) < 0 || dup2(output.get(), STDERR_FILENO) < 0)
		return fmt::format("{} can't print anywhere: {}", daemon.program, std::strerror(errno));
	signal(SIGPIPE, SIG_DFL); // exec keeps what is ignored
	look_for_daemons_too();
	execvp(daemon.program, words_of(daemon).data());
	const std::string why = fmt::format("{} can't be started: {}", daemon.program, std::strerror(errno));
	return daemon.package ? fmt::format("{}; Debian's package {} brings it", why, daemon.package) : why;
}

std::string identity_of(const icepath_daemon &daemon)
{
	const std::vector<char *> words = words_of(daemon);
	std::string all = fmt::format("{}", fmt::join(words.begin(), words.end() - 1, " "));
	if (daemon.file)
		all += fmt::format("\n{}\n{}", daemon.file, daemon.file_text);
	return fmt::format("{} {:016x}", daemon.program, std::hash<std::string>{}(all));
}

} // namespace icepath::worker
