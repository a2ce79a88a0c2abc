// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/system_calls.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "tests/model/own_window.h"
#include "tests/report/synthetic_run.h"

namespace icepath::report {
namespace {

constexpr uint64_t kBegin = 1000, kEnd = 9000; // of the message loop

icepath_record call(uint32_t tid, long number, uint64_t begin_ns, uint64_t end_ns)
{
	icepath_record record{};
	record.type = ICEPATH_RECORD_CALL;
	record.tid = tid;
	record.end_ns = end_ns;
	record.call.begin_ns = begin_ns;
	record.call.number = static_cast<uint32_t>(number);
	return record;
}

model::Cell cell() { return socket_cell(model::Pattern::PingPong); }

// A block of one of four messages, whose sender made two calls and a thread of the library one.
model::Block block()
{
	model::Block block = block_of(2);
	for (size_t side = 0; side < 2; side++) {
		block.sides[side].tid = kTids[side];
		block.sides[side].marker_begin_ns = kBegin;
		block.sides[side].marker_end_ns = kEnd;
	}
	block.flows[0].sends.resize(3);
	block.flows[0].sends[2].send_ns = 1500;
	block.flows[0].sends[2].return_ns = 3200;
	block.flows[1].sends.resize(1);
	model::SlotCapture &slot = own_window(block).slots.emplace_back();
	slot.records = {call(kTids[0], SYS_sendto, 2000, 2100), call(kTids[0], SYS_futex, 3000, 3100),
					call(7, SYS_futex, 4000, 4100)};
	slot.position = static_cast<uint32_t>(slot.records.size());
	return block;
}

path::Observations seen()
{
	path::Observations seen;
	seen.threads[kTids[0]].name = "sender";
	seen.threads[kTids[1]].name = "receiver";
	seen.threads[7].name = "sender's library";
	return seen;
}

model::Head head()
{
	model::Head head;
	head.host_json = R"({"machine": "x86_64"})";
	return head;
}

std::vector<std::string> texts(const std::vector<CallRow> &rows)
{
	std::vector<std::string> texts;
	for (const CallRow &row : rows)
		texts.push_back(row.thread + " " + row.call + " " + std::to_string(row.per_message).substr(0, 4));
	return texts;
}

using Texts = std::vector<std::string>;

TEST(SystemCalls, AreCountedByThreadAndPerMessage)
{
	SystemCalls calls(head());
	calls.add(block(), cell(), seen());
	EXPECT_EQ(texts(calls.by_thread()),
			  (Texts{"sender sendto 0.25", "sender futex 0.25", "sender's library futex 0.25"}));
	EXPECT_EQ(texts(calls.of_all_threads()), (Texts{" futex 0.50", " sendto 0.25"}));
	calls.add(block(), cell(), seen());
	EXPECT_EQ(texts(calls.of_all_threads()), (Texts{" futex 0.50", " sendto 0.25"})) << "a mean";
}

TEST(SystemCalls, OfASideAreThoseThatAMessageIsAbout)
{
	model::Block one = block();
	own_window(one).slots[0].records[0].call.begin_ns = 1400; // before it sends
	own_window(one).slots[0].records[1].call.begin_ns = 3300; // after it has sent
	SystemCalls calls(head());
	calls.add(one, cell(), seen());
	EXPECT_EQ(texts(calls.by_thread()), (Texts{"sender's library futex 0.25"}));
	one.flows[1].recvs.resize(1);
	one.flows[1].recvs[0].ask_ns = 3250;
	one.flows[1].recvs[0].recv_ns = 3400;
	SystemCalls asked(head());
	asked.add(one, cell(), seen());
	EXPECT_EQ(texts(asked.by_thread()), (Texts{"sender futex 0.25", "sender's library futex 0.25"}));
}

TEST(SystemCalls, CountUntilTheLastSideHasEnded)
{
	model::Block one = block();
	own_window(one).slots[0].records[2].end_ns = kEnd + 1;
	SystemCalls calls(head());
	calls.add(one, cell(), seen());
	EXPECT_EQ(texts(calls.of_all_threads()), (Texts{" futex 0.25", " sendto 0.25"}));
	one.sides[1].marker_end_ns = kEnd + 1;
	SystemCalls later(head());
	later.add(one, cell(), seen());
	EXPECT_EQ(texts(later.of_all_threads()), (Texts{" futex 0.50", " sendto 0.25"}));
}

TEST(SystemCalls, AreNotCountedWhereTheLogHasNotAllOrOthers)
{
	SystemCalls calls(head());
	model::Block lost = block(), shared = block(), skipped = block();
	own_window(lost).slots[0].position++;
	own_window(shared).threads.push_back({9, 0, "tcp receiver"});
	own_window(skipped).skipped = {{.count = 1}};
	for (const model::Block &one : {lost, shared, skipped})
		calls.add(one, cell(), seen());
	EXPECT_TRUE(calls.by_thread().empty());
}

TEST(SystemCalls, HaveNumbersWhereTheyHaveNoNames)
{
	model::Block one = block();
	own_window(one).slots[0].records[0].call.number = 4000;
	own_window(one).slots[0].records[2].tid = 12345; // without a name
	SystemCalls calls(head()), elsewhere;
	calls.add(one, cell(), seen());
	elsewhere.add(one, cell(), seen());
	EXPECT_EQ(texts(calls.by_thread())[0], "others futex 0.25");
	EXPECT_EQ(texts(calls.by_thread())[2], "sender system call 4000 0.25");
	EXPECT_EQ(texts(elsewhere.by_thread())[0], "others system call 202 0.25");
}

} // namespace
} // namespace icepath::report
