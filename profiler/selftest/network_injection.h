// SPDX-License-Identifier: Apache-2.0
#pragma once
// Delays packets behind the loopback device, in the network namespace of the measured processes.
#include <memory>

#include "profiler/channel.h"
#include "profiler/selftest/injector.h"

namespace icepath::selftest {

struct LoopbackDelay {
	Fd program;
	bool takes_a_filter = false; // on a device, because the kernel has no links: attach_by_filter()
};

LoopbackDelay load_device_delay(); // as root. Throws Failure(MachineCannot)
std::unique_ptr<Effect> put_in_device_delay(const Subject &subject);

// Attach a BPF program that each packet passes between the loopback device and its protocol (sch_handle_ingress()), in
// the caller's network namespace. Other programs there stay as they are.
//
// With a BPF link (TCX, since Linux 6.6), which ends with the process, however that ends. Nothing: errno is set.
std::unique_ptr<Effect> attach_by_link(int program);

// With a filter on the device, which ends with the object, or with the namespace if the process is killed. The hook for
// filters (clsact) stays with the namespace, because others may use it by then. Nothing: errno is set.
std::unique_ptr<Effect> attach_by_filter(int program);

// Puts this single-threaded process into the network namespace of measured processes for a moment.
class InOtherNetwork {
public:
	// Enters the namespace of `process`, a pidfd or the namespace itself; -1: a new one, which ends with its last
	// holder. Throws Failure(MachineCannot) if it can't be entered, or if this process is already in it: in the
	// machine's own network, more than the measured processes would be disturbed.
	explicit InOtherNetwork(int process);
	~InOtherNetwork(); // returns; if that fails, this process ends
	InOtherNetwork(const InOtherNetwork &) = delete;
	InOtherNetwork &operator=(const InOtherNetwork &) = delete;

private:
	const Fd home_;
};

Fd open_own_network();

} // namespace icepath::selftest
