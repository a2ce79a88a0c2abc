// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/container.h"

#include <sys/stat.h>

#include <cstring>
#include <functional>

#include "icepath/plugin.h"
#include "profiler/failure.h"
#include "profiler/model/cell_key.h"
#include "profiler/rundir/limits.h"
#include "tests/model/own_window.h"
#include "tests/rundir/container_runs.h"

namespace icepath::rundir {
namespace {

template <typename T> bool same_bytes(const std::vector<T> &a, const std::vector<T> &b)
{
	return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

void expect_same(const model::Window &a, const model::Window &b)
{
	EXPECT_EQ(std::tie(a.round, a.probed, a.begins_midway, a.ends_midway),
			  std::tie(b.round, b.probed, b.begins_midway, b.ends_midway));
	EXPECT_EQ(std::memcmp(&a.begin, &b.begin, sizeof a.begin), 0);
	EXPECT_EQ(std::memcmp(&a.finish, &b.finish, sizeof a.finish), 0);
	ASSERT_EQ(a.skipped.size(), b.skipped.size());
	for (size_t i = 0; i < a.skipped.size(); ++i)
		EXPECT_EQ(std::tie(a.skipped[i].begin_ns, a.skipped[i].end_ns, a.skipped[i].count),
				  std::tie(b.skipped[i].begin_ns, b.skipped[i].end_ns, b.skipped[i].count));
	EXPECT_EQ(std::tie(a.steal_ns, a.own_cpu_ns, a.times_throttled),
			  std::tie(b.steal_ns, b.own_cpu_ns, b.times_throttled));
	ASSERT_EQ(a.threads.size(), b.threads.size());
	for (size_t i = 0; i < a.threads.size(); ++i)
		EXPECT_EQ(std::tie(a.threads[i].tid, a.threads[i].cpu, a.threads[i].name),
				  std::tie(b.threads[i].tid, b.threads[i].cpu, b.threads[i].name));
	ASSERT_EQ(a.others.size(), b.others.size());
	for (size_t i = 0; i < a.others.size(); ++i)
		EXPECT_EQ(std::tie(a.others[i].tid, a.others[i].whose, a.others[i].cells),
				  std::tie(b.others[i].tid, b.others[i].whose, b.others[i].cells));
	ASSERT_EQ(a.slots.size(), b.slots.size());
	for (size_t i = 0; i < a.slots.size(); ++i) {
		EXPECT_EQ(std::tie(a.slots[i].cpu, a.slots[i].first, a.slots[i].position, a.slots[i].capacity),
				  std::tie(b.slots[i].cpu, b.slots[i].first, b.slots[i].position, b.slots[i].capacity));
		EXPECT_TRUE(same_bytes(a.slots[i].records, b.slots[i].records));
	}
}

void expect_same(const model::Block &a, const model::Block &b)
{
	expect_same(*a.window, *b.window);
	EXPECT_EQ(a.cell, b.cell);
	EXPECT_EQ(a.end, b.end);
	EXPECT_EQ(a.failure, b.failure);
	EXPECT_EQ(a.rate_hz, b.rate_hz);
	EXPECT_EQ(a.opening, b.opening);
	EXPECT_EQ(a.confirms, b.confirms);
	EXPECT_EQ(a.daemon_cpu_ns, b.daemon_cpu_ns);
	ASSERT_EQ(a.sides.size(), b.sides.size());
	for (size_t i = 0; i < a.sides.size(); ++i) {
		const model::BlockSide &x = a.sides[i], &y = b.sides[i];
		EXPECT_EQ(std::tie(x.tid, x.marker_begin_ns, x.marker_end_ns),
				  std::tie(y.tid, y.marker_begin_ns, y.marker_end_ns));
		EXPECT_EQ(std::memcmp(&x.usage, &y.usage, sizeof x.usage), 0);
		for (const model::CounterField &field : model::kCounterFields) {
			EXPECT_EQ((x.counters.*field.count).error, (y.counters.*field.count).error) << field.key;
			EXPECT_EQ((x.counters.*field.count).counted, (y.counters.*field.count).counted) << field.key;
		}
	}
	ASSERT_EQ(a.flows.size(), b.flows.size());
	for (size_t i = 0; i < a.flows.size(); ++i) {
		const model::BlockFlow &x = a.flows[i], &y = b.flows[i];
		EXPECT_EQ(std::tie(x.sender_key, x.receiver_key), std::tie(y.sender_key, y.receiver_key));
		EXPECT_TRUE(same_bytes(x.sends, y.sends));
		EXPECT_TRUE(same_bytes(x.recvs, y.recvs));
	}
}

// Runs of older versions record neither.
TEST_F(ContainerTest, ReturnsWhatTargetAndKernelCanDo)
{
	model::Head head = example_head();
	for (const bool recorded : {false, true}) {
		if (recorded) {
			head.host.nohz_full = true;
			head.cells[1].offers = {{model::Wait::Block, model::Wait::Spin}, 1u << ICEPATH_QOS_DEPTH, true};
		}
		std::filesystem::remove_all(run);
		Writer(run, head).finish({});
		Reader reader(run);
		EXPECT_EQ(reader.head().host, head.host);
		EXPECT_EQ(reader.head().cells[0].offers, std::nullopt);
		EXPECT_EQ(reader.head().cells[1].offers, head.cells[1].offers);
	}
}

TEST_F(ContainerTest, ReturnsTheArmsOfARun)
{
	const model::Head head = head_with_arms();
	Writer(run, head).finish({});
	Reader reader(run);
	EXPECT_EQ(reader.head().arms, head.arms);
	EXPECT_EQ(reader.head().cells[0].arm, "old");
	EXPECT_EQ(reader.head().cells[1].arm, "old-again");
	EXPECT_EQ(model::key_of(reader.head().cells[1]).arm, "old-again");
	std::filesystem::remove_all(run);
	Writer(run, example_head()).finish({});
	EXPECT_TRUE(Reader(run).head().arms.empty());
}

TEST_F(ContainerTest, ReturnsWhatWasWritten)
{
	write_run(true);
	Reader reader(run);
	const model::Head head = reader.head(), expected = example_head();
	EXPECT_EQ(head.icepath_version, expected.icepath_version);
	EXPECT_EQ(head.command_line, expected.command_line);
	EXPECT_EQ(head.started_utc, expected.started_utc);
	EXPECT_EQ(head.host, expected.host);
	EXPECT_EQ(head.isolation, expected.isolation);
	EXPECT_EQ(head.budget_s, expected.budget_s);
	ASSERT_EQ(head.probes.size(), 2u);
	EXPECT_EQ(head.probes[1].probe, "no device");
	ASSERT_EQ(head.cells.size(), 2u);
	EXPECT_FALSE(head.cells[0].rate_hz.has_value());
	const model::Cell &cell = head.cells[1], &wanted = expected.cells[1];
	EXPECT_EQ(
		std::tie(cell.target, cell.kind, cell.pattern, cell.wait, cell.payload_bytes, cell.rate_hz, cell.mechanisms),
		std::tie(wanted.target, wanted.kind, wanted.pattern, wanted.wait, wanted.payload_bytes, wanted.rate_hz,
				 wanted.mechanisms));
	EXPECT_EQ(std::tie(cell.traits, cell.graph, cell.levels), std::tie(wanted.traits, wanted.graph, wanted.levels));
	EXPECT_EQ(cell.idle_states, model::IdleStates::Held);
	EXPECT_EQ(head.cells[0].idle_states, model::IdleStates::Own);
	EXPECT_EQ(std::tie(head.wakes, head.wakes_held), std::tie(expected.wakes, expected.wakes_held));
	EXPECT_EQ(std::tie(head.noise, head.noise_before), std::tie(expected.noise, expected.noise_before));
	EXPECT_EQ(head.attached, expected.attached);
	EXPECT_EQ(cell.qos, wanted.qos);
	EXPECT_EQ(cell.granted, wanted.granted);
	EXPECT_FALSE(head.cells[0].qos.any() || head.cells[0].granted.any());
	EXPECT_EQ(head.cells[0].graph, model::Cell().graph);
	EXPECT_EQ(cell.limits, wanted.limits);
	EXPECT_FALSE(head.cells[0].limits.has_value());
	EXPECT_EQ(cell.calibrated, wanted.calibrated);
	EXPECT_EQ(cell.library, wanted.library);
	EXPECT_TRUE(head.cells[0].library.empty());
	EXPECT_FALSE(head.cells[0].calibrated.has_value());
	EXPECT_EQ(cell.levels.sender_user_ns, 1000u);
	EXPECT_EQ(cell.levels.receiver_busy_ns, 2000u);

	EXPECT_FALSE(reader.tail().has_value());
	for (const bool probed : {false, true}) {
		const auto window = reader.next();
		ASSERT_TRUE(window && window->blocks.size() == 1);
		EXPECT_EQ(window->blocks[0].window, window->window);
		expect_same(window->blocks[0], example_block(probed ? 1 : 0, probed));
	}
	EXPECT_FALSE(reader.next().has_value());
	EXPECT_FALSE(reader.next().has_value()) << "asking again stays at the end";
	ASSERT_TRUE(reader.tail().has_value());
	EXPECT_EQ(reader.tail()->finished_utc, example_tail().finished_utc);
	EXPECT_TRUE(reader.tail()->interrupted);
	EXPECT_EQ(reader.tail()->rounds, 4u);
	EXPECT_EQ(reader.tail()->notices, example_tail().notices);
	EXPECT_EQ(reader.tail()->wakes, example_tail().wakes);
	EXPECT_EQ(reader.tail()->steal, example_tail().steal);
	EXPECT_EQ(reader.tail()->untraced_interrupts, example_tail().untraced_interrupts);
	EXPECT_EQ(reader.tail()->cache_lines, example_tail().cache_lines);
	EXPECT_EQ(reader.tail()->failed_openings, example_tail().failed_openings);
	EXPECT_EQ(reader.tail()->detached, example_tail().detached);
	EXPECT_FALSE(reader.truncated());
}

TEST_F(ContainerTest, SkipsRecords)
{
	write_run(true);
	Reader all(run), others(run, Contents::WithoutRecords);
	uint64_t skipped = 0;
	while (const auto whole_window = all.next()) {
		const auto window = others.next();
		ASSERT_TRUE(window.has_value());
		ASSERT_EQ(window->records, whole_window->records);
		ASSERT_EQ(window->records.size(), window->window->slots.size());
		for (size_t slot = 0; slot < window->records.size(); ++slot) {
			EXPECT_EQ(window->records[slot], whole_window->window->slots[slot].records.size());
			EXPECT_TRUE(window->window->slots[slot].records.empty());
			EXPECT_EQ(window->window->slots[slot].position, whole_window->window->slots[slot].position);
			skipped += window->records[slot];
		}
		ASSERT_EQ(window->blocks.size(), whole_window->blocks.size());
		for (size_t flow = 0; flow < window->blocks[0].flows.size(); ++flow) {
			EXPECT_TRUE(same_bytes(window->blocks[0].flows[flow].sends, whole_window->blocks[0].flows[flow].sends));
			EXPECT_TRUE(same_bytes(window->blocks[0].flows[flow].recvs, whole_window->blocks[0].flows[flow].recvs));
		}
	}
	EXPECT_GT(skipped, 0u);
	EXPECT_FALSE(others.next().has_value());
	EXPECT_TRUE(others.tail().has_value());
}

TEST_F(ContainerTest, ReadsOnlyWhatWasMeasuredWithProbes)
{
	for (const bool alone : {true, false}) {
		const std::string one = run + (alone ? "-alone" : "");
		Writer writer(one, example_head());
		for (const bool probed : {false, true}) {
			model::Block block = example_block(probed ? 1 : 0, probed);
			own_window(block).begins_midway = false;
			own_window(block).ends_midway = !alone && !probed; // another window may continue it
			writer.add(block);
		}
		writer.finish(example_tail());
		Reader reader(one, Contents::WithProbes);
		const auto without = reader.next(), with = reader.next();
		ASSERT_TRUE(without && with && without->blocks.size() == 1 && with->blocks.size() == 1);
		EXPECT_FALSE(without->window->probed);
		EXPECT_EQ(without->blocks[0].window, without->window);
		EXPECT_EQ(without->blocks[0].flows.empty(), alone);
		EXPECT_TRUE(with->window->probed);
		EXPECT_FALSE(with->window->slots.at(0).records.empty());
		EXPECT_TRUE(same_bytes(with->blocks[0].flows.at(0).sends, example_block(1, true).flows.at(0).sends));
		EXPECT_FALSE(reader.next().has_value());
		EXPECT_TRUE(reader.tail().has_value());
	}
}

TEST_F(ContainerTest, TakesThePathOfTheContainerToo)
{
	write_run(true);
	EXPECT_EQ(read_all(whole).blocks.size(), 2u);
}

TEST_F(ContainerTest, MakesDirectoryAndFileForItsOwnerAlone)
{
	const mode_t before = umask(0);
	{
		Writer writer(temporary.path("a/b/run/"), example_head());
		writer.finish({});
	}
	umask(before);
	struct stat status{};
	ASSERT_EQ(stat(temporary.path("a/b/run").c_str(), &status), 0);
	EXPECT_EQ(status.st_mode & 07777, 0700u);
	ASSERT_EQ(stat(temporary.path("a/b").c_str(), &status), 0);
	EXPECT_EQ(status.st_mode & 07777, 0755u) << "which wasn't there either";
	ASSERT_EQ(stat(temporary.path("a/b/run/capture.icp").c_str(), &status), 0);
	EXPECT_EQ(status.st_mode & 07777, 0600u);
	EXPECT_FALSE(std::filesystem::exists(temporary.path("a/b/run/capture.icp.partial")));
}

TEST_F(ContainerTest, NamesThatAreNoUtf8DontStopTheRun)
{
	model::Block block = example_block(0, false);
	model::own_window(block).threads[0].name = "bad\xff\xfename";
	{
		Writer writer(run, example_head());
		writer.add(block);
		writer.finish({});
	}
	EXPECT_TRUE(says(read_all(run).blocks.at(0).window->threads[0].name, "name"));
}

TEST_F(ContainerTest, NeverWritesOverAnotherRun)
{
	write_run(true);
	const std::string before = file_bytes(whole);
	EXPECT_THROW(Writer(run, example_head()), Failure);
	EXPECT_EQ(file_bytes(whole), before);
	std::filesystem::rename(whole, partial);
	EXPECT_THROW(Writer(run, example_head()), Failure);
	EXPECT_EQ(file_bytes(partial), before);
}

TEST_F(ContainerTest, DirectoryThatCantBeMadeIsAnErrorOfUse)
{
	write_file(temporary.path("file"), "");
	try {
		Writer writer(temporary.path("file/run"), example_head());
		FAIL();
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		EXPECT_TRUE(says(failure.what(), "file/run"));
	}
}

TEST_F(ContainerTest, RunThatDiedIsPartial)
{
	write_run(false);
	const Seen seen = read_all(run);
	EXPECT_EQ(seen.blocks.size(), 2u);
	EXPECT_FALSE(seen.has_tail);
	EXPECT_FALSE(seen.truncated);
}

TEST_F(ContainerTest, PartialRunWithAFullDiskKeepsTheBlocksBefore)
{
	write_run(false);
	write_file(partial, file_bytes(partial) + std::string(4096, '\0'));
	const Seen seen = read_all(run);
	EXPECT_EQ(seen.blocks.size(), 2u);
	EXPECT_TRUE(seen.truncated);
}

TEST_F(ContainerTest, CutAtAnyByteAPartialRunKeepsItsWholeBlocksAndAFinishedOneIsRefused)
{
	write_run(true);
	const std::string bytes = file_bytes(whole);
	const std::string cut_partial = temporary.path("cut.partial"), cut_whole = temporary.path("cut.icp");
	write_file(cut_partial, bytes);
	write_file(cut_whole, bytes);
	size_t blocks = 2, readable = 0;
	bool unreadable = false;
	for (size_t length = bytes.size() - 1; length < bytes.size(); length -= BYTES_APART) {
		std::filesystem::resize_file(cut_whole, length);
		EXPECT_TRUE(says(complaint(cut_whole), "isn't a")) << length;
		std::filesystem::resize_file(cut_partial, length);
		Seen seen;
		try {
			seen = read_all(cut_partial);
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), ExitCode::Usage);
			unreadable = true;
			continue;
		}
		++readable;
		EXPECT_FALSE(unreadable) << "a shorter piece must not be more readable: " << length;
		EXPECT_FALSE(seen.has_tail);
		EXPECT_LE(seen.blocks.size(), blocks) << length;
		blocks = seen.blocks.size();
	}
	EXPECT_EQ(blocks, 0u) << "down to the head alone";
	EXPECT_TRUE(unreadable);
	EXPECT_GT(readable, 100u);
}

TEST_F(ContainerTest, ACutInsideABlockIsTold)
{
	write_run(false);
	std::filesystem::resize_file(partial, std::filesystem::file_size(partial) - 1);
	const Seen seen = read_all(run);
	EXPECT_EQ(seen.blocks.size(), 1u);
	EXPECT_TRUE(seen.truncated);
}

// The writer's complaint, or empty if it succeeds.
std::string refusal(ExitCode code, const std::function<void()> &write)
{
	try {
		write();
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), code) << failure.what();
		return failure.what();
	}
	return "";
}

