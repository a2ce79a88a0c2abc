// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>

namespace icepath::model {
namespace {

struct Character {
	uint32_t code = 0;
	size_t bytes = 0; // 0: not UTF-8
};

// Well-formed UTF-8 by table 3-7 of the Unicode standard: no overlong forms, no surrogates.
Character character_at(std::string_view text, size_t at)
{
	const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
	const unsigned char first = byte(0);
	if (first < 0x80)
		return {first, 1};
	const size_t bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (first < 0xc2 || first > 0xf4 || at + bytes > text.size())
		return {};
	uint32_t code = first & (0x7fu >> bytes);
	for (size_t i = 1; i < bytes; ++i) {
		if ((byte(i) & 0xc0) != 0x80)
			return {};
		code = code << 6 | (byte(i) & 0x3fu);
	}
	constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
	if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return {};
	return {code, bytes};
}

struct Range {
	uint32_t first, last;
};

// Controls, format characters, line separators, and what is displayed as nothing (Default_Ignorable_Code_Point of
// Unicode 16).
constexpr Range kUnseen[] = {
	{0x0000, 0x001f},   {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x0600, 0x0605},
	{0x061c, 0x061c},   {0x06dd, 0x06dd},   {0x070f, 0x070f},   {0x115f, 0x1160},   {0x17b4, 0x17b5},
	{0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
	{0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0xfffe, 0xffff},
	{0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

bool is_unseen(uint32_t code)
{
	if (code >= 0x20 && code < 0x7f)
		return false;
	const auto *after = std::ranges::upper_bound(kUnseen, code, {}, &Range::first);
	return after != std::begin(kUnseen) && code <= std::prev(after)->last;
}

std::string escape_of(uint32_t code)
{
	if (code == '\n')
		return "\\n";
	if (code == '\t')
		return "\\t";
	return code <= 0xff     ? fmt::format("\\x{:02x}", code)
		   : code <= 0xffff ? fmt::format("\\u{:04x}", code)
							: fmt::format("\\U{:08x}", code);
}

// Length of the colour sequence at `at`, or 0. Only the sequences that icepath prints: some others hide text.
size_t colour_at(std::string_view text, size_t at)
{
	constexpr std::array<std::string_view, 5> kPlain = {"0", "1", "31", "32", "33"};
	constexpr std::string_view kOfTable = "38;5;", kBegin = "\033[";
	if (!text.substr(at).starts_with(kBegin))
		return 0;
	const size_t begin = at + kBegin.size();
	const std::string_view rest = text.substr(begin, kOfTable.size() + 4);
	const size_t end = rest.find('m');
	if (end == std::string_view::npos)
		return 0;
	std::string_view code = rest.substr(0, end);
	const bool plain = std::ranges::find(kPlain, code) != kPlain.end();
	const bool of_table = code.starts_with(kOfTable) && code.size() > kOfTable.size() &&
						  code.find_first_not_of("0123456789", kOfTable.size()) == std::string_view::npos;
	return plain || of_table ? kBegin.size() + end + 1 : 0;
}

// Passes each character or its escape to `take` until that returns false.
template <typename Take> void each_piece(std::string_view text, bool is_page, Take take)
{
	for (size_t at = 0; at < text.size();) {
		const Character here = character_at(text, at);
		size_t bytes = std::max<size_t>(here.bytes, 1);
		bool plain = here.bytes > 0 && !is_unseen(here.code);
		if (is_page && !plain) {
			const size_t colour = colour_at(text, at);
			plain = here.code == '\n' || here.code == '\t' || colour > 0;
			bytes = std::max(bytes, colour);
		}
		const bool goes_on =
			plain ? take(text.substr(at, bytes))
				  : take(here.bytes > 0 ? escape_of(here.code) : escape_of(static_cast<unsigned char>(text[at])));
		if (!goes_on)
			return;
		at += bytes;
	}
}

size_t characters(std::string_view piece)
{
	return static_cast<size_t>(
		std::ranges::count_if(piece, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

} // namespace

std::string printable(std::string_view text, size_t longest)
{
	// Nearly all texts.
	if (text.size() <= longest && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; }))
		return std::string(text);
	std::string safe;
	size_t length = 0, cut_at = 0; // in characters; bytes of `safe` after which "…" still fits
	bool fits = true;
	each_piece(text, false, [&](std::string_view piece) {
		length += characters(piece);
		fits = length <= longest;
		if (fits)
			safe += piece;
		if (length < longest)
			cut_at = safe.size();
		return fits;
	});
	if (!fits) {
		safe.resize(cut_at);
		safe += "…";
	}
	return safe;
}

std::string printable_page(std::string_view text)
{
	std::string safe;
	safe.reserve(text.size());
	each_piece(text, true, [&](std::string_view piece) {
		safe += piece;
		return true;
	});
	return safe;
}

} // namespace icepath::model
