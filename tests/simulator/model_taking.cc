// SPDX-License-Identifier: Apache-2.0
// Taking a message: waits of each kind, and reads of one message or several.
#include "tests/simulator/model.h"

namespace icepath::simulator {

using model::Wait;

Co Model::wait_for_message(Link &link, std::optional<Doing> after_sleep)
{
	std::function<bool()> condition = [&link] { return !link.queue.empty(); };
	link.to_waits = true;
	co_await machine.wait_until(*link.to, condition, SleepFor::Message, after_sleep);
	link.to_waits = false;
}

Message &Model::dequeue(Link &link)
{
	Message &message = *link.queue.front();
	link.queue.pop_front();
	return message;
}

Co Model::receive_slot(Link &link, std::vector<Message *> &got)
{
	Task &self = *link.to;
	uint64_t ask = machine.now(), wait_return = 0;
	machine.doing(self, Doing::Looking);
	co_await machine.work(self, 3, 25);
	while (link.queue.empty()) {
		if (scenario.wait == Wait::Poll) {
			co_await machine.work(self, 3, 25);
			continue;
		}
		co_await machine.work(self, 5, 30);
		co_await wait_for_message(link, Doing::InCall);
		co_await machine.work(self, 5, 60);
		wait_return = machine.now();
		machine.doing(self, Doing::Looking);
		co_await machine.work(self, 2, 20);
	}
	if (scenario.transport == Transport::Bell && scenario.wait != Wait::Poll && wait_return == 0)
		wait_return = machine.now(); // it had already rung
	Message &message = dequeue(link);
	co_await machine.work(self, 1, 6);
	Leg &leg = message.legs[link.index];
	leg.ask = ask;
	leg.wait_return = wait_return;
	leg.observe = machine.now();
	machine.doing(self, Doing::After);
	got.push_back(&message);
}

Co Model::receive(Link &link, std::vector<Message *> &got)
{
	if (scenario.transport == Transport::Slot || scenario.transport == Transport::Bell) {
		co_await receive_slot(link, got);
		co_return;
	}
	Task &self = *link.to;
	const uint64_t ask = machine.now();
	uint64_t wait_return = 0, take_call = 0;
	if (scenario.wait == Wait::Poll) {
		machine.doing(self, Doing::Looking);
		co_await machine.work(self, 1, 10);
		for (;;) {
			take_call = machine.now();
			size_t since = machine.mark(self);
			co_await machine.work(self, 5, 50);
			if (!link.queue.empty()) {
				for (size_t i = since; i < self.log.size(); ++i)
					self.log[i].doing = Doing::InCall;
				self.doing = Doing::InCall;
				break;
			}
			co_await machine.work(self, 5, 60);
		}
	} else if (scenario.wait == Wait::Epoll) {
		machine.doing(self, Doing::InCall);
		co_await machine.work(self, 3, 40);
		co_await wait_for_message(link);
		co_await machine.work(self, 3, 60);
		wait_return = machine.now();
		machine.doing(self, Doing::WaitUser);
		co_await machine.work(self, 3, 40);
		take_call = machine.now();
		machine.doing(self, Doing::InCall);
		co_await machine.work(self, 5, 50);
	} else {
		machine.doing(self, Doing::WaitUser);
		co_await machine.work(self, 1, 8);
		take_call = machine.now();
		machine.doing(self, Doing::InCall);
		co_await machine.work(self, 3, 40);
		co_await wait_for_message(link);
	}
	do {
		Message &message = dequeue(link);
		got.push_back(&message);
		co_await machine.work(self, 5, 60);
		if (scenario.transport == Transport::Local || scenario.transport == Transport::Stream) {
			icepath_record record{};
			record.type = ICEPATH_RECORD_TAKEN;
			record.tid = self.tid;
			record.socket.bytes = kPayload;
			for (Message *one : got) { // the last copy of the read
				one->legs[link.index].taken = machine.now();
				one->legs[link.index].taken_record = machine.records.size();
			}
			machine.emit(self.cpu, record);
		}
		for (Link &other : links)
			if (&other.queue == &link.queue && other.from_waits)
				co_await machine.wake(self, *other.from, kNoMessage);
		co_await machine.work(self, 3, 30);
	} while (scenario.batches && !link.queue.empty() && machine.chance(0.7));
	if (scenario.locks && machine.chance(0.15))
		co_await machine.sleep_other(self, machine.any_wait_of_the_kernel());
	co_await machine.work(self, 5, 80);
	for (Message *message : got) {
		Leg &leg = message->legs[link.index];
		leg.ask = ask;
		leg.wait_return = wait_return;
		leg.take_call = take_call;
		leg.take_return = machine.now();
		leg.follows = message != got.front();
	}
	machine.doing(self, Doing::After);
}

Co Model::receive_by_wake(Link &link, std::vector<Message *> &got)
{
	Task &self = *link.to;
	uint64_t begin = machine.now();
	machine.doing(self, scenario.calls_known ? Doing::InCall : Doing::After);
	co_await machine.work(self, 5, 30);
	co_await wait_for_message(link);
	co_await machine.work(self, 5, 60);
	link.to_calls.push_back({begin, machine.now(), path::Call::Kind::ReadinessWait, {}});
	machine.doing(self, Doing::After);
	got.push_back(&dequeue(link));
}

} // namespace icepath::simulator
