// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/container.h"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>

#include "profiler/failure.h"
#include "profiler/rundir/block_json.h"
#include "profiler/rundir/chunk.h"
#include "profiler/rundir/limits.h"
#include "profiler/rundir/type_table.h"
#include "tests/rundir/example_run.h"

namespace icepath::rundir {
namespace {

testing::AssertionResult says(const std::string &text, const std::string &part)
{
	if (text.find(part) != std::string::npos)
		return testing::AssertionSuccess();
	return testing::AssertionFailure() << "\"" << text << "\" doesn't say \"" << part << "\"";
}

struct Seen {
	std::vector<Block> blocks;
	bool truncated = false;
	bool has_tail = false;
};

Seen read_all(const std::string &path)
{
	Reader reader(path);
	Seen seen;
	while (auto block = reader.next())
		seen.blocks.push_back(std::move(*block));
	seen.truncated = reader.truncated();
	seen.has_tail = reader.tail().has_value();
	return seen;
}

// The sentence with which reading fails; empty where it doesn't. Anything but Failure(Usage) fails the test.
std::string complaint(const std::string &path)
{
	try {
		read_all(path);
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		return failure.what();
	}
	return "";
}

template <typename T> bool same_bytes(const std::vector<T> &a, const std::vector<T> &b)
{
	return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

void expect_same(const Block &a, const Block &b)
{
	EXPECT_EQ(a.cell, b.cell);
	EXPECT_EQ(a.round, b.round);
	EXPECT_EQ(a.probed, b.probed);
	EXPECT_EQ(a.end, b.end);
	EXPECT_EQ(a.failure, b.failure);
	EXPECT_EQ(std::memcmp(&a.begin, &b.begin, sizeof a.begin), 0);
	EXPECT_EQ(std::memcmp(&a.finish, &b.finish, sizeof a.finish), 0);
	EXPECT_EQ(a.rate_hz, b.rate_hz);
	EXPECT_EQ(a.recursion_misses, b.recursion_misses);
	ASSERT_EQ(a.companions.size(), b.companions.size());
	for (size_t i = 0; i < a.companions.size(); ++i)
		EXPECT_EQ(std::tie(a.companions[i].tid, a.companions[i].cpu, a.companions[i].name),
				  std::tie(b.companions[i].tid, b.companions[i].cpu, b.companions[i].name));
	ASSERT_EQ(a.sides.size(), b.sides.size());
	for (size_t i = 0; i < a.sides.size(); ++i) {
		const BlockSide &x = a.sides[i], &y = b.sides[i];
		EXPECT_EQ(std::tie(x.tid, x.cpu, x.name, x.marker_begin_ns, x.marker_end_ns),
				  std::tie(y.tid, y.cpu, y.name, y.marker_begin_ns, y.marker_end_ns));
		EXPECT_EQ(std::memcmp(&x.usage, &y.usage, sizeof x.usage), 0);
		for (const CounterField &field : kCounterFields) {
			EXPECT_EQ((x.counters.*field.count).error, (y.counters.*field.count).error) << field.key;
			EXPECT_EQ((x.counters.*field.count).counted, (y.counters.*field.count).counted) << field.key;
		}
	}
	ASSERT_EQ(a.flows.size(), b.flows.size());
	for (size_t i = 0; i < a.flows.size(); ++i) {
		const BlockFlow &x = a.flows[i], &y = b.flows[i];
		EXPECT_EQ(std::tie(x.sender_key, x.receiver_key), std::tie(y.sender_key, y.receiver_key));
		EXPECT_TRUE(same_bytes(x.sends, y.sends));
		EXPECT_TRUE(same_bytes(x.recvs, y.recvs));
	}
	ASSERT_EQ(a.slots.size(), b.slots.size());
	for (size_t i = 0; i < a.slots.size(); ++i) {
		EXPECT_EQ(std::tie(a.slots[i].cpu, a.slots[i].position, a.slots[i].capacity),
				  std::tie(b.slots[i].cpu, b.slots[i].position, b.slots[i].capacity));
		EXPECT_TRUE(same_bytes(a.slots[i].records, b.slots[i].records));
	}
}

class ContainerTest : public testing::Test {
protected:
	TemporaryDirectory temporary;
	const std::string run = temporary.path("run");
	const std::string whole = run + "/" + kContainerName, partial = run + "/" + kPartialName;

	void write_run(bool finish, const Head &head = example_head())
	{
		Writer writer(run, head);
		writer.add(example_block(0, false));
		writer.add(example_block(1, true));
		if (finish)
			writer.finish(example_tail());
	}

	// Chunks as a stranger might write them: sound frames around any content.
	std::string crafted(const std::string &head, const std::string &block, const std::vector<std::byte> &more = {})
	{
		std::vector<std::byte> out(sizeof kMagic);
		std::memcpy(out.data(), kMagic, sizeof kMagic);
		const std::string types = type_table().dump();
		append_chunk(out, ChunkKind::Types, std::as_bytes(std::span(types)));
		append_chunk(out, ChunkKind::Head, std::as_bytes(std::span(head)));
		if (!block.empty())
			append_chunk(out, ChunkKind::Block, std::as_bytes(std::span(block)));
		out.insert(out.end(), more.begin(), more.end());
		const std::string path = temporary.path("crafted.icp");
		write_file(path, {reinterpret_cast<const char *>(out.data()), out.size()});
		return path;
	}

	// A sound head, but for what stands in its description of the host.
	std::string head_with(const std::string &value)
	{
		return crafted(R"({"format_version":2,"icepath_version":"","command_line":"","started_utc":"","host":{"x":)" +
						   value + R"(},"isolation":{},"probes":[],"cells":[],"budget_s":1})",
					   "");
	}
};

TEST_F(ContainerTest, ReturnsWhatWasWritten)
{
	write_run(true);
	Reader reader(run);
	const Head head = reader.head(), expected = example_head();
	EXPECT_EQ(head.format_version, kFormatVersion);
	EXPECT_EQ(head.icepath_version, expected.icepath_version);
	EXPECT_EQ(head.command_line, expected.command_line);
	EXPECT_EQ(head.started_utc, expected.started_utc);
	EXPECT_EQ(head.host_json, expected.host_json);
	EXPECT_EQ(head.isolation_json, expected.isolation_json);
	EXPECT_EQ(head.budget_s, expected.budget_s);
	ASSERT_EQ(head.probes.size(), 2u);
	EXPECT_EQ(head.probes[1].probe, "no device");
	ASSERT_EQ(head.cells.size(), 2u);
	EXPECT_FALSE(head.cells[0].rate_hz.has_value());
	const Cell &cell = head.cells[1], &wanted = expected.cells[1];
	EXPECT_EQ(
		std::tie(cell.target, cell.kind, cell.pattern, cell.wait, cell.payload_bytes, cell.rate_hz, cell.mechanisms),
		std::tie(wanted.target, wanted.kind, wanted.pattern, wanted.wait, wanted.payload_bytes, wanted.rate_hz,
				 wanted.mechanisms));
	EXPECT_EQ(std::tie(cell.capabilities, cell.cpus, cell.idle_channels, cell.responses),
			  std::tie(wanted.capabilities, wanted.cpus, wanted.idle_channels, wanted.responses));
	EXPECT_EQ(cell.between, wanted.between);
	EXPECT_EQ(head.cells[0].between, Between::Processes);
	EXPECT_EQ(cell.burst, wanted.burst);
	EXPECT_EQ(cell.limits, wanted.limits);
	EXPECT_FALSE(head.cells[0].limits.has_value());
	EXPECT_FALSE(head.cells[0].burst.has_value());
	EXPECT_EQ(cell.injection.sender_user_ns, 1000u);
	EXPECT_EQ(cell.injection.receiver_busy_ns, 2000u);

	EXPECT_FALSE(reader.tail().has_value());
	for (const bool probed : {false, true}) {
		const auto block = reader.next();
		ASSERT_TRUE(block.has_value());
		expect_same(*block, example_block(probed ? 1 : 0, probed));
	}
	EXPECT_FALSE(reader.next().has_value());
	EXPECT_FALSE(reader.next().has_value()) << "asking again stays at the end";
	ASSERT_TRUE(reader.tail().has_value());
	EXPECT_EQ(reader.tail()->finished_utc, example_tail().finished_utc);
	EXPECT_TRUE(reader.tail()->interrupted);
	EXPECT_EQ(reader.tail()->rounds, 4u);
	EXPECT_EQ(reader.tail()->notices, example_tail().notices);
	EXPECT_FALSE(reader.truncated());
}

TEST_F(ContainerTest, TakesThePathOfTheContainerToo)
{
	write_run(true);
	EXPECT_EQ(read_all(whole).blocks.size(), 2u);
}

TEST_F(ContainerTest, MakesDirectoryAndFileForEverybodyToRead)
{
	const mode_t before = umask(022);
	{
		Writer writer(temporary.path("a/b/run/"), example_head());
		writer.finish({});
	}
	umask(before);
	struct stat status{};
	ASSERT_EQ(stat(temporary.path("a/b/run").c_str(), &status), 0);
	EXPECT_EQ(status.st_mode & 07777, 0755u);
	ASSERT_EQ(stat(temporary.path("a/b/run/capture.icp").c_str(), &status), 0);
	EXPECT_EQ(status.st_mode & 07777, 0644u);
	EXPECT_FALSE(std::filesystem::exists(temporary.path("a/b/run/capture.icp.partial")));
}

TEST_F(ContainerTest, NamesThatAreNoUtf8DontStopTheRun)
{
	Block block = example_block(0, false);
	block.sides[0].name = "bad\xff\xfename";
	{
		Writer writer(run, example_head());
		writer.add(block);
		writer.finish({});
	}
	EXPECT_TRUE(says(read_all(run).blocks.at(0).sides[0].name, "name"));
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
	for (size_t length = bytes.size(); length-- > 0;) {
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

TEST_F(ContainerTest, EveryChangedByteIsNoticed)
{
	write_run(true);
	const std::string bytes = file_bytes(whole), path = temporary.path("changed.icp");
	std::mt19937 random(1);
	for (size_t at = 0; at < bytes.size(); ++at) {
		std::string changed = bytes;
		changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1 + random() % 255));
		write_file(path, changed);
		EXPECT_TRUE(says(complaint(path), "changed.icp isn't a")) << at;
	}
}

TEST_F(ContainerTest, SaysWhatIsNoRun)
{
	EXPECT_TRUE(says(complaint(temporary.path("nowhere")), "there is no run " + temporary.path("nowhere")));
	EXPECT_TRUE(says(complaint(temporary.path("")), "isn't a run directory"));
	write_file(temporary.path("capture.icp"), "#!/bin/sh\n");
	EXPECT_TRUE(says(complaint(temporary.path("")), "capture.icp isn't an icepath capture: it doesn't begin with"));
	EXPECT_TRUE(says(complaint("/dev/null"), "regular file"));
	ASSERT_EQ(mkfifo(temporary.path("fifo").c_str(), 0600), 0);
	EXPECT_TRUE(says(complaint(temporary.path("fifo")), "regular file"));
}

TEST_F(ContainerTest, NamesFileAndPlace)
{
	write_run(true);
	write_file(whole, file_bytes(whole) + "x");
	EXPECT_TRUE(says(complaint(run), whole + " isn't a readable icepath capture: at byte"));
	EXPECT_TRUE(says(complaint(run), "something follows the tail"));
}

TEST_F(ContainerTest, AnotherFormatIsRefusedWithTheRemedy)
{
	EXPECT_TRUE(says(complaint(crafted(R"({"format_version":1,"unknown":[]})", "")),
					 "it has format 1, this icepath reads format 2: use an older icepath"));
	EXPECT_TRUE(says(complaint(crafted(R"({"format_version":3,"unknown":[]})", "")),
					 "it has format 3, this icepath reads format 2: use a newer icepath"));
}

// The sentence with which writing fails; empty where it doesn't.
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
	Head head = example_head();
	head.cells.resize(kMaxCells);
	EXPECT_EQ(refusal(ExitCode::Usage, [&] { Writer(temporary.path("most"), head).finish({}); }), "");
	EXPECT_EQ(Reader(temporary.path("most")).head().cells.size(), kMaxCells);
	head.cells.emplace_back();
	EXPECT_TRUE(says(refusal(ExitCode::Usage, [&] { Writer writer(run, head); }), "\"cells\" has more items"));
	EXPECT_TRUE(says(refusal(ExitCode::Usage, [&] { check_head(head); }), "\"cells\" has more items"));
	head = example_head();
	head.command_line = std::string(kMaxJsonBytes, 'x');
	EXPECT_TRUE(says(refusal(ExitCode::Usage, [&] { Writer writer(run, head); }), "shorten the command line"));
	head = example_head();
	head.host_json = R"({"deep":)" + std::string(kMaxJsonDepth - 1, '[') + std::string(kMaxJsonDepth - 1, ']') + "}";
	EXPECT_TRUE(says(refusal(ExitCode::Usage, [&] { Writer writer(run, head); }), "nested deeper than 32 levels"));
	EXPECT_FALSE(std::filesystem::exists(run));
}

TEST_F(ContainerTest, ABlockThatCouldntBeReadIsRefusedAndThoseBeforeItStay)
{
	Writer writer(run, example_head());
	writer.add(example_block(0, false));
	Block bad = example_block(1, false);
	bad.cell = 2;
	EXPECT_TRUE(says(refusal(ExitCode::Internal, [&] { writer.add(bad); }), "a block can't be stored: \"cell\" names"));
	bad = example_block(1, false);
	bad.companions.resize(kMaxCompanions + 1);
	EXPECT_TRUE(says(refusal(ExitCode::Internal, [&] { writer.add(bad); }), "companions"));
	bad = example_block(1, true);
	bad.slots[0].capacity = 1;
	EXPECT_TRUE(says(refusal(ExitCode::Internal, [&] { writer.add(bad); }), "than the slot can have held"));
	writer.finish({});
	EXPECT_EQ(read_all(run).blocks.size(), 1u);
}

TEST_F(ContainerTest, NoNumberOfNoticesCostsTheRun)
{
	for (const size_t length : {1u, 1u << 12}) {
		const std::string path = temporary.path(std::to_string(length));
		Tail tail;
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
		EXPECT_EQ(notices.back(), "and " + std::to_string(2 * kMaxNotices - notices.size() + 1) +
									  " notices more, for which there was no room");
	}
}

TEST_F(ContainerTest, WrongJsonIsNamedByItsKey)
{
	const std::string head =
		R"({"format_version":2,"icepath_version":"","command_line":"","started_utc":"","host":{},"isolation":{},)"
		R"("probes":[],"cells":[],"budget_s":1})";
	const auto with = [&](const std::string &from, const std::string &to) {
		std::string changed = head;
		changed.replace(changed.find(from), from.size(), to);
		return complaint(crafted(changed, ""));
	};
	EXPECT_TRUE(
		says(with(R"("format_version":2)", R"("format_version":"1")"), "\"format_version\" isn't a whole number"));
	EXPECT_TRUE(
		says(with(R"("format_version":2)", R"("format_version":-1)"), "\"format_version\" isn't a whole number"));
	EXPECT_TRUE(says(with(R"("budget_s":1)", R"("budget_s":[])"), "\"budget_s\" isn't a number"));
	EXPECT_TRUE(says(with(R"("cells":[])", R"("cells":{})"), "\"cells\" isn't a list"));
	EXPECT_TRUE(says(with(R"("cells":[])", R"("cells":[1])"), "an object with \"target\" was expected"));
	EXPECT_TRUE(says(with(R"("host":{})", R"("host":"x")"), "\"host\" isn't an object"));
	EXPECT_TRUE(says(with(R"("probes":[],)", ""), "\"probes\" is missing"));
	EXPECT_TRUE(says(complaint(crafted("[[[[", "")), "it isn't JSON"));
}

// Copying and printing JSON recurses: a head that is read must be shallow, wherever in it the depth is.
TEST_F(ContainerTest, NestingIsBounded)
{
	const auto nested = [](size_t levels, const char *open, const char *close) {
		std::string text;
		for (size_t i = 0; i < levels; ++i)
			text += open;
		for (size_t i = 0; i < levels; ++i)
			text += close;
		return text;
	};
	EXPECT_TRUE(says(complaint(head_with(nested(kMaxJsonDepth - 2, "[", "]"))), "it ends without its tail"))
		<< "read so far";
	for (const size_t levels : {kMaxJsonDepth - 1, size_t{1000}, size_t{1000000}})
		EXPECT_TRUE(says(complaint(head_with(nested(levels, "[", "]"))), "nested deeper than 32 levels")) << levels;
	EXPECT_TRUE(says(complaint(head_with(nested(1000000, "{\"x\":", "}"))), "nested deeper than 32 levels"));
	EXPECT_TRUE(says(complaint(crafted(std::string(1 << 20, '['), "")), "nested deeper than 32 levels"));
}

TEST_F(ContainerTest, KeysOfAnObjectAreBounded)
{
	std::string text = "{\"first\":0";
	for (int i = 0; i < 500000; ++i)
		text += ",\"" + std::to_string(i) + "\":0";
	EXPECT_TRUE(says(complaint(crafted(text + "}", "")), "more than 1024 keys"));
}

// Each level is cheap, so are many items: a list as long as a chunk allows must not take its square in time.
TEST_F(ContainerTest, LongListsAreReadAtOnce)
{
	std::string text = "[{}";
	while (text.size() + 4 < kMaxJsonBytes)
		text += ",{}";
	EXPECT_TRUE(says(complaint(crafted(text + "]", "")), "\"format_version\" was expected"));
}

TEST_F(ContainerTest, AnythingNestedIsReadOrRefused)
{
	static const std::pair<const char *, char> kKinds[] = {{"[", ']'}, {"{\"a\":", '}'}, {"[1,", ']'}};
	std::mt19937 random(3);
	for (int i = 0; i < 200; ++i) {
		const size_t levels = i % 10 == 0 ? random() % 200000 : random() % 60;
		std::string text, closing;
		for (size_t level = 0; level < levels; ++level) {
			const auto &[begin, end] = kKinds[random() % 3];
			text += begin;
			closing += end;
		}
		text += "0" + std::string(closing.rbegin(), closing.rend());
		EXPECT_TRUE(
			says(complaint(head_with(text)), levels + 2 > kMaxJsonDepth ? "nested deeper" : "without its tail"));
	}
}

class HostileBlock : public ContainerTest {
protected:
	void SetUp() override
	{
		write_run(false);
		const std::string bytes = file_bytes(partial);
		head = json_at(bytes, "\"format_version\"");
		block = nlohmann::ordered_json::parse(json_at(bytes, "\"cell\":1"));
	}

