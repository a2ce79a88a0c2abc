// SPDX-License-Identifier: Apache-2.0
#include "profiler/gate/gate_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "profiler/failure.h"
#include "tests/rundir/example_run.h"

namespace icepath::gate {
namespace {

std::string file_refusal(const std::string &text)
{
	try {
		parse_gates(text, "ci.toml");
	} catch (const Failure &failure) {
		EXPECT_EQ(failure.code(), ExitCode::Usage);
		return failure.what();
	}
	return "accepted";
}

constexpr const char *kGood = R"(undecided = "warn"

[[gate]]
name = "quick"
cells = ["tcp *", "udp pingpong *"]
expect = ["p50 < 40us", "lost == 0"]

[[gate]]
cells = "*"
expect = "max < 1s"
undecided = "fail"
)";

TEST(GateFile, HasGates)
{
	const std::vector<Gate> gates = parse_gates(kGood, "ci.toml");
	ASSERT_EQ(gates.size(), 2u);
	EXPECT_EQ(gates[0].name, "quick");
	EXPECT_EQ(gates[0].undecided, Undecided::Warns);
	EXPECT_EQ(gates[0].cells.size(), 2u);
	ASSERT_EQ(gates[0].expectations.size(), 2u);
	EXPECT_EQ(gates[0].expectations[1].figure, Figure::Lost);
	EXPECT_EQ(gates[1].name, "gate 2");
	EXPECT_EQ(gates[1].undecided, Undecided::Fails);
}

TEST(GateFile, PatternsMatchWholeKeys)
{
	EXPECT_TRUE(matches("*", "tcp pingpong block processes 64B own"));
	EXPECT_TRUE(matches("tcp * 64B *", "tcp pingpong block processes 64B own"));
	EXPECT_TRUE(matches("tc? *own", "tcp pingpong block processes 64B own"));
	EXPECT_TRUE(matches("tcp*", "tcp"));
	EXPECT_FALSE(matches("tcp", "tcp pingpong"));
	EXPECT_FALSE(matches("tcp * 4B *", "tcp pingpong block processes 64B own"));
	EXPECT_FALSE(matches("", "tcp"));
	EXPECT_FALSE(matches("?", ""));
	EXPECT_TRUE(matches("[a]", "[a]")); // nothing but * and ? is special
	EXPECT_FALSE(matches("[a]", "a"));
	// Takes no time that grows with the number of stars.
	EXPECT_FALSE(matches(std::string(60, '*') + "a*a*a*a*a*a*a*a*b", std::string(10'000, 'a')));
}

TEST(GateFile, KeepsLettersBeyondAscii)
{
	const std::vector<Gate> gates =
		parse_gates("# größer\n[[gate]]\nname = 'a~b ä~7e'\ncells = \"t\\u00e4st *\"\nexpect = \"p50 < 4µs\"\n", "x");
	EXPECT_EQ(gates.at(0).name, "a~b ä~7e");
	EXPECT_EQ(gates[0].cells.at(0), "täst *");
	EXPECT_EQ(gates[0].expectations.at(0).limit, 4000);
	EXPECT_TRUE(file_refusal("größe = 1").starts_with("ci.toml:1: ")) << file_refusal("größe = 1");
	EXPECT_NE(file_refusal("'größe' = 1").find("\"größe\" isn't known"), std::string::npos)
		<< file_refusal("'größe' = 1");
}

TEST(GateFile, SaysWhatIsWrongAndWhere)
{
	const std::string begin = "[[gate]]\ncells = \"*\"\n";
	const std::pair<std::string, const char *> all[] = {
		{"", "ci.toml:1: it has no gate"},
		{"# nothing\n", "ci.toml:1: it has no gate"},
		{"gate = []", "ci.toml:1: gate must be a table in double brackets"},
		{"[gate]\ncells = \"*\"\nexpect = \"lost == 0\"", "ci.toml:1: gate must be a table in double brackets"},
		{"gate = [1]", "ci.toml:1: gate must be a table"},
		{"[[gates]]\n", "\"gates\" isn't known: a file of gates has undecided, gate"},
		{begin + "expected = \"lost == 0\"", "ci.toml:3: \"expected\" isn't known: a gate has name, cells, expect"},
		{begin, "ci.toml:1: this gate has no expect"},
		{begin + "expect = []", "ci.toml:3: expect is empty"},
		{begin + "expect = [\"\"]", "ci.toml:3: expect must be a text"},
		{begin + "expect = 5", "ci.toml:3: expect must be a text"},
		{begin + "expect = [\n\"lost == 0\",\n\"p5 < 4us\"]", "ci.toml:5: \"p5 < 4us\": it must begin with a figure"},
		{"[[gate]]\nexpect = \"lost == 0\"", "ci.toml:1: this gate has no cells"},
		{"[[gate]]\nexpect = \"lost == 0\"\ncells = []", "ci.toml:3: cells is empty"},
		{begin + "expect = \"lost == 0\"\nundecided = \"pass\"", "ci.toml:4: undecided is \"pass\""},
		{"undecided = true\n" + begin, "ci.toml:1: undecided must be a text"},
		{begin + "expect = \"lost == 0\"\nname = \"gate 2\"\n" + begin + "expect = \"lost == 0\"",
		 "two gates are called \"gate 2\""},
		{begin + "expect = \"lost == 0", "ci.toml:3: "},
		{"a = " + std::string(100, '[') + std::string(100, ']'), "ci.toml:1: "},
		{"a" + std::string(1000, '.') + "a = 1", "more than 128 dots"},
		{std::string("\xff\xfe\x00g", 4), "ci.toml:1: "},
		{begin + "[~a = 1", "ci.toml: it isn't TOML"},
		{begin + "[ß", "ci.toml: it isn't TOML"},
	};
	for (const auto &[text, why] : all)
		EXPECT_NE(file_refusal(text).find(why), std::string::npos) << text.substr(0, 100) << "\n" << file_refusal(text);
}

TEST(GateFile, IsReadOnceItIsAFileOfLimitedSize)
{
	const rundir::TemporaryDirectory temporary;
	const std::string path = temporary.path("ci.toml");
	const auto refused = [](const std::string &file, const char *why) {
		try {
			read_gates(file);
			ADD_FAILURE() << file << " was read";
		} catch (const Failure &failure) {
			EXPECT_EQ(failure.code(), ExitCode::Usage);
			EXPECT_NE(std::string(failure.what()).find(why), std::string::npos) << failure.what();
		}
	};
	refused(path, "can't be opened");
	refused(temporary.path("."), "can't be read");
	std::ofstream(path) << kGood;
	EXPECT_EQ(read_gates(path).size(), 2u);
	std::ofstream(path) << kGood << std::string(kMostFileBytes, '#');
	refused(path, "at most");
}

} // namespace
} // namespace icepath::gate
