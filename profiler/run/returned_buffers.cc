// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/returned_buffers.h"

#include <malloc.h>

namespace icepath::run {
namespace {

constexpr int kMostThatGlibcKeeps = 32 << 20; // DEFAULT_MMAP_THRESHOLD_MAX, where its own adjustment ends

void keep_below([[maybe_unused]] int bytes)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, bytes);
	mallopt(M_TRIM_THRESHOLD, 2 * bytes); // as it adjusts both
#endif
}

} // namespace

ReturnedBuffers::ReturnedBuffers() { keep_below(static_cast<int>(kFrom)); }

ReturnedBuffers::~ReturnedBuffers() { keep_below(kMostThatGlibcKeeps); }

} // namespace icepath::run
