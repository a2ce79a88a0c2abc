// SPDX-License-Identifier: Apache-2.0
#include "tests/simulator/seen.h"

#include <algorithm>
#include <set>

#include "icepath/plugin.h"
#include "profiler/decode/decode.h"
#include "profiler/decode/log.h"
#include "profiler/path/timeline.h"

namespace icepath::simulator {
namespace {

using model::Wait;

class Capture {
public:
	explicit Capture(Model &model) : model_(model) {}

	model::Block block(const Damage &damage)
	{
		model::Block block;
		std::set<size_t> lost;
		const auto window = std::make_shared<model::Window>();
		block.window = window;
		window->probed = true;
		window->begin.monotonic_ns = 900;
		window->finish.monotonic_ns = model_.machine.now();
		window->slots = slots(damage, lost);
		window->skipped = skipped_;
		window->times_throttled = model_.machine.ever_throttled ? 1 : 0;
		std::vector<Task *> sides = model_.scenario.senders > 1 ? model_.threads : model_.chain(0);
		if (model_.scenario.library)
			sides = {sides.front(), sides.back()};
		const auto made_by = [&](const Task *thread) {
			return model_.scenario.callback ? model::by_thread(thread->tid) : 0;
		};
		const uint32_t sent_by = made_by(sides.front()), received_by = made_by(sides.back());
		if (model_.scenario.callback)
			sides = model_.sleepers;
		for (const Task *side : sides) {
			block.sides.emplace_back().tid = side->tid;
			window->threads.push_back({side->tid, side->cpu, {}});
		}
		for (unsigned flow = 0; flow < model_.flows(); ++flow) {
			block.flows.push_back({model_.links[flow].sender_key, model_.links[flow].receiver_key, {}, {}});
			const bool library = model_.scenario.library;
			for (const Message *message : model_.sent[flow]) {
				if (message->send == 0)
					continue;
				const Leg &leg = message->legs[0];
				block.flows[flow].sends.push_back({message->seq, message->send, message->send,
												   library ? message->library_call : leg.call, leg.publish,
												   library ? message->library_return : leg.call_return, 1,
												   (message->warm_up ? model::kStampWarmUp : 0) | sent_by, 0});
			}
			uint64_t last_recv = 0;
			for (const Message *message : model_.received[flow]) {
				const Leg &leg = message->legs[0];
				if (library) {
					block.flows[flow].recvs.push_back({message->seq, message->library_ask, 0, message->library_ask,
													   message->library_took, 0, message->recv, 1,
													   (message->warm_up ? model::kStampWarmUp : 0) | received_by});
					continue;
				}
				uint64_t ask = leg.follows ? last_recv : leg.ask; // as a plug-in asks for what it already has
				block.flows[flow].recvs.push_back({message->seq, ask, leg.follows ? 0 : leg.wait_return, leg.take_call,
												   leg.take_return, leg.observe, message->recv, 1,
												   message->warm_up ? model::kStampWarmUp : 0});
				last_recv = message->recv;
			}
		}
		return block;
	}

