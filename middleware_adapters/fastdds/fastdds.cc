// SPDX-License-Identifier: Apache-2.0
// eProsima Fast DDS, with its DDS API and a type of our own: as many octets as a message has. DataWriter::write() puts
// the message into the writer's history and sends it in the sender's thread. A thread of the receiver's participant
// takes it from the transport, and copies it into the reader's history. Then it triggers the WaitSet on which the
// receiver sleeps (epoll), or calls a listener: that takes the message and hands it to the side's handler there
// (callback), or, as udp-listener, wakes the receiver by a bell. The same threads return the acknowledgement. cancel()
// triggers a GuardCondition in the WaitSet, or rings as the listener does. Only a lease, which takes seconds, reports a
// participant's death, so this adapter watches the process.
//
// A handler may write, as the library's own LatencyTest does. But its thread reads no acknowledgement meanwhile: a
// write that waits for one, because the history is full, waits in vain until max_blocking_time (DataWriterHistory's
// prepare_change()). Acknowledgements are requested every 20 ms, so a ping-pong that keeps all messages gets there, and
// by epoll waits for some milliseconds. So a side that answers keeps the last message (qos_where_answered()), as
// LatencyTest does: the new one takes the place of the old one without waiting. A handler with another history, by
// --qos, may hang, and its block is cancelled.
//
// Within a process the library passes a message on by itself unless that is switched off, as it is for all targets but
// fastdds/intraprocess: write() puts it into the reader's history and triggers the WaitSet. It would call a listener
// too, in the sender's thread and within its write(): an answer from there would call the sender's own listener, again
// within that write(). So it is awaited in a WaitSet only. A message for which the reader's history has no room is
// lost, reliable or not: the receiver waits, and the writer, whose history fills up, too (2.9.1). So there is a window
// as well.
//
// With data-sharing the history lies in memory that the reader maps: a message is built there (loan_sample) and read
// there (take with a loan). The writer notifies a thread of the reader through a condition variable in shared memory;
// only acknowledgements use the transport. Known problems (2.9.1):
//
//  - A reader acknowledges a sample while it takes it, before anything has read it (ReadTakeCommand calls
//    end_sample_access_nts() first, then checks whether the payload is still that sample's). A writer that waited for
//    room overwrites it at once: a lent sample changes, and a copied one is dropped without an error ("is overidden"),
//    reliable or not. Of 4 MiB messages in a history of two, 8 to 18 of 100 were lost. Nor is an acknowledgement
//    repeated. So there is a window (send_window.h): payloads are used in turn, and the history has room for more of
//    them than the window.
//  - A process killed while it notifies a reader leaves a lock taken. The reader's thread gives up after a second with
//    an exception that nobody catches. So the receiver checks for its peer's death more often than that.
#include "middleware_adapters/fastdds/participant.h"
#include "plugin_kit/library.h"
#include "plugin_kit/ring_wait.h"
#include "plugin_kit/send_window.h"
#include <fastdds/dds/core/condition/GuardCondition.hpp>
#include <fastdds/dds/core/condition/StatusCondition.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>

using namespace icepath::plugin_kit;

