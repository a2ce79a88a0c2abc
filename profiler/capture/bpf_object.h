// SPDX-License-Identifier: Apache-2.0
#pragma once
// The BPF object of ebpf/capture.bpf.c, opened with some of its programs.
#include <bpf/libbpf.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ebpf/records.h" // before the skeleton, which uses its types

#include "capture.skel.h"
#include "profiler/capture/probes.h"
#include "profiler/failure.h"

namespace icepath::capture {

struct CloseBpfObject {
	void operator()(capture_bpf *bpf) const { capture_bpf__destroy(bpf); }
};
using BpfObject = std::unique_ptr<capture_bpf, CloseBpfObject>;

// Opens the object with these programs for loading, without loading it. Silences libbpf: the user gets one sentence.
// Throws Failure(Internal).
BpfObject open_bpf_object(const std::vector<Candidate> &wanted);

// The kernel gives up verifying a program once a signal is pending (EAGAIN, bpf_check()), such as the SIGSTOP that a
// user may send to the root helper. That says nothing about the program, so loading begins anew, this many times at
// most. Each time libbpf tries a program five times.
inline constexpr int kMostLoads = 5;

// Signals prevented the kernel's verdict each time.
class LoadInterrupted : public Failure {
public:
	LoadInterrupted();
};

// Loads the object that `open` returns. Returns the loaded object, or null with errno set. Throws LoadInterrupted.
BpfObject load_despite_signals(const std::function<BpfObject()> &open);

// Loads an object with `only` as its single program, once. Returns why the kernel refuses it, with the verifier's last
// words, or an empty text. Throws LoadInterrupted: a new object should be tried.
std::string why_not_loaded(capture_bpf *bpf, const Candidate &only);

// The last lines of a verifier's log without its statistics, as one line: the verifier's objection. Empty if there is
// none. A number that could be a part of a kernel address is "...": to a process with CAP_PERFMON the log shows
// pointers (allow_ptr_leaks), and its user mustn't learn them.
std::string verdict_of(std::string_view verifier_log);

bpf_program *program_of(const capture_bpf *bpf, const Candidate &candidate); // never null for one of kProbes
bpf_program *second_of(const capture_bpf *bpf, const Candidate &candidate); // null: it has none

// Those at its further functions that this kernel has.
std::vector<bpf_program *> beside(const capture_bpf *bpf, const Candidate &candidate);

// Whether the kernel's BTF has the tracepoint or function that the program names. A kprobe's function needn't be in
// BTF.
bool is_in_kernel(const Candidate &candidate);

} // namespace icepath::capture
