// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/skip_times.h"

#include <bpf/libbpf.h>

#include <bpf/bpf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace icepath::capture {

void SkipTimes::begin(uint64_t now_ns, Misses misses)
{
	looked_ns_ = now_ns;
	misses_ = misses;
	skipped_.clear();
}

void SkipTimes::add(uint64_t count, uint64_t end_ns)
{
	if (count == 0)
		return;
	if (!skipped_.empty() && (looked_ns_ <= skipped_.back().end_ns || skipped_.size() == kMostSkipTimes)) {
		skipped_.back().end_ns = std::max(skipped_.back().end_ns, end_ns);
		skipped_.back().count += count;
	} else {
		skipped_.push_back({looked_ns_, end_ns, count});
	}
}

void SkipTimes::look(uint64_t begin_ns, uint64_t end_ns, Misses misses)
{
	if (misses.of_an_instant < misses_.of_an_instant || misses.lasting < misses_.lasting)
		return; // a count couldn't be read; the next look will show it
	add(misses.of_an_instant - misses_.of_an_instant, end_ns);
	add(misses.lasting - misses_.lasting, UINT64_MAX);
	// A skip while the counts are read may belong to this look or the next.
	looked_ns_ = begin_ns;
	misses_ = misses;
}

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
