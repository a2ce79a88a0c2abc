// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a reader of a report must know about the machine.
#include <sys/utsname.h>

#include <string>
#include <string_view>

#include "cpuset/isolation.h"
#include "profiler/model/conditions.h"
#include "profiler/privilege/identity.h"

namespace icepath::machine {

// The first line of a file of /proc or /sys; empty if it can't be read.
std::string first_line(const std::string &path);

model::Host describe_host(const privilege::Identity &user);

// What a run tells of its isolation.
model::Isolation describe_isolation(const cpuset::Isolation &isolation);

// Whether softirqs run in tasks and lose their CPU with them, the case that ebpf/softirqs.bpf.h handles. uname(2)'s
// version shows it since 5.15, and in patched older kernels: "#1 SMP PREEMPT_RT Debian …".
inline bool is_preempt_rt(const utsname &kernel)
{
	return std::string_view(kernel.version).find("PREEMPT_RT") != std::string_view::npos;
}

} // namespace icepath::machine
