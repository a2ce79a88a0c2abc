// SPDX-License-Identifier: Apache-2.0
// A container of any origin is either read as it is or refused in one sentence, without memory or time for what it
// claims to hold.
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <random>

#include "ebpf/records.h"
#include "profiler/model/printable.h"
#include "profiler/rundir/chunk.h"
#include "profiler/rundir/head_json.h"
#include "profiler/rundir/json_text.h"
#include "profiler/rundir/limits.h"
#include "profiler/rundir/type_table.h"
#include "profiler/rundir/window_json.h"
#include "tests/rundir/container_runs.h"

namespace icepath::rundir {
namespace {

class HostileContainer : public ContainerTest {
protected:
	// Hand-made chunks: sound frames around any content.
	std::string crafted(const std::string &head, const std::string &block, const std::vector<std::byte> &more = {})
	{
		std::vector<std::byte> out(sizeof kMagic);
		std::memcpy(out.data(), kMagic, sizeof kMagic);
		const std::string types = type_table().dump();
		append_chunk(out, ChunkKind::Types, std::as_bytes(std::span(types)));
		append_chunk(out, ChunkKind::Head, std::as_bytes(std::span(head)));
		if (!block.empty()) {
			append_chunk(out, ChunkKind::Window, std::as_bytes(std::span(window)));
			append_chunk(out, ChunkKind::Measurement, std::as_bytes(std::span(block)));
		}
		out.insert(out.end(), more.begin(), more.end());
		const std::string path = temporary.path("crafted.icp");
		write_file(path, {reinterpret_cast<const char *>(out.data()), out.size()});
		return path;
	}

	std::string window = to_json(model::Window{}, 1).dump(); // with one block

	// A sound head except for `value` in its description of the host.
	std::string head_with(const std::string &value)
	{
		return crafted(R"({"format_version":3,"icepath_version":"","command_line":"","started_utc":"","host":{"x":)" +
						   value + R"(},"isolation":{},"probes":[],"cells":[],"budget_s":1,"wakes":[]})",
					   "");
	}
};

TEST_F(HostileContainer, EveryChangedByteIsNoticed)
{
	write_run(true);
	const std::string bytes = file_bytes(whole), path = temporary.path("changed.icp");
	std::mt19937 random(1);
	for (size_t at = 0; at < bytes.size(); at += BYTES_APART) {
		std::string changed = bytes;
		changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1 + random() % 255));
		write_file(path, changed);
		EXPECT_TRUE(says(complaint(path), "changed.icp isn't a")) << at;
	}
}

TEST_F(HostileContainer, SaysWhatIsNoRun)
{
	EXPECT_TRUE(says(complaint(temporary.path("nowhere")), "there is no run " + temporary.path("nowhere")));
	EXPECT_TRUE(says(complaint(temporary.path("")), "isn't a run directory"));
	write_file(temporary.path("capture.icp"), "#!/bin/sh\n");
	EXPECT_TRUE(says(complaint(temporary.path("")), "capture.icp isn't an icepath capture: it doesn't begin with"));
	EXPECT_TRUE(says(complaint("/dev/null"), "regular file"));
	ASSERT_EQ(mkfifo(temporary.path("fifo").c_str(), 0600), 0);
	EXPECT_TRUE(says(complaint(temporary.path("fifo")), "regular file"));
}

TEST_F(HostileContainer, NamesFileAndPlace)
{
	write_run(true);
	write_file(whole, file_bytes(whole) + "x");
	EXPECT_TRUE(says(complaint(run), whole + " isn't a readable icepath capture: at byte"));
	EXPECT_TRUE(says(complaint(run), "something follows the tail"));
}

