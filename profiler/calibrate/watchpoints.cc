// SPDX-License-Identifier: Apache-2.0
#include "profiler/calibrate/watchpoints.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "calibration.skel.h"
#include "profiler/failure.h"
#include "profiler/stats/percentile.h"

namespace icepath::calibrate {
namespace {

constexpr int kAnchorTimes = 15;

Failure cannot(const char *what, int error)
{
	return Failure(ExitCode::MachineCannot,
				   fmt::format("cannot {} ({}): `icepath calibrate` needs root and a kernel with BTF and hardware "
							   "breakpoints (CONFIG_HAVE_HW_BREAKPOINT)",
							   what, std::strerror(error)));
}

} // namespace

Watchpoints::Watchpoints()
{
	// libbpf's messages are dropped: the user gets one sentence.
	libbpf_set_print([](enum libbpf_print_level, const char *, va_list) { return 0; });
	bpf_ = calibration_bpf__open_and_load();
	if (!bpf_)
		throw cannot("load the watchpoints' BPF programs", errno);
	try {
		store_anchor(0); // stores the anchor's address in anchor_at
		anchor_ = open(bpf_->bss->anchor_at, sizeof(uint64_t));
	} catch (...) {
		calibration_bpf__destroy(bpf_);
		throw;
	}
}

Watchpoints::~Watchpoints()
{
	close(word_);
	close(anchor_);
	calibration_bpf__destroy(bpf_);
}

void Watchpoints::store_anchor(size_t times)
{
	bpf_->bss->store_count = static_cast<uint32_t>(times);
	LIBBPF_OPTS(bpf_test_run_opts, options);
	if (const int error = bpf_prog_test_run_opts(bpf_program__fd(bpf_->progs.store_anchor), &options))
		throw cannot("run a BPF program", -error);
}

Watchpoints::Watch Watchpoints::open(uint64_t address, uint32_t bytes)
{
	perf_event_attr attributes{};
	attributes.size = sizeof(attributes);
	attributes.type = PERF_TYPE_BREAKPOINT;
	attributes.bp_type = HW_BREAKPOINT_W;
	attributes.bp_addr = address;
	attributes.bp_len = bytes;
	attributes.sample_period = 1;
	attributes.exclude_hv = 1;
	Watch watch;
	watch.event = Fd(static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
	if (!watch.event)
		throw cannot(errno == ENOSPC ? "watch: all hardware breakpoints are taken, perhaps by a debugger"
									 : "open a hardware breakpoint",
					 errno);
	watch.link = bpf_program__attach_perf_event(bpf_->progs.on_hit, watch.event.get());
	if (!watch.link)
		throw cannot("attach to a hardware breakpoint", errno);
	ioctl(watch.event.get(), PERF_EVENT_IOC_DISABLE, 0); // attaching enables it
	return watch;
}

void Watchpoints::close(Watch &watch)
{
	bpf_link__destroy(watch.link); // takes null
	watch = {};
}

void Watchpoints::watch(icepath_watched word, int fd)
{
	close(word_);
	bpf_->bss->wanted_tgid = static_cast<uint32_t>(getpid());
	bpf_->bss->wanted_fd = static_cast<uint32_t>(fd);
	bpf_->bss->wanted = word;
	bpf_->bss->word_at = 0;
	bpf_link *link = bpf_program__attach_iter(bpf_->progs.find_object, nullptr);
	const Fd iterator(link ? bpf_iter_create(bpf_link__fd(link)) : -1);
	char nothing[16];
	while (iterator && read(iterator.get(), nothing, sizeof(nothing)) > 0) {
	}
	bpf_link__destroy(link);
	if (bpf_->bss->word_at == 0)
		throw Failure(ExitCode::MachineCannot, "this kernel's queue has no such word to watch");
	word_ = open(bpf_->bss->word_at, bpf_->bss->word_bytes);
}

void Watchpoints::enable(bool enabled)
{
	for (const Watch *watch : {&anchor_, &word_})
		if (watch->event)
			ioctl(watch->event.get(), enabled ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void Watchpoints::forget_hits() { bpf_->bss->hit_count = 0; }

std::span<const uint64_t> Watchpoints::hits_ns() const
{
	return {reinterpret_cast<const uint64_t *>(bpf_->bss->hit_ns),
			std::min<size_t>(bpf_->bss->hit_count, ICEPATH_MOST_HITS)};
}

HitCost Watchpoints::cost_of(size_t hit, size_t hits)
{
	std::vector<double> before, after;
	for (int i = 0; i < kAnchorTimes; i++) {
		forget_hits();
		store_anchor(hits);
		const auto seen = hits_ns();
		if (seen.size() != hits || hit >= hits)
			continue;
		before.push_back(static_cast<double>(seen[hit] - bpf_->bss->before_ns));
		after.push_back(static_cast<double>(bpf_->bss->after_ns - seen[hit]));
	}
	forget_hits();
	if (before.empty())
		throw Failure(ExitCode::MachineCannot,
					  "this machine's hardware breakpoints on the kernel's words are not hit each time");
	return {stats::median(before), stats::median(after)};
}

} // namespace icepath::calibrate
