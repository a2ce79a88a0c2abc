// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/columns.h"

#include <algorithm>
#include <array>
#include <utility>

namespace icepath::text {
namespace {

size_t character_bytes(unsigned char first) { return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4; }

} // namespace

size_t columns(std::string_view text)
{
	return static_cast<size_t>(
		std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string pad_left(const std::string &text, size_t width)
{
	return std::string(width - std::min(width, columns(text)), ' ') + text;
}

std::string pad_right(const std::string &text, size_t width)
{
	return text + std::string(width - std::min(width, columns(text)), ' ');
}

std::string to_ascii(const std::string &text)
{
	static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kSpellings = {{{"µ", "u"},
																								 {"±", "+/-"},
																								 {"·", "-"},
																								 {"→", "->"},
																								 {"←", "<-"},
																								 {"×", "x"},
																								 {"≥", ">="},
																								 {"…", "..."},
																								 {"–", "-"}}};
	std::string ascii;
	for (size_t at = 0; at < text.size();) {
		const size_t length = std::min(character_bytes(static_cast<unsigned char>(text[at])), text.size() - at);
		const std::string_view character = std::string_view(text).substr(at, length);
		const auto *spelling =
			std::ranges::find(kSpellings, character, &std::pair<std::string_view, std::string_view>::first);
		const bool plain = length == 1 && static_cast<unsigned char>(character[0]) < 0x80;
		ascii += plain ? character : spelling != kSpellings.end() ? spelling->second : "?";
		at += length;
	}
	return ascii;
}

} // namespace icepath::text
