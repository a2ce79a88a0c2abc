// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/capture.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "ebpf/ends.h"
#include "icepath/plugin.h"
#include "profiler/capture/bpf_object.h"
#include "profiler/capture/call_kinds.h"
#include "profiler/capture/running_tasks.h"
#include "profiler/capture/skip_times.h"
#include "profiler/capture/timer_functions.h"
#include "profiler/failure.h"
#include "profiler/rundir/limits.h"

namespace icepath::capture {
namespace {

constexpr size_t kMaxCpus = sizeof(capture_bpf::rodata->slot_of_cpu);

void *mapped(const bpf_map *map, size_t bytes)
{
	void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (memory == MAP_FAILED)
		throw Failure(ExitCode::MachineCannot, fmt::format("cannot map the capture's slots: {}", std::strerror(errno)));
	return memory;
}

// One for each CPU of the run, then one for all others.
void set_slots(const std::vector<uint32_t> &cpus, capture_bpf &bpf)
{
	std::memset(const_cast<unsigned char *>(bpf.rodata->slot_of_cpu), static_cast<int>(cpus.size()), kMaxCpus);
	for (size_t i = 0; i < cpus.size(); i++) {
		if (cpus[i] >= kMaxCpus)
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("CPU {} is beyond the {} that the capture knows", cpus[i], kMaxCpus));
		bpf.rodata->slot_of_cpu[cpus[i]] = static_cast<unsigned char>(i);
	}
}

void set_keys(capture_bpf &bpf)
{
	std::array<uint64_t, 2> random{};
	static_assert(sizeof(capture_bpf::rodata->name_keys) == sizeof(random));
	if (getrandom(random.data(), sizeof(random), 0) != sizeof(random))
		throw Failure(ExitCode::MachineCannot, fmt::format("no random numbers: {}", std::strerror(errno)));
	std::memcpy(const_cast<unsigned long long *>(bpf.rodata->name_keys), random.data(), sizeof(random));
}

// Which system calls are of which kind.
void set_calls(capture_bpf &bpf)
{
	const CallKinds kinds = call_kinds();
	static_assert(sizeof(capture_bpf::rodata->call_kinds) == sizeof(kinds));
	std::memcpy(const_cast<unsigned char *>(bpf.rodata->call_kinds), kinds.data(), sizeof(kinds));
	const EventfdCalls eventfds = eventfd_calls();
	static_assert(sizeof(capture_bpf::rodata->eventfd_calls) == sizeof(eventfds));
	std::memcpy(const_cast<unsigned int *>(bpf.rodata->eventfd_calls), eventfds.data(), sizeof(eventfds));
}

// Read once: making its text takes the kernel tens of milliseconds.
void set_timers(capture_bpf &bpf)
{
	static const TimerFunctions functions = [] {
		std::ifstream file("/proc/kallsyms");
		return timer_functions(std::string(std::istreambuf_iterator<char>(file), {}));
	}();
	static_assert(sizeof(capture_bpf::rodata->timer_functions) == sizeof(functions));
	std::memcpy(const_cast<icepath_timer_function *>(bpf.rodata->timer_functions), functions.data(), sizeof(functions));
}

void throw_if_not_traced(const Selection &selection)
{
	for (size_t i = 0; i < kProbes.size(); i++)
		if (is_essential(kProbes[i]) && !selection[i].works)
			throw Failure(ExitCode::MachineCannot,
						  fmt::format("cannot trace {} ({}): run as root on a kernel with BTF, or see `icepath doctor`",
									  kProbes[i].name, selection[i].why_not));
}

} // namespace

Capture::Capture(const std::vector<uint32_t> &cpus, uint32_t records_per_slot, std::optional<Tier> forced,
				 std::optional<Owner> sampled, std::optional<Owner> owner, std::vector<Target> targets,
				 std::array<uint32_t, 2> own)
	: Capture(select_probes(forced), owner, std::move(targets), own)
{
	ProbeSet doubted = 0;
	try {
		load(cpus, records_per_slot, sampled);
		// A loaded program may still be refused at attaching, and a run must know its probes before it begins.
		doubted = refused_when_attached();
	} catch (const LoadInterrupted &) {
		throw;
	} catch (const Failure &) {
		doubted = ~ProbeSet{0};
	}
	if (doubted) { // try the doubtful probes one by one, and load those that work
		unload();
		try_again(doubted, forced);
		load(cpus, records_per_slot, sampled);
		if (refused_when_attached())
			throw_if_not_traced(selection_);
	}
	if (sampled)
		prepare_samples(cpus);
	if (!targets_.empty())
		mark_targets();
}