TEST_F(HostileContainer, AnotherFormatIsRefusedWithTheRemedy)
{
	EXPECT_TRUE(says(complaint(crafted(R"({"format_version":2,"unknown":[]})", "")),
					 "it has format 2, this icepath reads formats 3 to 5: use the icepath that wrote it"));
	EXPECT_TRUE(
		says(complaint(crafted(R"({"format_version":6,"icepath_version":"1.2","unknown":[]})", "")),
			 "it has format 6, this icepath reads formats 3 to 5: use icepath 1.2, which wrote it, or a newer one"));
	EXPECT_TRUE(
		says(complaint(crafted(R"({"format_version":6,"icepath_version":7})", "")),
			 "it has format 6, this icepath reads formats 3 to 5: use the icepath that wrote it, or a newer one"));
}

TEST_F(HostileContainer, WrongJsonIsNamedByItsKey)
{
	const std::string head =
		R"({"format_version":3,"icepath_version":"","command_line":"","started_utc":"","host":{},"isolation":{},)"
		R"("probes":[],"cells":[],"budget_s":1})";
	const auto with = [&](const std::string &from, const std::string &to) {
		std::string changed = head;
		changed.replace(changed.find(from), from.size(), to);
		return complaint(crafted(changed, ""));
	};
	EXPECT_TRUE(
		says(with(R"("format_version":3)", R"("format_version":"1")"), "\"format_version\" isn't a whole number"));
	EXPECT_TRUE(
		says(with(R"("format_version":3)", R"("format_version":-1)"), "\"format_version\" isn't a whole number"));
	EXPECT_TRUE(says(with(R"("budget_s":1)", R"("budget_s":[])"), "\"budget_s\" isn't a number"));
	EXPECT_TRUE(says(with(R"("cells":[])", R"("cells":{})"), "\"cells\" isn't a list"));
	EXPECT_TRUE(says(with(R"("cells":[])", R"("cells":[1])"), "an object with \"target\" was expected"));
	EXPECT_TRUE(says(with(R"("host":{})", R"("host":"x")"), "\"host\" isn't an object"));
	EXPECT_TRUE(says(with(R"("probes":[],)", ""), "\"probes\" is missing"));
	EXPECT_TRUE(says(complaint(crafted("[[[[", "")), "it isn't JSON"));
}

TEST_F(HostileContainer, ACellIsOfAnArmThatIsDescribed)
{
	const auto with = [&](auto change) {
		auto head = to_json(head_with_arms());
		change(head);
		return complaint(crafted(head.dump(), ""));
	};
	using Json = nlohmann::ordered_json;
	EXPECT_TRUE(says(with([](Json &head) { head["cells"][0]["arm"] = "ol"; }), "names none of the run's arms"));
	EXPECT_TRUE(says(with([](Json &head) { head["cells"][0].erase("arm"); }), "names none of the run's arms"));
	EXPECT_TRUE(says(with([](Json &head) { head.erase("arms"); }), "names none of the run's arms"));
	EXPECT_TRUE(says(with([](Json &head) { head["arms"][2]["name"] = "old"; }), "\"arms\" has two of one name"));
	EXPECT_TRUE(says(with([](Json &head) { head["arms"][2]["name"] = "a b"; }), "\"name\" is no name of an arm"));
	EXPECT_TRUE(
		says(with([](Json &head) { head["arms"][0]["loaded"][0].erase("build_id"); }), "\"build_id\" is missing"));
	EXPECT_TRUE(says(with([](Json &head) { head["arms"][0]["environment"] = "A=1"; }), "isn't a list"));
}

TEST_F(HostileContainer, ACalibratedShareIsOneOfACall)
{
	for (const nlohmann::ordered_json &bad :
		 {nlohmann::ordered_json(-0.1), nlohmann::ordered_json(1.1), nlohmann::ordered_json("x")}) {
		auto head = to_json(example_head());
		ASSERT_FALSE(head["cells"][1]["calibrated"].is_null());
		head["cells"][1]["calibrated"]["taken"] = bad;
		EXPECT_TRUE(says(complaint(crafted(head.dump(), "")), "\"taken\" is")) << bad;
	}
}

// Copying and printing JSON recurses, so a head must be shallow everywhere.
TEST_F(HostileContainer, NestingIsBounded)
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

