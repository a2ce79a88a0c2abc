// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/misses.h"

#include <bpf/bpf.h>

#include <cstddef>
#include <cstring>

namespace icepath::capture {
namespace {

// The kprobe part of struct bpf_link_info, which headers before 6.7 lack.
struct KprobeLinkInfo {
	uint32_t type, id, program;
	alignas(8) uint32_t event;
	struct {
		uint64_t name_address;
		uint32_t name_bytes, offset;
		uint64_t address, missed, cookie;
	} kprobe;
};
static_assert(offsetof(KprobeLinkInfo, event) == 16 && offsetof(KprobeLinkInfo, kprobe.missed) == 48);

constexpr uint32_t kKprobe = 3, kKretprobe = 4; // enum bpf_perf_event_type

uint64_t missed_by_kprobe(const bpf_link *link)
{
	// The kernel fills as much as it knows and leaves the rest unchanged.
	union {
		bpf_link_info whole;
		KprobeLinkInfo of_kprobe;
		unsigned char bytes[256];
	} info{};
	std::memset(&info, 0, sizeof(info));
	__u32 size = sizeof(info);
	if (bpf_obj_get_info_by_fd(bpf_link__fd(link), &info, &size) || info.of_kprobe.type != BPF_LINK_TYPE_PERF_EVENT ||
		(info.of_kprobe.event != kKprobe && info.of_kprobe.event != kKretprobe))
		return 0;
	return info.of_kprobe.kprobe.missed;
}

} // namespace

uint64_t misses_of(const bpf_program *program, const bpf_link *link)
{
	bpf_prog_info info{};
	__u32 size = sizeof(info);
	const bool is_known = bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0;
	return (is_known ? info.recursion_misses : 0) + missed_by_kprobe(link);
}

} // namespace icepath::capture