void Capture::try_again(ProbeSet probes, std::optional<Tier> forced)
{
	for (size_t i = 0; i < kProbes.size(); i++)
		if (probes & bit(i))
			selection_[i] = try_probe(i, forced);
	throw_if_not_traced(selection_);
}

BpfObject Capture::opened(const std::vector<uint32_t> &cpus, uint32_t records_per_slot, std::optional<Owner> sampled)
{
	std::vector<Candidate> programs;
	available_ = 0;
	for (size_t i = 0; i < kProbes.size(); i++)
		if (selection_[i].works) {
			programs.push_back(selection_[i].candidate);
			available_ |= bit(i);
		}
	BpfObject bpf = open_bpf_object(programs);
	slot_count_ = static_cast<uint32_t>(cpus.size()) + 1;
	const auto page = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
	const uint64_t wanted = sizeof(icepath_slot) + uint64_t{records_per_slot} * sizeof(icepath_record);
	slot_bytes_ = static_cast<uint32_t>((wanted + page - 1) / page * page);
	bpf_map__set_max_entries(bpf->maps.slots, slot_count_);
	bpf_map__set_value_size(bpf->maps.slots, slot_bytes_);
	bpf_map__set_max_entries(bpf->maps.fills, slot_count_);
	if (sampled) {
		bpf_program__set_autoload(bpf->progs.on_sample, true);
		stack_room_ = static_cast<uint32_t>(std::min(kStacksOfCpu * cpus.size() + kEventStacks, rundir::kMaxStacks));
		bpf->rodata->event_stack_room = kEventStacks;
		bpf_map__set_max_entries(bpf->maps.stacks, stack_room_);
		bpf_map__set_max_entries(bpf->maps.user_stacks, std::min(stack_room_, kMostUserStacks));
	}
	bpf->rodata->slot_capacity = records_per_slot;
	bpf->rodata->slot_count = slot_count_;
	bpf->rodata->compares_rights = owner_.has_value();
	if (const std::optional<Owner> user = owner_ ? owner_ : sampled) {
		bpf->rodata->user_id = user->user;
		bpf->rodata->group_id = user->group;
	}
	set_slots(cpus, *bpf);
	set_keys(*bpf);
	set_calls(*bpf);
	set_timers(*bpf);
	bpf_program__set_autoload(bpf->progs.on_sched_process_exec, compares_at_exec());
	bpf_program__set_autoload(bpf->progs.mark_running, !targets_.empty());
	bpf_program__set_autoload(bpf->progs.list_ends, !targets_.empty());
	if (!targets_.empty()) {
		bpf->rodata->rings = true;
		bpf_map__set_max_entries(bpf->maps.taken, slot_count_);
		bpf_map__set_max_entries(bpf->maps.ends, ICEPATH_ENDS);
	}
	bpf->rodata->target_count = static_cast<uint32_t>(targets_.size());
	for (size_t i = 0; i < targets_.size() && i < ICEPATH_TARGETS; i++)
		const_cast<icepath_rights &>(bpf->rodata->target_rights[i]) = targets_[i].might;
	std::memcpy(const_cast<unsigned int *>(bpf->rodata->own_tgids), own_.data(), sizeof(own_));
	return bpf;
}

void Capture::load(const std::vector<uint32_t> &cpus, uint32_t records_per_slot, std::optional<Owner> sampled)
{
	BpfObject bpf = load_despite_signals([&] { return opened(cpus, records_per_slot, sampled); });
	if (!bpf)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("cannot load the BPF programs{} ({}): {}", sampled ? " of a run with --stacks" : "",
								  std::strerror(errno),
								  errno == EMFILE   ? "raise the limit of open files (ulimit -Hn)"
								  : errno == EAGAIN ? "signals to the root helper interrupted it"
													: "run as root on a kernel with BTF; `icepath doctor` tries each"));
	slots_ = static_cast<uint8_t *>(mapped(bpf->maps.slots, size_t{slot_bytes_} * slot_count_));
	try {
		fills_ = static_cast<icepath_fill *>(mapped(bpf->maps.fills, sizeof(icepath_fill) * slot_count_));
	} catch (const Failure &) {
		unload();
		throw;
	}
	records_per_slot_ = records_per_slot;
	for (uint32_t i = 0; i < slot_count_; i++)
		reinterpret_cast<icepath_slot *>(slots_ + size_t{i} * slot_bytes_)->capacity = records_per_slot;
	bpf_ = bpf.release();
	if (!compares_at_exec())
		return;
	exec_link_ = bpf_program__attach(bpf_->progs.on_sched_process_exec);
	if (!exec_link_)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("cannot trace sched_process_exec ({}), so programs that gain rights would be watched",
								  std::strerror(errno)));
}