// Whoever asks: the opened file is checked, so its name can't be exchanged in between.
TEST_F(HostileContainer, RootReadsNobodyElsesFile)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	write_run(true);
	EXPECT_EQ(complaint(run), "");
	ASSERT_EQ(chown(whole.c_str(), 65534, 65534), 0);
	EXPECT_TRUE(says(complaint(run), "root doesn't read " + whole + ", which belongs to user 65534"));
}

TEST_F(HostileContainer, TextsArePrintableAndNamesAreCut)
{
	model::Head head = example_head();
	head.command_line = "icepath\n\033[2J\u202e";
	head.host.cpu_model = "a\u009bb";
	head.isolation.items = {{"clock", true, "\033[2J", "", ""}};
	head.cells[0].target = std::string(10'000, 'x');
	const Reader reader(crafted(to_json(head).dump(), ""));
	EXPECT_EQ(reader.head().command_line, "icepath\\n\\x1b[2J\\u202e");
	EXPECT_EQ(reader.head().host.cpu_model, "a\\x9bb");
	EXPECT_EQ(reader.head().isolation.items->at(0).found, "\\x1b[2J");
	EXPECT_EQ(reader.head().cells[0].target, std::string(model::kLongestName - 1, 'x') + "…");
}

TEST_F(HostileContainer, KeysAreNames)
{
	for (const std::string &key : {std::string("\\u001b"), std::string("\u202e"), std::string(200, 'k')})
		EXPECT_TRUE(says(complaint(head_with("{\"" + key + "\":1}")), "its JSON has a key that is no name")) << key;
}

TEST_F(HostileContainer, KeysOfAnObjectAreBounded)
{
	std::string text = "{\"first\":0";
	for (int i = 0; i < 500000; ++i)
		text += ",\"" + std::to_string(i) + "\":0";
	EXPECT_TRUE(says(complaint(crafted(text + "}", "")), "more than 1024 keys"));
}

TEST(JsonText, IsWhatNlohmannsOwnParserReads)
{
	for (const char *text : {"[]", "{}", "7", "-3", "1.5e3", "null", "\"\\u00e4 \\ud83d\\ude00\"",
							 R"({"a":[1,{"b":[]},[[2],"x"]],"c":{"d":{"e":true}},"a":{"f":-0.5},"":[null,false]})"})
		EXPECT_EQ(parse_json(text), nlohmann::ordered_json::parse(text)) << text;
	for (const char *text : {"", "[1,]", "{\"a\":}", "[1] 2", "{1:2}", "[1e999]", "\"\xff\"", "nul"}) {
		EXPECT_THROW(parse_json(text), std::runtime_error) << text;
		EXPECT_FALSE(nlohmann::ordered_json::accept(text)) << text;
	}
}

// Each level is cheap, and so is each item: a list as long as a chunk allows must not take quadratic time.
TEST_F(HostileContainer, LongListsAreReadAtOnce)
{
	std::string text = "[{}";
	while (text.size() + 4 < kMaxJsonBytes)
		text += ",{}";
	EXPECT_TRUE(says(complaint(crafted(text + "]", "")), "\"format_version\" was expected"));
}

TEST_F(HostileContainer, AnythingNestedIsReadOrRefused)
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

class HostileBlock : public HostileContainer {
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
	EXPECT_TRUE(says(complaint(crafted(head, block.dump())), "makes the whole larger than it can be"));
	block["flows"][0]["recv_stamps"] = 0;
	std::vector<std::byte> stamps;
	append_chunk(stamps, ChunkKind::Stamps, std::vector<std::byte>(64));
	EXPECT_TRUE(
		says(complaint(crafted(head, block.dump(), stamps)), "another number of items than its description says"));
}

// The largest block of `icepath run -m 1000000`: stamps of every flow, and full slots.
TEST_F(HostileBlock, TheLargestBlockOfARunIsWithinTheLimits)
{
	std::vector<model::Cell> cells(2);
	for (const size_t sides : {size_t{2}, kMaxSides}) {
		cells[1].pattern = sides == 2 ? model::Pattern::PingPong : model::Pattern::FanOut;
		cells[1].graph = model::star(1, std::vector<uint32_t>(sides), model::Between::Processes, sides == 2);
		block["sides"] = std::vector<nlohmann::ordered_json>(sides, block["sides"][0]);
		const size_t flows = cells[1].graph.flows.size();
		block["flows"] = std::vector<nlohmann::ordered_json>(flows, block["flows"][0]);
		for (auto &flow : block["flows"])
			flow["send_stamps"] = flow["recv_stamps"] = most_counted(flows) + kMaxWarmUp;
		EXPECT_NO_THROW(block_from_json(block, cells)) << sides;
	}
	nlohmann::ordered_json large = nlohmann::ordered_json::parse(window);
	for (unsigned cpu = 0; cpu < 16; ++cpu)
		large["slots"].push_back(
			{{"cpu", cpu}, {"first", 0u}, {"position", 1u << 17}, {"capacity", 1u << 16}, {"records", 1u << 16}});
	EXPECT_NO_THROW(window_from_json(large));
	for (unsigned cpu = 16; cpu < 65; ++cpu)
		large["slots"].push_back(
			{{"cpu", cpu}, {"first", 0u}, {"position", 1u << 17}, {"capacity", 1u << 16}, {"records", 1u << 16}});
	EXPECT_THROW(window_from_json(large), std::runtime_error);
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
		EXPECT_TRUE(says(complaint(crafted(head, block.dump())), key == std::string("sides")
																	 ? "another number of items than its cell has"
																	 : "more items than it can have"));
		block[key].clear();
		EXPECT_TRUE(says(complaint(crafted(head, block.dump())), "another number of items than its cell has"));
		block = sound;
	}
}

