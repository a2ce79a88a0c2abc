// SPDX-License-Identifier: Apache-2.0
#include "profiler/gate/gate_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>

namespace icepath::gate {
namespace {
struct NotToml {};
[[noreturn]] void refuse_toml() { throw NotToml(); }
} // namespace
} // namespace icepath::gate

// What toml++ asserts of a file isn't always so: of "[~" it isn't. Its assertions refuse the file, in every build.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) ((expression) ? void() : icepath::gate::refuse_toml())
// Parsing and what it frees recurse once per level.
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include "profiler/analysis/named_cells.h"
#include "profiler/failure.h"
#include "profiler/model/printable.h"

namespace icepath::gate {
namespace {

constexpr size_t kMostDotsInALine = 128; // each of a key's is a level

// toml++ 3.3 reaches __builtin_unreachable() at letters beyond ASCII outside of texts. So it gets ASCII alone, in which
// '~' and two digits stand for such a byte and for '~' itself, and what it finds in texts is put back.
std::string in_ascii(std::string_view text)
{
	std::string ascii;
	for (const char c : text)
		if (const auto byte = static_cast<unsigned char>(c); byte >= 0x80 || c == '~')
			ascii += fmt::format("~{:02x}", byte);
		else
			ascii += c;
	return ascii;
}

std::string from_ascii(std::string_view ascii)
{
	std::string text;
	for (size_t at = 0; at < ascii.size(); ++at) {
		unsigned byte = 0;
		const char *digits = ascii.data() + at + 1;
		if (ascii[at] == '~' && at + 2 < ascii.size() &&
			std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
			text += static_cast<char>(byte);
			at += 2;
		} else {
			text += ascii[at];
		}
	}
	return text;
}

class GateReader {
public:
	explicit GateReader(const std::string &place) : place_(place) {}

	std::vector<Gate> gates(const toml::table &file)
	{
		check_names(file, {"undecided", "gate"}, "a file of gates");
		const Undecided usual = undecided(file, Undecided::Fails);
		const toml::node *listed = file.get("gate");
		if (!listed)
			fail(1, "it has no gate: begin one by [[gate]]");
		const toml::array *list = listed->as_array();
		if (!list || list->empty() || !list->is_homogeneous<toml::table>())
			fail(line_of(*listed), "gate must be a table in double brackets: [[gate]]");
		std::vector<Gate> gates;
		for (const toml::node &node : *list)
			gates.push_back(gate(*node.as_table(), usual, gates.size() + 1));
		std::set<std::string> names;
		for (size_t i = 0; i < gates.size(); ++i)
			if (!names.insert(gates[i].name).second)
				fail(line_of((*list)[i]), fmt::format("two gates are called \"{}\"", gates[i].name));
		return gates;
	}

private:
	[[noreturn]] void fail(uint32_t line, const std::string &what) const
	{
		throw Failure(ExitCode::Usage, fmt::format("{}:{}: {}", place_, line, what));
	}
	static uint32_t line_of(const toml::node &node) { return std::max(node.source().begin.line, 1u); }

	void check_names(const toml::table &table, const std::vector<std::string_view> &known, const char *of) const
	{
		for (const auto &[name, node] : table)
			if (std::ranges::find(known, name.str()) == known.end())
				fail(line_of(node), fmt::format("\"{}\" isn't known: {} has {}",
												model::printable(from_ascii(name.str()), model::kLongestName), of,
												fmt::join(known, ", ")));
	}

	Undecided undecided(const toml::table &table, Undecided usual) const
	{
		const toml::node *node = table.get("undecided");
		if (!node)
			return usual;
		const std::string word = text(*node, "undecided");
		const auto found = std::ranges::find(kUndecidedNames, word);
		if (found == std::end(kUndecidedNames))
			fail(line_of(*node), fmt::format("undecided is \"{}\", and must be one of {}", model::printable(word),
											 fmt::join(kUndecidedNames, ", ")));
		return static_cast<Undecided>(found - std::begin(kUndecidedNames));
	}

	std::string text(const toml::node &node, const char *of) const
	{
		const auto found = node.value_exact<std::string>();
		if (!found || found->empty())
			fail(line_of(node), fmt::format("{} must be a text in quotes, and not empty", of));
		return from_ascii(*found);
	}

	// A text, or a list of texts, with the line of each.
	std::vector<std::pair<std::string, uint32_t>> texts(const toml::table &table, const char *name) const
	{
		const toml::node *node = table.get(name);
		if (!node)
			fail(line_of(table), fmt::format("this gate has no {}", name));
		std::vector<std::pair<std::string, uint32_t>> found;
		if (const toml::array *list = node->as_array())
			for (const toml::node &one : *list)
				found.emplace_back(text(one, name), line_of(one));
		else
			found.emplace_back(text(*node, name), line_of(*node));
		if (found.empty())
			fail(line_of(*node), fmt::format("{} is empty", name));
		return found;
	}

