// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether softirqs run in tasks and lose their CPU as these do: what ebpf/softirqs.bpf.h is for.
#include <sys/utsname.h>

#include <string_view>

namespace icepath::capture {

// uname(2)'s version names it since 5.15, and before that in the patch: "#1 SMP PREEMPT_RT Debian …".
inline bool is_preempt_rt(const utsname &kernel)
{
	return std::string_view(kernel.version).find("PREEMPT_RT") != std::string_view::npos;
}

} // namespace icepath::capture
