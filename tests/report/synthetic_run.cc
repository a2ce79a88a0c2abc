// SPDX-License-Identifier: Apache-2.0
#include "tests/report/synthetic_run.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "profiler/model/cell_title.h"
#include "profiler/rundir/container.h"

namespace icepath {
namespace {

using model::Block;
using model::Pattern;

constexpr uint64_t kWarmUp = 2;
constexpr std::array<uint64_t, 2> kSocketKeys = {11, 12};

// Records are written when what they describe has ended.
void number_records(model::SlotCapture &slot)
{
	std::ranges::stable_sort(slot.records, {}, &icepath_record::end_ns);
	slot.position = 0;
	for (icepath_record &record : slot.records)
		record.seq = slot.position++;
}

class Maker {
public:
	Maker(const model::Cell &cell, const BlockPlan &plan) : plan_(plan), now_(plan.begins_ns)
	{
		block_.cell = plan.cell;
		window_.round = plan.round;
		window_.probed = plan.probed;
		const bool pingpong = cell.pattern == Pattern::PingPong;
		block_.sides.resize(2);
		for (const model::Flow &flow : cell.graph.flows)
			block_.flows.push_back({kSocketKeys[flow.from], kSocketKeys[flow.to], {}, {}});
		for (size_t side = 0; side < 2; ++side) {
			block_.sides[side].tid = kTids[side];
			window_.threads.push_back(
				{kTids[side], static_cast<uint32_t>(side), "uds-stream " + model::side_name(cell, side)});
			block_.sides[side].usage.user_ns = 1000 * (plan.messages + kWarmUp);
			block_.sides[side].usage.system_ns = 3000 * (plan.messages + kWarmUp);
		}
		if (plan.probed)
			for (const int32_t cpu : {0, 1, -1})
				window_.slots.push_back({.cpu = cpu, .capacity = 1u << 16, .records = {}});
		window_.begin.monotonic_ns = now_ - 10000;
		idle_since_ = {now_ - 5000, now_ - 5000};
		for (uint64_t seq = 0; seq < plan.messages + kWarmUp; ++seq) {
			const uint64_t arrived = message(0, seq, now_);
			const uint64_t answered = pingpong ? message(1, seq, arrived + 500) : arrived;
			now_ = answered + 3000;
		}
		window_.finish.monotonic_ns = now_ + 10000;
		for (model::SlotCapture &slot : window_.slots)
			number_records(slot);
	}

	Block take()
	{
		block_.window = std::make_shared<model::Window>(std::move(window_));
		return std::move(block_);
	}

private:
	uint64_t message(size_t from, uint64_t seq, uint64_t t)
	{
		const size_t to = 1 - from;
		const uint64_t delay = plan_.delay_ns(seq, from);
		const uint32_t flags = seq < kWarmUp ? model::kStampWarmUp : 0;
		block_.flows[from].sends.push_back({seq, t, t, t + 200, 0, t + 1900, 1, flags, 0});
		const uint64_t ask = idle_since_[to], taken = t + 5000 + delay;
		block_.flows[from].recvs.push_back({seq, ask, 0, ask, taken, 0, taken + 300, 1, flags});
		idle_since_[from] = t + 2000;
		idle_since_[to] = taken + 400;
		if (!plan_.probed)
			return taken + 300;

		icepath_record ready = record(ICEPATH_RECORD_DATA_READY, from, kTids[from], t + 1200);
		ready.socket.socket = kSocketKeys[to];
		window_.slots[from].records.push_back(ready);
		icepath_record off = record(ICEPATH_RECORD_OFF_CPU, to, kTids[to], t + 4000 + delay);
		off.off.out_ns = ask + 100;
		off.off.waking_ns = t + 1500;
		off.off.wakeup_ns = t + 2500;
		off.off.waker_tid = kTids[from];
		off.off.out_cpu = static_cast<uint16_t>(to);
		window_.slots[to].records.push_back(off);
		if (delay > 0) {
			icepath_record run = record(ICEPATH_RECORD_FOREIGN_RUN, to, kHog, t + 3900 + delay);
			run.run.in_ns = t + 2600;
			std::strcpy(run.run.comm, "kworker/1:2");
			window_.slots[to].records.push_back(run);
		}
		return taken + 300;
	}

