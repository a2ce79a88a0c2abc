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
#include <sstream>
#include <vector>

namespace icepath::worker {
namespace {

// Distributions install daemons in folders that an ordinary user's PATH lacks.
std::string path_of_daemons()
{
	const char *path = std::getenv("PATH");
	return fmt::format("{}:/usr/local/sbin:/usr/sbin:/sbin", path ? path : "/usr/local/bin:/usr/bin:/bin");
}

// Ends with a null pointer, as execvp() needs it.
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
	signal(SIGPIPE, SIG_DFL); // ignored signals stay ignored across exec
	setenv("PATH", path_of_daemons().c_str(), 1);
	execvp(daemon.program, words_of(daemon).data());
	const std::string why = fmt::format("{} can't be started: {}", daemon.program, std::strerror(errno));
	return daemon.package ? fmt::format("{}; Debian's package {} brings it", why, daemon.package) : why;
}

std::string name_of(const icepath_daemon &daemon)
{
	const std::string program = daemon.program;
	return program.substr(program.rfind('/') + 1);
}

std::string why_not_there(const icepath_daemon &daemon)
{
	const std::string program = daemon.program;
	std::istringstream folders(program.find('/') == std::string::npos ? path_of_daemons() : "");
	bool is_there = access(daemon.program, X_OK) == 0 && program.find('/') != std::string::npos;
	for (std::string folder; !is_there && std::getline(folders, folder, ':');)
		is_there = access((folder + "/" + program).c_str(), X_OK) == 0;
	if (is_there)
		return "";
	return daemon.package ? fmt::format("isn't installed: Debian's package {} brings it", daemon.package)
						  : "isn't installed";
}

std::string identity_of(const icepath_daemon &daemon)
{
	const std::vector<char *> words = words_of(daemon);
	std::string all = fmt::format("{}", fmt::join(words.begin(), words.end() - 1, " "));
	if (daemon.file)
		all += fmt::format("\n{}\n{}", daemon.file, daemon.file_text);
	return fmt::format("{} {:016x}", name_of(daemon), std::hash<std::string>{}(all));
}

} // namespace icepath::worker
