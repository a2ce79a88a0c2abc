// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/mman.h>

#include <cstddef>

#include "profiler/failure.h"

namespace icepath::bench {

// Zeros that processes forked later share, every page present.
class SharedMemory {
public:
	explicit SharedMemory(size_t bytes)
		: bytes_(bytes),
		  data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0))
	{
		if (data_ == MAP_FAILED)
			throw Failure(ExitCode::MachineCannot, "no memory to share between the sides of a ping-pong");
	}
	~SharedMemory() { munmap(data_, bytes_); }
	SharedMemory(const SharedMemory &) = delete;
	SharedMemory &operator=(const SharedMemory &) = delete;
	void *data() const { return data_; }

private:
	size_t bytes_;
	void *data_;
};

} // namespace icepath::bench