	Gate gate(const toml::table &table, Undecided usual, size_t number) const
	{
		check_names(table, {"name", "cells", "expect", "undecided"}, "a gate");
		Gate gate;
		const toml::node *name = table.get("name");
		gate.name = name ? model::printable(text(*name, "name"), model::kLongestName) : fmt::format("gate {}", number);
		for (auto &[pattern, line] : texts(table, "cells"))
			gate.cells.push_back(std::move(pattern));
		for (const auto &[expected, line] : texts(table, "expect"))
			gate.expectations.push_back(parse_expectation(expected, fmt::format("{}:{}", place_, line)));
		gate.undecided = undecided(table, usual);
		return gate;
	}

	const std::string &place_;
};

void check_depth(std::string_view text, const std::string &place)
{
	for (size_t line = 1; !text.empty(); ++line) {
		const size_t end = std::min(text.find('\n'), text.size());
		if (std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), '.') >
			static_cast<ptrdiff_t>(kMostDotsInALine))
			throw Failure(ExitCode::Usage, fmt::format("{}:{}: more than {} dots in a line: break it into several",
													   place, line, kMostDotsInALine));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
}

} // namespace

bool matches(std::string_view pattern, std::string_view text)
{
	size_t p = 0, t = 0, star = pattern.npos, after_star = 0; // after_star: where the text went on after '*'
	while (t < text.size())
		if (p < pattern.size() && pattern[p] == '*') {
			star = p++;
			after_star = t;
		} else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
			++p;
			++t;
		} else if (star != pattern.npos) {
			p = star + 1;
			t = ++after_star;
		} else {
			return false;
		}
	return pattern.find_first_not_of('*', p) == pattern.npos;
}

bool means(std::string_view pattern, const GatedCell &cell)
{
	return matches(pattern, cell.key) && (cell.control.empty() || pattern.find(cell.control) != pattern.npos);
}

bool Gate::holds(const GatedCell &cell) const
{
	return std::ranges::any_of(cells, [&](const std::string &pattern) { return means(pattern, cell); });
}

std::vector<GatedCell> gated_cells(const std::vector<model::Cell> &cells, const std::vector<model::Arm> &arms)
{
	const std::vector<std::string> keys = analysis::keys_of(cells);
	std::vector<GatedCell> gated;
	for (size_t i = 0; i < cells.size(); ++i) {
		const model::Arm *arm = model::find_arm(arms, cells[i].arm);
		gated.push_back({keys[i], arm && arm->is_control ? arm->name : ""});
	}
	return gated;
}

Gate gate_of_all(const std::vector<std::string> &expectations, const std::string &place)
{
	Gate gate{place, {"*"}, {}, Undecided::Fails};
	for (const std::string &text : expectations)
		gate.expectations.push_back(parse_expectation(text, place));
	return gate;
}

std::vector<Gate> parse_gates(std::string_view text, const std::string &place)
{
	check_depth(text, place);
	try {
		return GateReader(place).gates(toml::parse(in_ascii(text)));
	} catch (const toml::parse_error &error) {
		throw Failure(ExitCode::Usage, fmt::format("{}:{}: {}", place, std::max(error.source().begin.line, 1u),
												   model::printable(from_ascii(error.description()))));
	} catch (const NotToml &) {
		throw Failure(ExitCode::Usage, fmt::format("{}: it isn't TOML (https://toml.io)", place));
	}
}

std::vector<Gate> read_gates(const std::string &path)
{
	const std::string place = model::printable(path);
	std::ifstream file(path, std::ios::binary);
	if (!file)
		throw Failure(ExitCode::Usage,
					  fmt::format("{}: this file of gates can't be opened: {}", place, std::strerror(errno)));
	std::string text(kMostFileBytes + 1, '\0');
	file.read(text.data(), static_cast<std::streamsize>(text.size()));
	text.resize(static_cast<size_t>(file.gcount()));
	if (file.bad() || (!file.eof() && text.size() <= kMostFileBytes))
		throw Failure(ExitCode::Usage, fmt::format("{}: this file of gates can't be read", place));
	if (text.size() > kMostFileBytes)
		throw Failure(ExitCode::Usage, fmt::format("{}: a file of gates has at most {} bytes", place, kMostFileBytes));
	return parse_gates(text, place);
}

} // namespace icepath::gate
