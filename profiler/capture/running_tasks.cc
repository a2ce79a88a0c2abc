// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/running_tasks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "profiler/failure.h"

namespace icepath::capture {

void run_over_all(bpf_program *iterator)
{
	const std::unique_ptr<bpf_link, decltype(&bpf_link__destroy)> link(bpf_program__attach_iter(iterator, nullptr),
																	   &bpf_link__destroy);
	const int pass = link ? bpf_iter_create(bpf_link__fd(link.get())) : -1;
	std::array<char, 4096> nothing{};
	ssize_t read_bytes = pass < 0 ? -1 : 1;
	while (read_bytes > 0 || (pass >= 0 && read_bytes < 0 && (errno == EINTR || errno == EAGAIN)))
		read_bytes = read(pass, nothing.data(), nothing.size());
	const int why = errno;
	if (pass >= 0)
		close(pass);
	if (read_bytes < 0)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("the kernel can't list its tasks and files for the capture: {}", std::strerror(why)));
}

} // namespace icepath::capture