	path::Observations chain(const Damage &damage)
	{
		path::Observations seen;
		std::set<size_t> lost;
		seen.begin_ns = 900;
		seen.end_ns = model_.machine.now();
		for (const Task *task : model_.threads) {
			path::Thread &thread = seen.threads[task->tid];
			thread.tid = task->tid;
			thread.first_cpu = task->cpu;
		}
		seen.throttled = model_.machine.ever_throttled;
		decode::read_log(slots(damage, lost), seen);
		for (const model::SkippedPrograms &some : skipped_)
			seen.lost.push_back({some.begin_ns, some.end_ns, 1});
		for (const auto &[tid, calls] : model_.futex_calls)
			seen.threads[tid].calls.insert(seen.threads[tid].calls.end(), calls.begin(), calls.end());
		for (const Link &link : model_.links) {
			if (link.edge != Edge::Wake || !model_.scenario.calls_known)
				continue;
			auto &from = seen.threads[link.from->tid].calls, &to = seen.threads[link.to->tid].calls;
			from.insert(from.end(), link.from_calls.begin(), link.from_calls.end());
			to.insert(to.end(), link.to_calls.begin(), link.to_calls.end());
		}
		for (const Message &message : model_.messages) // includes lost messages
			for (const Link &link : model_.links) {
				const Leg &leg = message.legs[link.index];
				if (link.edge == Edge::Transfer && leg.call != 0 && leg.call_return != 0)
					seen.threads[link.from->tid].calls.push_back(
						{leg.call, leg.call_return, path::Call::Kind::Send, {}});
			}
		for (auto &[tid, thread] : seen.threads)
			std::ranges::sort(thread.calls, {}, &path::Call::begin_ns);
		for (const Message *message : model_.sent[0]) {
			for (const Link &link : model_.links) {
				const Leg &leg = message->legs[link.index];
				if (link.edge != Edge::Transfer || (leg.take_return == 0 && leg.observe == 0))
					continue;
				path::Transfer transfer;
				transfer.message = message->id;
				transfer.from = link.from->tid;
				transfer.to = link.to->tid;
				transfer.call = mark(leg.call);
				transfer.through_device =
					model_.scenario.transport == Transport::Stream || model_.scenario.transport == Transport::Datagram;
				transfer.call_return = mark(leg.call_return);
				const bool in_slot = model_.scenario.transport == Transport::Slot;
				if (in_slot)
					transfer.by = path::BySlot{mark(leg.publish), leg.call};
				if (!lost.contains(leg.device_record))
					transfer.device = mark(leg.device);
				if (!lost.contains(leg.ready_record)) {
					transfer.ready = mark(leg.ready);
					transfer.ready_tid = leg.ready_tid;
					transfer.ready_context = leg.ready_context;
					transfer.ready_in_softirq = leg.ready_context != ICEPATH_CONTEXT_TASK;
					transfer.ready_interrupt = number_of(seen, leg.ready_interrupt, lost);
					if (transfer.ready_interrupt)
						tell_announcer(seen, leg, transfer);
				}
				transfer.device_interrupt = number_of(seen, leg.device_interrupt, lost);
				transfer.ask = *mark(leg.ask);
				transfer.polls = model_.scenario.wait == Wait::Poll;
				transfer.wait_return = mark(leg.wait_return);
				transfer.take_call = mark(leg.take_call);
				transfer.take_return = mark(leg.take_return);
				transfer.taken = mark(in_slot || model_.scenario.transport == Transport::Bell ? leg.observe
									  : lost.contains(leg.taken_record)                       ? 0
																							  : leg.taken);
				transfer.follows_in_read = leg.follows;
				if (model_.scenario.calibrated)
					transfer.shares = {static_cast<double>(message->id % 5) / 4,
									   static_cast<double>(message->id % 3) / 2};
				seen.transfers.push_back(transfer);
			}
			if (message->recv != 0 && !message->warm_up)
				seen.deliveries.push_back({message->id, model_.threads.front()->tid, model_.threads.back()->tid,
										   *mark(message->send), *mark(message->recv)});
		}
		return seen;
	}

private:
	std::vector<model::SlotCapture> slots(const Damage &damage, std::set<size_t> &lost)
	{
		std::vector<model::SlotCapture> all(model_.outside() + 1);
		std::vector<std::vector<size_t>> order(all.size());
		for (size_t i = 0; i < model_.machine.records.size(); ++i) {
			uint16_t cpu = model_.machine.records[i].cpu;
			order[model_.machine.cpu(cpu).of_worker ? cpu : model_.outside()].push_back(i);
		}
		for (size_t slot = 0; slot < all.size(); ++slot) {
			all[slot].cpu = slot == model_.outside() ? -1 : static_cast<int32_t>(slot);
			auto &numbers = order[slot];
			if (damage.delay) { // numbered up to three places late
				std::vector<std::pair<size_t, size_t>> keyed;
				for (size_t i = 0; i < numbers.size(); ++i)
					keyed.emplace_back(i + (model_.machine.chance(0.2) ? model_.machine.between(0, 3) : 0), numbers[i]);
				std::ranges::stable_sort(keyed, {}, [](const auto &pair) { return pair.first; });
				for (size_t i = 0; i < numbers.size(); ++i)
					numbers[i] = keyed[i].second;
			}
			std::erase_if(numbers, [&](size_t number) { return is_skipped(number, damage, lost); });
			size_t capacity =
				damage.tail && model_.machine.chance(0.5) ? model_.machine.between(0, numbers.size()) : numbers.size();
			for (size_t i = 0; i < numbers.size(); ++i) {
				if (i >= capacity || (damage.lose > 0 && model_.machine.chance(damage.lose))) {
					lost.insert(numbers[i]);
					continue;
				}
				icepath_record record = model_.machine.records[numbers[i]];
				record.seq = static_cast<uint32_t>(i);
				all[slot].records.push_back(record);
			}
			all[slot].position = static_cast<uint32_t>(numbers.size());
			all[slot].capacity = static_cast<uint32_t>(capacity);
			if (damage.shuffle)
				std::ranges::shuffle(all[slot].records, model_.machine.random);
		}
		model_.machine.lost = lost;
		return all;
	}

