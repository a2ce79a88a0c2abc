// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace icepath::plugin_kit {

// For the time between two reads of memory that another CPU will write.
inline void pause_spin()
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	asm volatile("yield");
#endif
}

} // namespace icepath::plugin_kit
