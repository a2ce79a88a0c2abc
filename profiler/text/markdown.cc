// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace icepath::text {

std::string markdown(std::string_view text)
{
	std::string safe;
	for (const char c : text)
		if (std::string_view("|`*_<>[]()#@&\\~!+-$:").find(c) != std::string_view::npos)
			safe += fmt::format("&#{};", static_cast<int>(c)); // HTML's reference to a character is no markup
		else
			safe += c;
	return safe;
}

// A longer row of backticks than any in it encloses a code span, whose outer spaces aren't shown (CommonMark, 6.1).
std::string markdown_code(std::string_view text)
{
	size_t row = 0, longest = 0;
	for (const char c : text) {
		row = c == '`' ? row + 1 : 0;
		longest = std::max(longest, row);
	}
	const std::string fence(longest + 1, '`');
	const char *space = longest > 0 ? " " : "";
	return fmt::format("{0}{1}{2}{1}{0}", fence, space, text);
}

MarkdownLines::MarkdownLines(std::string &page, std::string head, std::string more, size_t most)
	: page_(page), head_(std::move(head)), more_(std::move(more)), most_(most)
{}

void MarkdownLines::add(const std::string &line)
{
	constexpr size_t kLineOfOthers = 100;
	const size_t head = any_ ? 0 : head_.size();
	if (left_out_ > 0 || page_.size() + head + line.size() + kLineOfOthers > most_) {
		++left_out_;
		return;
	}
	page_ += (any_ ? "" : head_) + line;
	any_ = true;
}

void MarkdownLines::end() const
{
	if (left_out_ > 0)
		page_ += fmt::format("\n{} more lines have no room here: {} has them.\n", left_out_, more_);
}

} // namespace icepath::text