TEST_F(ContainerTest, AHeadThatCouldntBeReadIsRefusedBeforeAnythingIsMade)
{
	model::Head head = example_head();
	head.cells.resize(kMaxCells);
	EXPECT_EQ(refusal(ExitCode::Usage, [&] { Writer(temporary.path("most"), head).finish({}); }), "");
	EXPECT_EQ(Reader(temporary.path("most")).head().cells.size(), kMaxCells);
	head.cells.emplace_back();
	EXPECT_TRUE(says(refusal(ExitCode::Usage, [&] { Writer writer(run, head); }), "\"cells\" has more items"));
	EXPECT_TRUE(says(refusal(ExitCode::Usage, [&] { check_head(head); }), "\"cells\" has more items"));
	head = example_head();
	head.command_line = std::string(kMaxJsonBytes, 'x');
	EXPECT_TRUE(says(refusal(ExitCode::Usage, [&] { Writer writer(run, head); }), "shorten the command line"));
	EXPECT_FALSE(std::filesystem::exists(run));
}

TEST_F(ContainerTest, ABlockThatCouldntBeReadIsRefusedAndThoseBeforeItStay)
{
	Writer writer(run, example_head());
	writer.add(example_block(0, false));
	model::Block bad = example_block(1, false);
	bad.cell = 2;
	EXPECT_TRUE(
		says(refusal(ExitCode::Internal, [&] { writer.add(bad); }), "the data can't be stored: \"cell\" names"));
	bad = example_block(1, false);
	model::own_window(bad).threads.resize(kMaxWindowThreads + 1);
	EXPECT_TRUE(says(refusal(ExitCode::Internal, [&] { writer.add(bad); }), "threads"));
	bad = example_block(1, true);
	model::own_window(bad).slots[0].capacity = 1;
	EXPECT_TRUE(says(refusal(ExitCode::Internal, [&] { writer.add(bad); }), "than the slot can have held"));
	EXPECT_TRUE(
		says(refusal(ExitCode::Internal,
					 [&] { writer.add({}, std::vector<model::Block>(kMaxBlocks + 1, example_block(0, false))); }),
			 "blocks"));
	writer.finish({});
	EXPECT_EQ(read_all(run).blocks.size(), 1u);
}