	static std::string json_at(const std::string &bytes, const std::string &mark)
	{
		const size_t begin = bytes.rfind('{', bytes.find(mark));
		size_t end = begin;
		for (int depth = 0; end < bytes.size(); ++end) {
			depth += bytes[end] == '{' ? 1 : bytes[end] == '}' ? -1 : 0;
			if (depth == 0)
				break;
		}
		return bytes.substr(begin, end + 1 - begin);
	}

	std::string head;
	nlohmann::ordered_json block;
};

TEST_F(HostileBlock, CountsAreBoundedBeforeMemoryIsTaken)
{
	block["flows"][0]["send_stamps"] = UINT64_MAX;
	EXPECT_TRUE(says(complaint(crafted(head, block.dump())), "\"send_stamps\" is larger than it can be"));
	block["flows"][0]["send_stamps"] = kMaxStamps;
	EXPECT_TRUE(says(complaint(crafted(head, block.dump())), "makes the block larger than it can be"));
	block["flows"][0]["recv_stamps"] = 0;
	std::vector<std::byte> stamps;
	append_chunk(stamps, ChunkKind::Stamps, std::vector<std::byte>(64));
	EXPECT_TRUE(says(complaint(crafted(head, block.dump(), stamps)), "another number of items than its block says"));
}

// What `icepath run -m 1000000` may come to: stamps of every flow, and full slots besides.
TEST_F(HostileBlock, TheLargestBlockOfARunIsWithinTheLimits)
{
	std::vector<Cell> cells(2);
	for (const size_t sides : {size_t{2}, kMaxSides}) {
		cells[1].pattern = sides == 2 ? Pattern::PingPong : Pattern::FanOut;
		cells[1].cpus.resize(sides);
		block["sides"] = std::vector<nlohmann::ordered_json>(sides, block["sides"][0]);
		const size_t flows = flows_of(cells[1]).size();
		block["flows"] = std::vector<nlohmann::ordered_json>(flows, block["flows"][0]);
		for (auto &flow : block["flows"])
			flow["send_stamps"] = flow["recv_stamps"] = most_counted(flows) + kMaxLeadIn;
		EXPECT_NO_THROW(block_from_json(block, cells)) << sides;
	}
	block["slots"].clear();
	for (unsigned cpu = 0; cpu < 16; ++cpu)
		block["slots"].push_back({{"cpu", cpu}, {"position", 1u << 17}, {"capacity", 1u << 16}, {"records", 1u << 16}});
	EXPECT_NO_THROW(block_from_json(block, cells));
	for (unsigned cpu = 16; cpu < 65; ++cpu)
		block["slots"].push_back({{"cpu", cpu}, {"position", 1u << 17}, {"capacity", 1u << 16}, {"records", 1u << 16}});
	EXPECT_THROW(block_from_json(block, cells), std::runtime_error);
}

TEST_F(HostileBlock, NamesOnlyCellsOfTheRun)
{
	block["cell"] = 2;
	EXPECT_TRUE(says(complaint(crafted(head, block.dump())), "\"cell\" names a cell that the run doesn't have"));
}

TEST_F(HostileBlock, HasTheSidesAndFlowsOfItsCell)
{
	for (const char *key : {"sides", "flows"}) {
		const nlohmann::ordered_json sound = block;
		block[key].push_back(block[key][0]);
		EXPECT_TRUE(says(complaint(crafted(head, block.dump())), "another number of items than its cell has"));
		block[key].clear();
		EXPECT_TRUE(says(complaint(crafted(head, block.dump())), "another number of items than its cell has"));
		block = sound;
	}
}

TEST_F(HostileBlock, HoldsNoMoreRecordsThanItsSlot)
{
	block["slots"] = {{{"cpu", 0}, {"position", 1}, {"capacity", 8}, {"records", 2}}};
	EXPECT_TRUE(says(complaint(crafted(head, block.dump())), "\"records\" is more than the slot can have held"));
	block["slots"][0]["cpu"] = -2;
	EXPECT_TRUE(says(complaint(crafted(head, block.dump())), "\"cpu\" isn't a whole number"));
}

TEST_F(HostileBlock, ChunkSizesAreBounded)
{
	for (const auto &[stored, plain, reason] : {std::tuple{uint64_t{0}, UINT64_MAX, "more than one can have"},
												{UINT64_MAX, uint64_t{64}, "it was cut"},
												{uint64_t{0}, kMaxChunkBytes, "another number of items"}}) {
		ChunkHeader header;
		header.kind = static_cast<uint32_t>(ChunkKind::Stamps);
		header.stored_bytes = stored;
		header.plain_bytes = plain;
		std::vector<std::byte> bytes(sizeof header);
		std::memcpy(bytes.data(), &header, sizeof header);
		EXPECT_TRUE(says(complaint(crafted(head, block.dump(), bytes)), reason));
	}
}

TEST(TypeTable, NamesTheFieldThatMoved)
{
	auto table = type_table();
	EXPECT_NO_THROW(check_type_table(table));
	table["types"]["SendStamp"]["fields"].push_back({{"name", "new"}, {"offset", 56u}, {"bytes", 8u}});
	EXPECT_NO_THROW(check_type_table(table)) << "a field that we don't read may come";
	table["types"]["SendStamp"]["fields"][2]["offset"] = 24u;
	try {
		check_type_table(table);
		FAIL();
	} catch (const std::runtime_error &error) {
		EXPECT_STREQ(error.what(), "its SendStamp has no send_ns where this icepath reads it");
	}
	table = type_table();
	table["byte_order"] = "middle";
	EXPECT_THROW(check_type_table(table), std::runtime_error);
}

} // namespace
} // namespace icepath::rundir
