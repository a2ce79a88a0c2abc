// SPDX-License-Identifier: Apache-2.0
#pragma once
// A BPF program that each packet passes between the loopback device and its protocol (sch_handle_ingress()), in the
// caller's network namespace. Other programs there stay as they are.
#include <memory>

#include "profiler/channel.h"
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

// With a BPF link (TCX, since Linux 6.6), which ends with the process, however that ends. Nothing: errno is set.
std::unique_ptr<Effect> attach_by_link(int program);

// With a filter on the device, which ends with the object, or with the namespace if the process is killed. The hook for
// filters (clsact) stays with the namespace, because others may use it by then. Nothing: errno is set.
std::unique_ptr<Effect> attach_by_filter(int program);

} // namespace icepath::selftest