	static icepath_record record(icepath_record_type type, size_t cpu, uint32_t tid, uint64_t end_ns)
	{
		icepath_record made{};
		made.type = static_cast<uint8_t>(type);
		made.version = ICEPATH_RECORD_VERSION;
		made.bytes = sizeof made;
		made.tid = tid;
		made.cpu = static_cast<uint16_t>(cpu);
		made.end_ns = end_ns;
		return made;
	}

	const BlockPlan &plan_;
	Block block_;
	model::Window window_;
	uint64_t now_;
	std::array<uint64_t, 2> idle_since_{};
};

} // namespace

model::Cell socket_cell(Pattern pattern)
{
	model::Cell cell;
	cell.target = "uds-stream";
	cell.pattern = pattern;
	cell.graph = model::star(1, {0, 1}, model::Between::Processes, model::is_answered(pattern));
	cell.mechanisms = {model::Mechanism::Socket, model::Mechanism::SkbCopy};
	if (pattern == Pattern::OneWay)
		cell.rate_hz = 2000;
	return cell;
}

Block block_of(size_t flows)
{
	Block block;
	block.flows.resize(flows);
	block.sides.resize(2);
	return block;
}

Block make_block(const model::Cell &cell, const BlockPlan &plan) { return Maker(cell, plan).take(); }

Block with_samples(const Block &block, uint64_t one_in)
{
	const auto window = std::make_shared<model::Window>(*block.window);
	window->sample_period_ns = 250'000;
	window->functions = {"entry_SYSCALL_64", "sock_sendmsg", "kmalloc", "unlock", "library.so!take"};
	window->stacks = {{0, 1}, {0, 1, 2}, {0, 1, 3}, {4}};
	const auto add = [&](size_t side, uint64_t planned_ns, uint64_t handled_ns, uint32_t stack) {
		icepath_record record{};
		record.type = ICEPATH_RECORD_SAMPLE;
		record.version = ICEPATH_RECORD_VERSION;
		record.bytes = sizeof record;
		record.tid = kTids[side];
		record.cpu = static_cast<uint16_t>(side);
		record.end_ns = handled_ns;
		record.sample.planned_ns = planned_ns;
		record.sample.stack = stack;
		window->slots[side].records.push_back(record);
	};
	for (const model::BlockFlow &flow : block.flows) {
		const size_t from = flow.sender_key == kSocketKeys[0] ? 0 : 1;
		for (const model::SendStamp &send : flow.sends) {
			add(from, send.send_ns + 700, send.send_ns + 700, send.seq % one_in == 0 ? 2 : 1);
			add(from, send.send_ns + 1100, send.send_ns + 1300, 3);
		}
		for (const model::RecvStamp &recv : flow.recvs)
			add(1 - from, recv.recv_ns - 200, recv.recv_ns - 200, 4);
	}
	for (model::SlotCapture &slot : window->slots)
		number_records(slot);
	Block sampled = block;
	sampled.window = window;
	return sampled;
}

Block with_sleep_stacks(const Block &block)
{
	const auto window = std::make_shared<model::Window>(*block.window);
	const auto function = static_cast<uint32_t>(window->functions.size()),
			   stack = static_cast<uint32_t>(window->stacks.size());
	for (const char *name : {"app!main", "libc.so.6!recv", "unix_stream_read_generic", "schedule", "exc_page_fault",
							 "libc.so.6!send", "sock_sendmsg", "try_to_wake_up", "bpf_trace_run4", "[kernel]"})
		window->functions.emplace_back(name);
	const auto add_stack = [&](std::initializer_list<uint32_t> functions) {
		std::vector<uint32_t> &added = window->stacks.emplace_back();
		for (const uint32_t one : functions)
			added.push_back(function + one);
	};
	add_stack({0, 1, 2, 3, 8, 9});
	add_stack({0, 4, 3, 8, 9});
	add_stack({0, 5, 6, 7, 8});
	for (model::SlotCapture &slot : window->slots) {
		uint32_t sleeps = 0;
		std::vector<icepath_record> added;
		for (const icepath_record &off : slot.records) {
			if (off.type != ICEPATH_RECORD_OFF_CPU)
				continue;
			icepath_record record = off;
			std::memset(record.words, 0, sizeof record.words);
			record.type = ICEPATH_RECORD_SLEEP_STACK;
			record.end_ns = off.off.out_ns;
			record.sample.stack = stack + (sleeps++ % 3 == 2 ? 2 : 1);
			added.push_back(record);
			record.type = ICEPATH_RECORD_WAKER_STACK;
			record.end_ns = off.off.waking_ns;
			record.sample.stack = stack + 3;
			added.push_back(record);
		}
		slot.records.insert(slot.records.end(), added.begin(), added.end());
		number_records(slot);
	}
	Block with_stacks = block;
	with_stacks.window = window;
	return with_stacks;
}

model::Head small_head()
{
	model::Head head;
	head.icepath_version = "0.1.0";
	head.command_line = "icepath run -t uds-stream";
	head.started_utc = "2026-01-02T03:04:05Z";
	head.host.hostname = "box";
	head.host.kernel = "6.1.0-18-amd64";
	head.host.cpu_model = "Model One";
	head.host.cpus_online = 2;
	head.host.clocksource = "tsc";
	head.host.hypervisor = true;
	head.isolation.sender_cpu = 0;
	head.isolation.receiver_cpu = 1;
	head.isolation.why = "CPUs 0 and 1: two cores under one last-level cache";
	head.isolation.items = {{"timer_tick", false, "250 Hz on both CPUs",
							 "interrupts of some microseconds, four a millisecond at worst", "nohz_full=1"},
							{"clock", true, "tsc", "", ""}};
	head.probes = {{"sender.kernel", "sk_data_ready", "tracepoint"},
				   {"wakeup", "sched_waking", "tracepoint"},
				   {"runqueue", "sched_switch", "tracepoint"},
				   {"interrupt", "softirq_entry", "tracepoint"},
				   {"interrupt", "softirq_exit", "tracepoint"}};
	head.cells = {socket_cell(Pattern::PingPong), socket_cell(Pattern::OneWay)};
	return head;
}

// Of a long run, as of a real one: below, all blocks are of one opening.
constexpr uint32_t kFewRounds = 100, kRoundsOfOpening = 40;

void write_small_run(const std::string &directory, bool finish, uint32_t rounds, uint64_t apart_ns)
{
	const model::Head head = small_head();
	rundir::Writer writer(directory, head);
	for (uint32_t round = 0; round < rounds; ++round)
		for (uint32_t cell = 0; cell < 2; ++cell) {
			BlockPlan plan;
			plan.cell = cell;
			plan.round = round;
			plan.probed = round % 4 == 1 || round % 4 == 2;
			plan.begins_ns += (uint64_t{2} * round + cell) * apart_ns;
			plan.messages = 300;
			plan.delay_ns = [&](uint64_t seq, size_t from) -> uint64_t {
				if (round == 6 && cell == 0 && seq == 150 && from == 1)
					return 381'000;
				// Blocks differ a little, probed ones by 200 ns more, and one message in 50 waits longer.
				const uint64_t slow = 2000 + (rounds > 8 ? 200 * (seq / 50) : 0); // all blocks have the slowest
				return round * 10 + (plan.probed ? 200 : 0) + (seq % 50 == 7 ? slow : 0);
			};
			Block block = make_block(head.cells[cell], plan);
			if (rounds > kFewRounds)
				block.opening = round / kRoundsOfOpening;
			writer.add(block);
		}
	if (finish)
		writer.finish({"2026-01-02T03:04:15Z", false, rounds, {}});
}

} // namespace icepath