// A window of no cell has no blocks; cells measured at the same time share a window.
TEST_F(ContainerTest, AWindowHasAnyNumberOfBlocks)
{
	const model::Block block = example_block(1, true);
	{
		Writer writer(run, example_head());
		writer.add(*block.window, {});
		writer.add(*block.window, std::vector{block, block});
		writer.finish({});
	}
	Reader reader(run);
	const auto alone = reader.next(), shared = reader.next();
	ASSERT_TRUE(alone && shared);
	EXPECT_TRUE(alone->blocks.empty());
	expect_same(*alone->window, *block.window);
	ASSERT_EQ(shared->blocks.size(), 2u);
	for (const model::Block &one : shared->blocks) {
		EXPECT_EQ(one.window, shared->window) << "it is kept once";
		expect_same(one, block);
	}
	EXPECT_FALSE(reader.next());
}

TEST_F(ContainerTest, NoNumberOfNoticesCostsTheRun)
{
	for (const size_t length : {1u, 1u << 12}) {
		const std::string path = temporary.path(std::to_string(length));
		model::Tail tail;
		tail.notices.assign(2 * kMaxNotices, std::string(length, '\x01'));
		{
			Writer writer(path, example_head());
			writer.add(example_block(0, false));
			writer.finish(tail);
		}
		Reader reader(path);
		EXPECT_TRUE(reader.next().has_value());
		EXPECT_FALSE(reader.next().has_value());
		const std::vector<std::string> &notices = reader.tail()->notices;
		ASSERT_LE(notices.size(), kMaxNotices);
		EXPECT_EQ(notices.back(),
				  "and " + std::to_string(2 * kMaxNotices - notices.size() + 1) + " more notices that didn't fit");
	}
}

} // namespace
} // namespace icepath::rundir