namespace {

constexpr uint64_t kLargest = 4 * 1024 * 1024;
constexpr int kQueued = 256;
const eprosima::fastrtps::Duration_t kLook(0, 200'000'000u); // checks for the peer's death, with data-sharing
constexpr int kBeyondWindow = 2; // an acknowledgement may be lost: the next one covers both

struct Variant {
	icepath_target target;
	FastWay way;
	bool rings; // a listener wakes the receiver
};

icepath_target described(const char *name, const char *summary, uint32_t waits)
{
	icepath_target it = relayed_target(name, summary, waits, kLargest,
									   "icepath's participants have room for two messages of 4 MiB in flight");
	it.qos = kEveryPolicy;
	return it;
}

icepath_target by_shared_memory(icepath_target it)
{
	it.mechanisms |= ICEPATH_USES_SHARED_MEMORY;
	return it;
}

icepath_target windowed(icepath_target it)
{
	it.qos = 0; // the window needs a history that keeps all
	return it;
}

icepath_target lending(icepath_target it)
{
	it.capabilities |= ICEPATH_CAN_LOAN;
	return windowed(it);
}

icepath_target within_process(icepath_target it)
{
	it.mechanisms = ICEPATH_USES_LIBRARY_CALLS; // no thread of the library is on the way
	it.capabilities |= ICEPATH_WITHIN_PROCESS;
	return windowed(it);
}

constexpr uint32_t kAwaited = ICEPATH_WAIT_EPOLL, kAwaitedOrHandled = kAwaited | ICEPATH_WAIT_CALLBACK;

const Variant kVariants[] = {
	{by_shared_memory(described("fastdds/shm",
								"Fast DDS by its shared-memory transport, reliable; awaited in a WaitSet, or handled "
								"in a listener",
								kAwaitedOrHandled)),
	 FastWay::SharedMemory, false},
	{lending(by_shared_memory(described("fastdds/data-sharing",
										"Fast DDS by data-sharing: lent out of the writer's history, which readers map",
										kAwaited))),
	 FastWay::DataSharing, false},
	{described("fastdds/udp",
			   "Fast DDS by UDP on 127.0.0.1, reliable; FASTRTPS_DEFAULT_PROFILES_FILE is read of an arm (--arm) only; "
			   "awaited in a WaitSet, or "
			   "handled in a listener",
			   kAwaitedOrHandled),
	 FastWay::Udp, false},
	{described("fastdds/udp-listener",
			   "as fastdds/udp, but a listener wakes the receiver, which takes the message itself", kAwaited),
	 FastWay::Udp, true},
	{within_process(described("fastdds/intraprocess",
							  "Fast DDS within a process: the sender writes into the reader's history", kAwaited)),
	 FastWay::Intraprocess, false},
};

const icepath_target *target(uint32_t n) { return n < std::size(kVariants) ? &kVariants[n].target : nullptr; }

const Variant &variant_of(const icepath_target &what)
{
	return *std::ranges::find(kVariants, std::string_view(what.name), [](const Variant &it) { return it.target.name; });
}

// Calls the side's handler, or rings.
class Listener : public fast::DataReaderListener {
public:
	explicit Listener(icepath_endpoint &end) : end_(end) {}
	DataBell bell;

private:
	void on_data_available(fast::DataReader *reader) override;
	icepath_endpoint &end_;
};

} // namespace

struct icepath_endpoint : WindowedEnd {
	icepath_endpoint(const icepath_open &how, const icepath_target &what)
		: WindowedEnd(how, what), variant(variant_of(what)),
		  setup{variant.way, how.payload_bytes,
				has_window() ? static_cast<int>(window) + kBeyondWindow : queue_length(how, kQueued),
				variant.rings || is_handled() ? &listener : nullptr, has_window() ? how.qos : qos_where_answered(how)},
		  handler(how.handler), handed(is_handled() ? how.payload_bytes : 0)
	{}
	~icepath_endpoint() override
	{
		if (out_loan) // otherwise nothing can be deleted
			dds.writer->discard_loan(out_loan);
		if (!in_loan.has_ownership())
			dds.reader->return_loan(in_loan, in_infos);
	}
	bool shares_data() const { return variant.way == FastWay::DataSharing; }
	bool has_window() const { return shares_data() || variant.way == FastWay::Intraprocess; }
	bool is_handled() const { return wait == ICEPATH_WAIT_CALLBACK; }

	const Variant &variant;
	Listener listener{*this};
	const FastSetup setup;
	const icepath_handler handler;
	std::vector<uint8_t> handed; // the message that the handler gets
	fast::GuardCondition over; // outlives the WaitSet
	FastParticipant dds;
	fast::WaitSet wait_set;
	void *out_loan = nullptr;
	fast::LoanableSequence<uint8_t> in_loan;
	fast::SampleInfoSeq in_infos;
};

