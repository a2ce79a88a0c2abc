// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether softirqs run in tasks and lose their CPU with them, the case that ebpf/softirqs.bpf.h handles.
#include <sys/utsname.h>

#include <string_view>

namespace icepath::capture {

// uname(2)'s version shows it since 5.15, and in patched older kernels: "#1 SMP PREEMPT_RT Debian …".
inline bool is_preempt_rt(const utsname &kernel)
{
	return std::string_view(kernel.version).find("PREEMPT_RT") != std::string_view::npos;
}

} // namespace icepath::capture