	// Whether its program was skipped, which leaves no gap: the kernel's counts show it within some time around it.
	bool is_skipped(size_t number, const Damage &damage, std::set<size_t> &lost)
	{
		const icepath_record &record = model_.machine.records[number];
		const bool is_of_an_instant = record.type == ICEPATH_RECORD_DATA_READY || record.type == ICEPATH_RECORD_TAKEN ||
									  record.type == ICEPATH_RECORD_ENQUEUED;
		if (!is_of_an_instant || damage.skip == 0 || !model_.machine.chance(damage.skip))
			return false;
		lost.insert(number);
		skipped_.push_back(
			{record.end_ns - model_.machine.between(0, 500), record.end_ns + model_.machine.between(0, 500), 1});
		return true;
	}

	static std::optional<path::Mark> mark(uint64_t at_ns)
	{
		return at_ns ? std::optional(path::Mark{at_ns, {}, path::Provenance::Exact}) : std::nullopt;
	}

	void tell_announcer(const path::Observations &seen, const Leg &leg, path::Transfer &transfer) const
	{
		const uint16_t cpu = model_.machine.records[leg.ready_record].cpu;
		const path::Interrupt *around = path::outermost_around(seen, cpu, leg.ready);
		if (!around)
			return;
		transfer.announced_until_ns = path::end_of(seen, cpu, *around);
		transfer.announcer_lost_cpu = around->goes_on;
	}

	// The walk's number of an interrupt, assigned by the log's reader.
	std::optional<uint32_t> number_of(const path::Observations &seen, int interrupt, const std::set<size_t> &lost) const
	{
		if (interrupt < 0 || !model_.machine.interrupt_record[interrupt] ||
			lost.contains(*model_.machine.interrupt_record[interrupt]))
			return {};
		const icepath_record &record = model_.machine.records[*model_.machine.interrupt_record[interrupt]];
		if (auto cpu = seen.cpus.find(record.cpu); cpu != seen.cpus.end())
			for (const path::Interrupt &one : cpu->second.interrupts)
				if (one.begin_ns == record.interrupt.begin_ns && one.end_ns == record.end_ns)
					return one.record;
		return {};
	}

	Model &model_;
	std::vector<model::SkippedPrograms> skipped_;
};

} // namespace

model::Block block_of(Model &model, const Damage &damage) { return Capture(model).block(damage); }

path::Observations chain_of(Model &model, const Damage &damage) { return Capture(model).chain(damage); }

model::Cell cell_of(const Scenario &scenario)
{
	model::Cell cell;
	cell.pattern = scenario.pingpong      ? model::Pattern::PingPong
				   : scenario.senders > 1 ? model::Pattern::FanIn
										  : model::Pattern::OneWay;
	cell.wait = scenario.callback ? model::Wait::Callback : scenario.wait;
	cell.payload_bytes = kPayload;
	cell.graph = model::star(scenario.senders, std::vector<uint32_t>(scenario.senders + 1),
							 scenario.one_thread ? model::Between::OneThread : model::Between::Processes,
							 model::is_answered(cell.pattern));
	if (scenario.library) {
		cell.mechanisms = {model::Mechanism::LibraryCalls, model::Mechanism::LibraryThreads};
		return cell;
	}
	switch (scenario.transport) {
	case Transport::Local:
		cell.mechanisms = {model::Mechanism::Socket, model::Mechanism::SkbCopy};
		break;
	case Transport::Stream:
		cell.mechanisms = {model::Mechanism::Socket, model::Mechanism::NetworkDevice, model::Mechanism::ByteStream,
						   model::Mechanism::SkbCopy};
		break;
	case Transport::Datagram:
		cell.mechanisms = {model::Mechanism::Socket, model::Mechanism::NetworkDevice};
		break;
	case Transport::Queue:
		cell.mechanisms = {model::Mechanism::MessageQueue};
		break;
	case Transport::Slot:
		cell.mechanisms = {model::Mechanism::UserSlot};
		break;
	case Transport::Bell:
		cell.mechanisms = {model::Mechanism::UserSlot, model::Mechanism::Bell};
		break;
	}
	return cell;
}

path::Observations Simulation::observe(const Damage &damage)
{
	if (!model_.scenario.alone() && !model_.scenario.library)
		return chain_of(model_, damage);
	return decode::observations_of(block(damage), cell());
}

} // namespace icepath::simulator