namespace {

int failed(icepath_endpoint &end, const char *call, ReturnCode_t status)
{
	if (end.a_peer_has_ended())
		return end.end_of_cancelled();
	return end.sentence.tell(ICEPATH_FAILED, "%s: %s failed: return code %u", end.target, call, status());
}

// A killed reader may have held a lock in the shared memory. The library gives up after a second, with an exception.
template <class Call> ReturnCode_t end_of(Call call)
{
	try {
		return call();
	} catch (const std::exception &) {
		return ReturnCode_t::RETCODE_ERROR;
	}
}

int join(icepath_endpoint &end, const std::string &channel)
{
	if (const int status = end.dds.join(end, channel, end.setup); status != ICEPATH_OK)
		return status;
	if (!end.receives || end.setup.listener)
		return ICEPATH_OK;
	fast::StatusCondition &there = end.dds.reader->get_statuscondition();
	there.set_enabled_statuses(fast::StatusMask::data_available());
	if (end.wait_set.attach_condition(there) != ReturnCode_t::RETCODE_OK ||
		end.wait_set.attach_condition(end.over) != ReturnCode_t::RETCODE_OK)
		return end.sentence.tell(ICEPATH_FAILED, "%s: a WaitSet doesn't take the conditions", end.target);
	return ICEPATH_OK;
}

int open_end(const icepath_open *how, icepath_endpoint **endpoint, icepath_address *address)
{
	return open_one_of(how, target, endpoint, address, [](icepath_endpoint &end) -> int {
		FastParticipant::set_up_library(end.setup.way);
		if (end.has_window())
			if (const int status = set_up_memory(end); status != ICEPATH_OK)
				return status;
		return open_named(end, join);
	});
}

int connect_end(icepath_endpoint *end, const icepath_address *peer)
{
	const bool in_one_process = text_of(*peer).starts_with(std::to_string(getpid()) + "-");
	if (end->side == 1 && end->variant.way == FastWay::Intraprocess && !in_one_process) {
		static_cast<void>(connect_memory(end, peer)); // takes ownership of its descriptors
		return end->sentence.tell(ICEPATH_UNSUPPORTED, "%s works only within one process, and its peer is in another",
								  end->target);
	}
	if (const int status = end->has_window() ? connect_memory(end, peer) : end->meet(*peer, 0); status != ICEPATH_OK)
		return status;
	return connect_discovered(*end, *peer, join, [&] { return end->dds.is_matched(); });
}

int write(icepath_endpoint &end, void *data, icepath_send &message)
{
	message.attempts = 0;
	message.call_ns = 0;
	for (;;) {
		if (end.is_cancelled())
			return end.end_of_cancelled();
		message.attempts++;
		const uint64_t now_ns = icepath_now_ns();
		const ReturnCode_t status = end_of([&] { return end.dds.writer->write(data, fast::HANDLE_NIL); });
		message.return_ns = icepath_now_ns();
		if (message.call_ns == 0)
			message.call_ns = now_ns;
		if (status == ReturnCode_t::RETCODE_OK)
			return end.end_of_send(message.return_ns);
		if (status != ReturnCode_t::RETCODE_TIMEOUT)
			return failed(end, "DataWriter::write()", status);
	}
}

int send_message(icepath_endpoint *end, icepath_send *message)
{
	if (end->has_window())
		if (const int status = end->await_room(); status != ICEPATH_OK)
			return status;
	return write(*end, const_cast<void *>(message->data), *message);
}

int lend(icepath_endpoint *end, uint64_t bytes, void **slot)
{
	*slot = nullptr;
	if (const int status = end->may_lend(bytes); status != ICEPATH_OK)
		return status;
	if (!end->out_loan)
		if (const ReturnCode_t status = end->dds.writer->loan_sample(end->out_loan); status != ReturnCode_t::RETCODE_OK)
			return failed(*end, "DataWriter::loan_sample()", status);
	*slot = end->out_loan;
	return ICEPATH_OK;
}

int send_lent(icepath_endpoint *end, void *slot, icepath_send *message)
{
	if (const int status = end->await_room(); status != ICEPATH_OK)
		return status;
	const int status = write(*end, slot, *message);
	if (status == ICEPATH_OK || status == ICEPATH_CLOSED)
		end->out_loan = nullptr;
	return status;
}

int sleep(icepath_endpoint &end, icepath_recv &message)
{
	if (end.variant.rings) {
		if (const uint64_t back_ns = end.listener.bell.sleep())
			message.wait_return_ns = back_ns;
		return ICEPATH_OK;
	}
	fast::ConditionSeq active;
	end.wait_set.wait(active, end.shares_data() ? kLook : eprosima::fastrtps::c_TimeInfinite);
	message.wait_return_ns = icepath_now_ns();
	return end.shares_data() ? end.watch.look(end, message.wait_return_ns) : ICEPATH_OK;
}

// `take()` returns whether there was a message, or what failed.
template <class Take> int recv_by(icepath_endpoint &end, icepath_recv &message, const char *call, Take take)
{
	for (;;) {
		if (end.is_cancelled())
			return end.end_of_cancelled();
		message.attempts++;
		message.take_call_ns = icepath_now_ns();
		bool is_message = false;
		const ReturnCode_t status = end_of([&] { return take(is_message); });
		message.take_return_ns = icepath_now_ns();
		if (is_message) {
			message.bytes = end.payload_bytes;
			return ICEPATH_OK;
		}
		if (status != ReturnCode_t::RETCODE_OK && status != ReturnCode_t::RETCODE_NO_DATA)
			return failed(end, call, status);
		if (status == ReturnCode_t::RETCODE_NO_DATA)
			if (const int slept = sleep(end, message); slept != ICEPATH_OK)
				return slept;
	}
}

int recv_message(icepath_endpoint *end, icepath_recv *message)
{
	if (const int status = end->begin(*message); status != ICEPATH_OK)
		return status;
	const int status = recv_by(*end, *message, "DataReader::take_next_sample()", [&](bool &is_message) {
		fast::SampleInfo info;
		const ReturnCode_t taken = end->dds.reader->take_next_sample(message->data, &info);
		is_message = taken == ReturnCode_t::RETCODE_OK && info.valid_data;
		return taken;
	});
	if (status == ICEPATH_OK && end->has_window())
		end->tell_of_room();
	return status;
}

// Called in the library's thread, which holds the reader: messages come one after the other.
void handle_data(icepath_endpoint &end, fast::DataReader &reader)
{
	for (;;) {
		icepath_recv message{};
		message.size = sizeof(message);
		ChannelEnd::begin_taking(message);
		message.attempts = 1;
		fast::SampleInfo info;
		message.take_call_ns = icepath_now_ns();
		const ReturnCode_t taken = end_of([&] { return reader.take_next_sample(end.handed.data(), &info); });
		message.take_return_ns = icepath_now_ns();
		if (taken == ReturnCode_t::RETCODE_NO_DATA)
			return;
		if (taken != ReturnCode_t::RETCODE_OK)
			return end.handler.handle(end.handler.side, failed(end, "DataReader::take_next_sample()", taken), &message);
		if (!info.valid_data)
			continue;
		message.data = end.handed.data();
		message.bytes = end.payload_bytes;
		end.handler.handle(end.handler.side, ICEPATH_OK, &message);
	}
}

int take_lent(icepath_endpoint *end, const void **slot, icepath_recv *message)
{
	*slot = nullptr;
	end->begin_taking(*message);
	const int status = recv_by(*end, *message, "DataReader::take()", [&](bool &is_message) {
		const ReturnCode_t taken = end->dds.reader->take(end->in_loan, end->in_infos, 1);
		if (taken != ReturnCode_t::RETCODE_OK)
			return taken;
		is_message = end->in_infos[0].valid_data;
		return is_message ? taken : end->dds.reader->return_loan(end->in_loan, end->in_infos);
	});
	if (status == ICEPATH_OK)
		*slot = &end->in_loan[0];
	return status;
}

int give_back(icepath_endpoint *end, const void *)
{
	if (const ReturnCode_t status = end->dds.reader->return_loan(end->in_loan, end->in_infos);
		status != ReturnCode_t::RETCODE_OK)
		return failed(*end, "DataReader::return_loan()", status);
	end->tell_of_room();
	return ICEPATH_OK;
}

void Listener::on_data_available(fast::DataReader *reader)
{
	if (end_.is_handled())
		handle_data(end_, *reader);
	else
		bell.ring();
}

void cancel(icepath_endpoint *end)
{
	end->cancelled.store(true, std::memory_order_relaxed);
	end->over.set_trigger_value(true);
	end->listener.bell.ring();
}

} // namespace

ICEPATH_EXPORT const icepath_plugin *icepath_plugin_get(void)
{
	static const icepath_plugin plugin = [] {
		icepath_plugin table = plugin_table("fastdds", target, open_end, connect_end, send_message, recv_message);
		table.library_version = "Fast DDS " FASTDDS_VERSION;
		table.cancel = cancel;
		table.granted = [](const icepath_endpoint *end, icepath_qos *qos) { end->dds.granted(*qos); };
		add_loans(table, lend, send_lent, take_lent, give_back);
		return table;
	}();
	return &plugin;
}
