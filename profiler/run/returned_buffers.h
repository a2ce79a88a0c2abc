// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace icepath::run {

// During its lifetime, buffers of kFrom bytes and more go back to the system as soon as they are freed. By itself glibc
// keeps buffers as large as the largest one that was freed so far, and all that lies below them in the heap
// (mallopt(3), M_MMAP_THRESHOLD). So a run of hours would grow with each block that has more records than any before
// it.
class ReturnedBuffers {
public:
	static constexpr size_t kFrom = 128u << 10; // glibc's own beginning
	ReturnedBuffers();
	~ReturnedBuffers(); // then buffers are kept, which makes repeated reading faster
	ReturnedBuffers(const ReturnedBuffers &) = delete;
	ReturnedBuffers &operator=(const ReturnedBuffers &) = delete;
};

} // namespace icepath::run
