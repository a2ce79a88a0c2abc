// SPDX-License-Identifier: Apache-2.0
#pragma once
// Markdown of GitHub and GitLab, for a comment on a change: it has no room for more than a comment holds.
#include <cstddef>
#include <string>
#include <string_view>

namespace icepath::text {

inline constexpr size_t kLongestComment = 65'000; // bytes; a comment holds 65,536 characters

// Text as it is: nothing in it is markup, or mentions somebody, also in a cell of a table.
std::string markdown(std::string_view text);
// As code, outside of tables. Backticks stay what they are.
std::string markdown_code(std::string_view text);

// Lines at the end of a page, as long as there is room for them and for the line that tells of the others.
class MarkdownLines {
public:
	// `head`: what stands before the first line, if there is one. `more`: the command that has all. The page gets no
	// more than `most` bytes, unless it has them already. It outlives this.
	MarkdownLines(std::string &page, std::string head, std::string more, size_t most);
	void add(const std::string &line); // with its end
	void end() const;

private:
	std::string &page_;
	std::string head_, more_;
	size_t most_, left_out_ = 0;
	bool any_ = false;
};

} // namespace icepath::text