// To be called after the programs are loaded, so that the kernel's symbols include theirs.
void Capture::prepare_samples(const std::vector<uint32_t> &cpus)
{
	timers_ = std::make_unique<SamplingTimers>(bpf_program__fd(bpf_->progs.on_sample), cpus);
	stacks_ = static_cast<icepath_stack *>(mapped(bpf_->maps.stacks, sizeof(icepath_stack) * stack_room_));
	named_stacks_ = std::make_unique<NamedStacks>(stack_room_);
}

Capture::~Capture() { unload(); }

void Capture::unload()
{
	for (size_t i = 0; i < kProbes.size(); i++)
		detach_probe(i);
	bpf_link__destroy(std::exchange(exec_link_, nullptr));
	if (slots_)
		munmap(std::exchange(slots_, nullptr), size_t{slot_bytes_} * slot_count_);
	timers_.reset();
	if (stacks_)
		munmap(std::exchange(stacks_, nullptr), sizeof(icepath_stack) * stack_room_);
	if (fills_)
		munmap(std::exchange(fills_, nullptr), sizeof(icepath_fill) * slot_count_);
	capture_bpf__destroy(std::exchange(bpf_, nullptr)); // takes null
}

namespace {

Failure not_marked()
{
	return Failure(ExitCode::MachineCannot,
				   fmt::format("cannot mark a worker for the capture: {}", std::strerror(errno)));
}

} // namespace

void Capture::add_worker(int pidfd)
{
	if (!mark(pidfd, false))
		throw not_marked();
}

uint32_t Capture::follow(int pidfd, uint32_t family)
{
	if (!(available_ & bit(number_of("task_newtask"))))
		throw Failure(ExitCode::MachineCannot, "the threads of a process can't be followed here: " +
												   selection_[number_of("task_newtask")].why_not);
	if (family > families_)
		throw Failure(ExitCode::Internal, "a process was asked to join a family that doesn't exist");
	if (family == 0 && families_ + 1 >= ICEPATH_FAMILIES)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("more than {} processes can't be followed in one run", ICEPATH_FAMILIES - 1));
	icepath_task state{};
	state.family = static_cast<uint16_t>(family ? family : ++families_);
	attach(attached_);
	if (bpf_map_update_elem(bpf_map__fd(bpf_->maps.workers), &pidfd, &state, BPF_ANY))
		throw errno == ENOENT || errno == ESRCH
			? Failure(ExitCode::MachineCannot, "a process has ended before it could be watched")
			: not_marked();
	return state.family;
}

void Capture::mark_targets()
{
	// Each pass but the last marks at least one generation.
	constexpr int kMostPasses = 1000;
	for (const Target &target : targets_)
		(void)follow(target.pidfd);
	for (int pass = 0; pass < kMostPasses; pass++) {
		__atomic_store_n(&bpf_->bss->newly_marked, 0u, __ATOMIC_SEQ_CST);
		run_over_all(bpf_->progs.mark_running);
		if (__atomic_load_n(&bpf_->bss->newly_marked, __ATOMIC_SEQ_CST) == 0)
			return;
	}
	throw Failure(ExitCode::MachineCannot, "the programs start processes faster than these can be marked");
}

bool Capture::mark(int pidfd, bool in_block)
{
	icepath_task before{}, state{};
	if (bpf_map_lookup_elem(bpf_map__fd(bpf_->maps.workers), &pidfd, &before) == 0)
		state.family = before.family;
	state.in_block = in_block;
	if (bpf_map_update_elem(bpf_map__fd(bpf_->maps.workers), &pidfd, &state, BPF_ANY) == 0)
		return true;
	// A killed process keeps its number until it is reaped, its threads don't (pid_task()).
	if (errno == ENOENT || errno == ESRCH)
		return false;
	throw not_marked();
}

void Capture::add_socket(int socket_fd, uint64_t key)
{
	const icepath_socket mark{key};
	uint64_t cookie = 0;
	socklen_t size = sizeof(cookie);
	if (bpf_map_update_elem(bpf_map__fd(bpf_->maps.sockets), &socket_fd, &mark, BPF_ANY) ||
		getsockopt(socket_fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) ||
		bpf_map_update_elem(bpf_map__fd(bpf_->maps.keys_by_cookie), &cookie, &key, BPF_ANY))
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("cannot mark a socket for the capture: {}", std::strerror(errno)));
}

