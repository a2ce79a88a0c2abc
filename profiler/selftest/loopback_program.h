// SPDX-License-Identifier: Apache-2.0
#pragma once
// A BPF program that each packet passes between the loopback device and its protocol (sch_handle_ingress()), in the network namespace
// in which the caller is. Others' programs there stay as they are.
#include <memory>

#include "profiler/channel.h"
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

// By a BPF link (TCX, since Linux 6.6), which goes with the process whatever ends that. Nothing: errno says why.
std::unique_ptr<Effect> attach_by_link(int program);

// By a filter of the device's, which goes with the object, or with the namespace if the process is killed. The hook for filters
// (clsact) stays with the namespace: others may have begun to use it. Nothing: errno says why.
std::unique_ptr<Effect> attach_by_filter(int program);

} // namespace icepath::selftest
