// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "profiler/failure.h"
#include "profiler/model/printable.h"

namespace icepath::cli {
namespace {

void write_to_stderr(const std::string &text)
{
	for (size_t done = 0; done < text.size();) {
		const ssize_t n = ::write(STDERR_FILENO, text.data() + done, text.size() - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		done += static_cast<size_t>(n);
	}
}

// Does without stdio: its buffer loses errno and, after a failed fflush(), the error too.
void write_to_stdout(const std::string &text)
{
	for (size_t done = 0; done < text.size();) {
		const ssize_t n = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			throw Failure(
				ExitCode::MachineCannot,
				fmt::format("the output can't be written: {}; check where stdout goes", std::strerror(errno)));
		done += static_cast<size_t>(n);
	}
}

} // namespace

void open_standard_streams()
{
	for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			// open() takes the lowest free number: `fd`. print() must fail if stdout was closed, so it is read-only.
			(void)!open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

void print(const std::string &page) { write_to_stdout(model::printable_page(page)); }

void complain(const std::string &line)
{
	write_to_stderr(model::printable(std::string_view(line).substr(0, line.find_last_not_of('\n') + 1)) + "\n");
}

void overwrite(const std::string &line) { write_to_stderr("\r\033[K" + model::printable(line)); }

void overwrite_screen(const std::string &page, size_t rows)
{
	std::string text = "\033[?7l\033[H"; // without wrapping, from the first row on
	std::istringstream lines(model::printable_page(page));
	std::string line;
	for (size_t row = 0; row < rows && std::getline(lines, line); ++row)
		text += (row == 0 ? "" : "\r\n") + line + "\033[K"; // the last row isn't left, or the screen would move
	write_to_stdout(text + "\033[J\033[?7h");
}

} // namespace icepath::cli
