// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/bpf_object.h"

#include <bpf/btf.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "profiler/failure.h"

namespace icepath::capture {
namespace {

// libbpf would write pages to stderr.
void silence()
{
	libbpf_set_print([](enum libbpf_print_level, const char *, va_list) { return 0; });
}

// What a program is attached to, by its section: "tp_btf/sk_data_ready".
std::string target_of(const Candidate &candidate)
{
	static const BpfObject unloaded = open_bpf_object({});
	const std::string_view section = bpf_program__section_name(program_of(unloaded.get(), candidate));
	return std::string(section.substr(section.find('/') + 1));
}

// Read once, as it is parsed whole each time. Null where the kernel has none.
const btf *kernel_types()
{
	silence();
	static const std::unique_ptr<btf, decltype(&btf__free)> types(btf__load_vmlinux_btf(), &btf__free);
	return types.get();
}

} // namespace

BpfObject open_bpf_object(const std::vector<Candidate> &wanted)
{
	silence();
	BpfObject bpf(capture_bpf__open());
	if (!bpf)
		throw Failure(ExitCode::Internal, fmt::format("cannot open the BPF object: {}", std::strerror(errno)));
	for (bpf_program *program = nullptr; (program = bpf_object__next_program(bpf->obj, program));)
		bpf_program__set_autoload(program, false);
	for (const Candidate &candidate : wanted)
		bpf_program__set_autoload(program_of(bpf.get(), candidate), true);
	return bpf;
}

bpf_program *program_of(const capture_bpf *bpf, const Candidate &candidate)
{
	return bpf_object__find_program_by_name(bpf->obj, std::string(candidate.program).c_str());
}

bool is_in_kernel(const Candidate &candidate)
{
	if (candidate.tier == Tier::Kprobe)
		return true;
	// A tracepoint is the typedef of its handlers (include/trace/bpf_probe.h).
	const bool tracepoint = candidate.tier == Tier::Tracepoint;
	const std::string name = (tracepoint ? "btf_trace_" : "") + target_of(candidate);
	const btf *types = kernel_types();
	return types && btf__find_by_name_kind(types, name.c_str(), tracepoint ? BTF_KIND_TYPEDEF : BTF_KIND_FUNC) > 0;
}

} // namespace icepath::capture
