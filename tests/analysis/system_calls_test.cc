// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/system_calls.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "tests/model/own_window.h"
#include "tests/report/synthetic_run.h"

namespace icepath::analysis {
namespace {

constexpr uint64_t kBegin = 1000, kEnd = 9000; // of the message loop

model::Cell cell() { return socket_cell(model::Pattern::PingPong); }

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
	own_window(block).slots.emplace_back();
	return block;
}

// In a block of four messages the sender made two calls and a thread of the library one.
path::Observations seen()
{
	path::Observations seen;
	seen.threads[kTids[0]].name = "sender";
	seen.threads[kTids[1]].name = "receiver";
	seen.threads[7].name = "sender's library";
	seen.system_calls = {
		{kTids[0], SYS_sendto, 2000, 2100}, {kTids[0], SYS_futex, 3000, 3100}, {7, SYS_futex, 4000, 4100}};
	return seen;
}

model::Head head()
{
	model::Head head;
	head.host.machine = "x86_64";
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
	path::Observations aside = seen();
	aside.system_calls[0].begin_ns = 1400; // before it sends
	aside.system_calls[1].begin_ns = 3300; // after it has sent
	SystemCalls calls(head());
	calls.add(one, cell(), aside);
	EXPECT_EQ(texts(calls.by_thread()), (Texts{"sender's library futex 0.25"}));
	one.flows[1].recvs.resize(1);
	one.flows[1].recvs[0].ask_ns = 3250;
	one.flows[1].recvs[0].recv_ns = 3400;
	SystemCalls asked(head());
	asked.add(one, cell(), aside);
	EXPECT_EQ(texts(asked.by_thread()), (Texts{"sender futex 0.25", "sender's library futex 0.25"}));
}

// By callback the side's own thread sleeps, which is icepath's doing, and all calls of the thread that handles its
// messages are the library's.
TEST(SystemCalls, OfAThreadThatHandlesMessagesAllCount)
{
	model::Block one = block();
	one.flows[0].sends.clear();
	one.flows[1].recvs.resize(4);
	for (model::RecvStamp &stamp : one.flows[1].recvs) {
		stamp.flags = model::by_thread(7);
		stamp.ask_ns = 5000;
		stamp.recv_ns = 5100;
	}
	one.flows[1].sends.resize(4);
	for (model::SendStamp &stamp : one.flows[1].sends)
		stamp.flags = model::by_thread(8);
	SystemCalls calls(head());
	calls.add(one, cell(), seen());
	EXPECT_EQ(texts(calls.by_thread()), (Texts{"sender's library futex 0.25"}));
}

TEST(SystemCalls, CountUntilTheLastSideHasEnded)
{
	model::Block one = block();
	path::Observations late = seen();
	late.system_calls[2].end_ns = kEnd + 1;
	SystemCalls calls(head());
	calls.add(one, cell(), late);
	EXPECT_EQ(texts(calls.of_all_threads()), (Texts{" futex 0.25", " sendto 0.25"}));
	one.sides[1].marker_end_ns = kEnd + 1;
	SystemCalls later(head());
	later.add(one, cell(), late);
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

// Records of earlier windows, which joined ones begin with, don't make up for one that is lost.
TEST(SystemCalls, AreNotCountedWhereOnlyKeptRecordsMakeUpTheNumber)
{
	const auto with_records = [](const std::vector<uint32_t> &numbers) {
		model::Block joined = block();
		model::SlotCapture &slot = own_window(joined).slots[0];
		slot.first = 10;
		slot.position = 12;
		for (const uint32_t number : numbers)
			slot.records.emplace_back().seq = number;
		SystemCalls calls(head());
		calls.add(joined, cell(), seen());
		return calls.by_thread().size();
	};
	EXPECT_GT(with_records({3, 10, 11}), 0u);
	EXPECT_EQ(with_records({3, 10}), 0u) << "11 is lost";
}

TEST(SystemCalls, HaveNumbersWhereTheyHaveNoNames)
{
	path::Observations nameless = seen();
	nameless.system_calls[0].number = 4000;
	nameless.system_calls[2].tid = 12345; // without a name
	SystemCalls calls(head()), elsewhere;
	calls.add(block(), cell(), nameless);
	elsewhere.add(block(), cell(), nameless);
	EXPECT_EQ(texts(calls.by_thread())[0], "others futex 0.25");
	EXPECT_EQ(texts(calls.by_thread())[2], "sender system call 4000 0.25");
	EXPECT_EQ(texts(elsewhere.by_thread())[0], "others system call 202 0.25");
}

} // namespace
} // namespace icepath::analysis