TEST_F(HostileBlock, HoldsNoMoreRecordsThanItsSlot)
{
	const auto with = [&](int cpu, unsigned position) {
		nlohmann::ordered_json json = nlohmann::ordered_json::parse(to_json(model::Window{}, 1).dump());
		json["slots"] = {{{"cpu", cpu}, {"first", 0u}, {"position", position}, {"capacity", 8u}, {"records", 2u}}};
		window = json.dump();
		return complaint(crafted(head, block.dump()));
	};
	EXPECT_TRUE(says(with(0, 1), "\"records\" is more than the slot can have held"));
	EXPECT_TRUE(says(with(-2, 1), "\"cpu\" isn't a whole number"));
}

// A graph may have any shape, but each part must refer to existing ones.
TEST_F(HostileBlock, AGraphHoldsTogether)
{
	using Json = nlohmann::ordered_json;
	const Json sound = Json::parse(head);
	const auto with = [&](size_t cell, const std::function<void(Json &)> &change) {
		Json json = sound;
		change(json["cells"][cell]["graph"]);
		return complaint(crafted(json.dump(), ""));
	};
	EXPECT_TRUE(says(with(0, [](Json &) {}), "it ends without its tail")) << "the check of the check";
	EXPECT_TRUE(says(with(0, [](Json &graph) { graph["sides"].erase(1); }), "\"sides\" has fewer than two items"));
	EXPECT_TRUE(says(with(0, [](Json &graph) { graph["channels"][0]["receives"] = 2; }), "doesn't have"));
	EXPECT_TRUE(says(with(0, [](Json &graph) { graph["channels"][0]["receives"] = 0; }), "a side with itself"));
	EXPECT_TRUE(says(with(0, [](Json &graph) { graph["flows"][1]["channel"] = 1; }), "doesn't have"));
	EXPECT_TRUE(says(with(0, [](Json &graph) { graph["flows"][0]["to"] = 0; }), "isn't along its channel"));
	EXPECT_TRUE(
		says(with(0, [](Json &graph) { std::swap(graph["flows"][0], graph["flows"][1]); }), "own flow, in order"));
	EXPECT_TRUE(says(with(0, [](Json &graph) { graph["flows"].erase(1); }), "one back along each channel"));
	EXPECT_TRUE(says(with(0, [](Json &graph) { graph["flows"][1] = graph["flows"][0]; }), "one back along each"));
	EXPECT_TRUE(says(with(1, [](Json &graph) { graph["flows"].clear(); }), "fewer items than there are channels"));
	EXPECT_TRUE(says(with(1, [](Json &graph) { graph["channels"].clear(); }), "doesn't have"));
}