void Capture::watch_families(bool in_block)
{
	for (const uint32_t family : block_families_)
		__atomic_store_n(&bpf_->bss->family_in_block[family % ICEPATH_FAMILIES], in_block, __ATOMIC_SEQ_CST);
}

void Capture::begin_block(const std::vector<int> &worker_pidfds, const std::vector<uint32_t> &families,
						  uint64_t sample_period_ns)
{
	if (sample_period_ns != 0 &&
		(!timers_ || sample_period_ns < kShortestPeriodNs || sample_period_ns > kLongestPeriodNs))
		throw Failure(ExitCode::Internal, "a block was to be sampled without timers, or with a period out of range");
	for (const uint32_t family : families)
		if (family == 0 || family > families_)
			throw Failure(ExitCode::Internal, "a block names a family that doesn't exist");
	for (const int pidfd : worker_pidfds)
		(void)mark(pidfd, true); // if it has ended, its cell reports that
	block_families_ = families;
	__atomic_add_fetch(&bpf_->bss->block, 1u, __ATOMIC_SEQ_CST);
	watch_families(true);
	for (uint32_t i = 0; i < slot_count_; i++) {
		reinterpret_cast<icepath_slot *>(slots_ + size_t{i} * slot_bytes_)->position = 0;
		fills_[i].position = 0;
		const icepath_taken none{};
		if (!targets_.empty() && bpf_map_update_elem(bpf_map__fd(bpf_->maps.taken), &i, &none, BPF_ANY))
			throw Failure(ExitCode::MachineCannot, fmt::format("cannot empty the capture: {}", std::strerror(errno)));
	}
	std::memset(bpf_->bss->cpu_states, 0, sizeof(bpf_->bss->cpu_states));
	bpf_->bss->softirqs_away = 0;
	bpf_->bss->stacks_begun = 0;
	bpf_->bss->event_stacks_begun = 0;
	const uint64_t now_ns = icepath_now_ns();
	skips_.begin(now_ns, misses());
	block_workers_ = worker_pidfds;
	const uint32_t capturing = sample_period_ns != 0 ? ICEPATH_CAPTURING_STACKS : ICEPATH_CAPTURING;
	__atomic_store_n(&bpf_->bss->capturing, capturing, __ATOMIC_SEQ_CST);
	if (sample_period_ns != 0)
		timers_->start(sample_period_ns);
}

void Capture::look_for_skipped()
{
	const uint64_t begin_ns = icepath_now_ns();
	const Misses now = misses();
	skips_.look(begin_ns, icepath_now_ns(), now);
}

std::vector<SkippedPrograms> Capture::skipped_since()
{
	tell_losses();
	look_for_skipped();
	const std::vector<SkippedPrograms> skipped = skips_.skipped();
	skips_.begin(icepath_now_ns(), misses());
	return skipped;
}

uint32_t Capture::list_ends()
{
	if (targets_.empty())
		throw Failure(ExitCode::Internal, "what programs have open was to be listed, and none is watched");
	__atomic_store_n(&bpf_->bss->ends_found, 0u, __ATOMIC_SEQ_CST);
	run_over_all(bpf_->progs.list_ends);
	return __atomic_load_n(&bpf_->bss->ends_found, __ATOMIC_SEQ_CST);
}

std::vector<SkippedPrograms> Capture::end_block()
{
	if (timers_)
		timers_->stop();
	__atomic_store_n(&bpf_->bss->capturing, 0u, __ATOMIC_SEQ_CST);
	look_for_skipped();
	tell_losses();
	log_still_off();
	watch_families(false);
	for (const int pidfd : block_workers_)
		(void)mark(pidfd, false);
	if (named_stacks_)
		named_stacks_->name(stacks_, __atomic_load_n(&bpf_->bss->stacks_begun, __ATOMIC_SEQ_CST));
	return skips_.skipped();
}

uint32_t Capture::unwatched_tasks() const { return __atomic_load_n(&bpf_->bss->barred_tasks, __ATOMIC_SEQ_CST); }

int Capture::slots_fd() const { return bpf_map__fd(bpf_->maps.slots); }

int Capture::fills_fd() const { return bpf_map__fd(bpf_->maps.fills); }

int Capture::taken_fd() const { return bpf_map__fd(bpf_->maps.taken); }

int Capture::ends_fd() const { return bpf_map__fd(bpf_->maps.ends); }

int Capture::user_stacks_fd() const { return bpf_map__fd(bpf_->maps.user_stacks); }

bool Capture::uses_perf_events() const
{
	return std::ranges::any_of(selection_,
							   [](const Trial &trial) { return trial.works && trial.candidate.tier == Tier::Kprobe; });
}

} // namespace icepath::capture
