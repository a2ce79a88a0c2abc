// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "profiler/failure.h"

namespace icepath::cli {

// Without stdio: its buffer forgets an error's reason, and after a failed fflush() the error too.
void print(const std::string &text)
{
	for (size_t done = 0; done < text.size();) {
		const ssize_t n = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("the output can't be written: {}; see where stdout leads", std::strerror(errno)));
		done += static_cast<size_t>(n);
	}
}

} // namespace icepath::cli