TEST_F(HostileBlock, KnowsEveryWordOfItsHead)
{
	for (const char *key : {"mechanisms", "traits"}) {
		nlohmann::ordered_json json = nlohmann::ordered_json::parse(head);
		json["cells"][1][key].push_back("teleport");
		EXPECT_TRUE(says(complaint(crafted(json.dump(), "")), "has a value that this icepath doesn't know")) << key;
		json["cells"][1][key] = 5;
		EXPECT_TRUE(says(complaint(crafted(json.dump(), "")), "isn't a list")) << key;
	}
}

TEST_F(HostileBlock, ChunkSizesAreBounded)
{
	for (const auto &[stored, plain, reason] : {std::tuple{uint64_t{0}, UINT64_MAX, "more than one can have"},
												{UINT64_MAX, uint64_t{64}, "it was cut"},
												{uint64_t{0}, kMaxChunkBytes, "more than 64 times as many"}}) {
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
	for (auto &field : table["types"]["icepath_record"]["fields"])
		if (field["name"] == "call.operation")
			field["offset"] = 58u;
	EXPECT_THROW(check_type_table(table), std::runtime_error);
	// Fields that were once reserved and zero may be missing, others may not.
	table = type_table();
	auto &fields = table["types"]["icepath_record"]["fields"];
	while (fields.back()["name"] != "socket.woken_tid") // in record types that weren't written then
		fields.erase(fields.size() - 1);
	EXPECT_NO_THROW(check_type_table(table));
	fields.back()["offset"] = 8;
	EXPECT_THROW(check_type_table(table), std::runtime_error);
	fields.erase(fields.size() - 1);
	EXPECT_NO_THROW(check_type_table(table));
	table = type_table();
	table["byte_order"] = "middle";
	EXPECT_THROW(check_type_table(table), std::runtime_error);
}

// A field without a row here could move, and readers would take another one's bytes for it.
TEST(TypeTable, HasEveryFieldThatIsNotReserved)
{
	std::map<std::string, size_t> bytes;
	const auto table = type_table();
	for (const auto &field : table.at("types").at("icepath_record").at("fields")) {
		const std::string name = field["name"];
		bytes[name.substr(0, name.find('.') == name.npos ? 0 : name.find('.'))] += field["bytes"].get<size_t>();
	}
	const icepath_record record{};
	EXPECT_EQ(bytes[""], sizeof record - sizeof record.words);
	EXPECT_EQ(bytes["off"], sizeof record.off);
	EXPECT_EQ(bytes["run"], sizeof record.run - sizeof record.run.reserved);
	EXPECT_EQ(bytes["interrupt"], sizeof record.interrupt - sizeof record.interrupt.reserved);
	EXPECT_EQ(bytes["socket"],
			  sizeof record.socket - sizeof record.socket.reserved - sizeof record.socket.reserved_too);
	EXPECT_EQ(bytes["call"], sizeof record.call - sizeof record.call.reserved);
	EXPECT_EQ(bytes["thread"],
			  sizeof record.thread - sizeof record.thread.reserved - sizeof record.thread.reserved_too);
	EXPECT_EQ(bytes["loss"], sizeof record.loss - sizeof record.loss.reserved);
	EXPECT_EQ(bytes["sample"], sizeof record.sample - sizeof record.sample.reserved);
}

} // namespace
} // namespace icepath::rundir
