// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/look.h"

#include <fmt/format.h>

#include "profiler/text/columns.h"

namespace icepath::text {

std::string spelled(const std::string &text, const Look &look) { return look.unicode ? text : to_ascii(text); }

std::string kind_symbol(analysis::LayerKind kind, size_t times, const Look &look)
{
	const analysis::KindStyle &style = analysis::style_of(kind);
	std::string text;
	for (size_t i = 0; i < times; ++i)
		text += look.unicode ? std::string(style.block) : std::string(1, style.letter);
	return look.colour && times > 0 ? fmt::format("\033[38;5;{}m{}\033[0m", style.terminal, text) : text;
}

} // namespace icepath::text
