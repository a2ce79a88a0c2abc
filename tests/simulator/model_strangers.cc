// SPDX-License-Identifier: Apache-2.0
// Datagrams that carry no message, as DDS participants send each other: by threads of the library to a socket of one of
// them and elsewhere, and by programs that the capture doesn't watch to that socket.
#include "tests/simulator/model.h"

namespace icepath::simulator {

namespace {

constexpr uint64_t kReadersSocket = 0xc000, kSendersSockets = 0xd000;
constexpr uint32_t kStrangersTid = 820;
constexpr uint32_t kReceiving = 3; // NET_RX
constexpr unsigned kHeartbeatSenders = 2;

} // namespace

// The receive softirq. 0 bytes: it goes to a socket that isn't of the run.
std::function<Co(Interrupt &)> Model::arrival(uint64_t bytes)
{
	return [this, bytes](Interrupt &self) -> Co {
		co_await machine.work(self, 5, 60);
		if (bytes != 0) {
			heartbeats_.push_back(bytes);
			co_await machine.work(self, 3, 40);
			icepath_record record{};
			record.type = ICEPATH_RECORD_DATA_READY;
			record.context = machine.context(self.cpu);
			record.tid = machine.current_tid(self.cpu);
			record.socket.socket = kReadersSocket;
			machine.emit(self.cpu, record);
			co_await machine.work(self, 2, 20);
			if (heartbeat_reader_waits_)
				co_await machine.wake(self, *heartbeat_reader_, kNoMessage);
		}
		co_await machine.work(self, 3, 30);
	};
}

Co Model::heartbeat_sender(Task &self, uint64_t socket)
{
	for (;;) {
		uint64_t begin = begin_call(self);
		co_await machine.work(self, 5, 40);
		co_await machine.sleep_other(self, SleepFor::Timer);
		co_await machine.work(self, 5, 40);
		end_call(self, begin, ICEPATH_CALL_OTHER, 0, 0);
		co_await machine.work(self, 20, 2000);
		begin = begin_call(self);
		co_await machine.work(self, 10, 80);
		const uint64_t bytes = machine.between(1, 20);
		self.irqs_off = true; // it doesn't lose its CPU until the softirq
		icepath_record record{};
		record.type = ICEPATH_RECORD_DEVICE_QUEUE;
		record.tid = self.tid;
		record.socket.socket = socket;
		record.socket.bytes = static_cast<uint32_t>(bytes);
		machine.emit(self.cpu, record);
		co_await machine.work(self, 5, 50);
		self.irqs_off = false;
		machine.softirq_now(self.cpu, kReceiving, arrival(machine.chance(0.5) ? bytes : 0));
		co_await machine.work(self, 5, 60);
		end_call(self, begin, ICEPATH_CALL_GIVE, socket, static_cast<int64_t>(bytes));
	}
}

Co Model::heartbeat_reader(Task &self)
{
	std::function<bool()> condition = [this] { return !heartbeats_.empty(); };
	for (;;) {
		const uint64_t begin = begin_call(self);
		co_await machine.work(self, 5, 60);
		heartbeat_reader_waits_ = true;
		co_await machine.wait_until(self, condition, SleepFor::Message);
		heartbeat_reader_waits_ = false;
		const uint64_t bytes = heartbeats_.front();
		heartbeats_.pop_front();
		co_await machine.work(self, 10, 100);
		end_call(self, begin, ICEPATH_CALL_TAKE, kReadersSocket, static_cast<int64_t>(bytes));
		co_await machine.work(self, 5, 200);
	}
}

void Model::stranger_sends()
{
	const std::function<Co(Task &)> program = [this](Task &self) -> Co {
		co_await machine.work(self, 20, 200);
		machine.softirq_now(self.cpu, kReceiving, arrival(machine.between(1, 20)));
		co_await machine.work(self, 20, 200);
	};
	machine.foreign(static_cast<uint16_t>(machine.between(0, outside())), kStrangersTid, program);
}

// The threads are of any process of the way.
void Model::add_strangers()
{
	const auto some_process = [this] { return process_of[threads[machine.between(0, threads.size() - 1)]->tid]; };
	uint32_t tid = threads.back()->tid + 2;
	heartbeat_reader_ = &machine.add_library_thread(tid, outside());
	process_of[tid] = some_process();
	machine.start(*heartbeat_reader_, heartbeat_reader(*heartbeat_reader_));
	for (unsigned i = 0; i < kHeartbeatSenders; ++i) {
		const auto cpu = static_cast<uint16_t>(machine.between(0, outside()));
		Task &thread = machine.add_library_thread(++tid, cpu);
		process_of[tid] = some_process();
		machine.start(thread, heartbeat_sender(thread, kSendersSockets + i));
	}
}

} // namespace icepath::simulator
