// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/message_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "profiler/failure.h"

namespace icepath::worker {

MessageBuffer::MessageBuffer(uint64_t bytes)
	: bytes_(bytes),
	  data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0))
{
	if (data_ == MAP_FAILED)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("no memory for a message of {} bytes: {}", bytes, std::strerror(errno)));
	mlock(data_, bytes_); // may exceed RLIMIT_MEMLOCK: then it is present, but not locked
}

MessageBuffer::~MessageBuffer() { munmap(data_, bytes_); }

} // namespace icepath::worker
