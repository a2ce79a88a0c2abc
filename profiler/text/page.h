// SPDX-License-Identifier: Apache-2.0
#pragma once
// A text laid out for a terminal, line by line.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "profiler/text/look.h"

namespace icepath::text {

// As many of `facts` as fit into `width` columns, and the first in any case: "words · words".
std::string fitting(const std::vector<std::string> &facts, size_t width);

class Page {
public:
	Page(const Look &look, size_t width) : look_(look), width_(width) {}

	const Look &look() const { return look_; }
	size_t width() const { return width_; }
	std::string take() { return std::move(text_); }

	std::string spelled(const std::string &text) const { return text::spelled(text, look_); }

	void line(const std::string &text = "") { text_ += text + "\n"; }
	size_t lines() const { return static_cast<size_t>(std::ranges::count(text_, '\n')); }
	void add(Page other) { text_ += other.take(); } // of the same look and width
	void heading(const std::string &text);
	// "label     words · words", in one line as far as facts fit, with a command at the page's right end.
	void line_with_command(const std::string &label, const std::vector<std::string> &facts, const std::string &command);
	// "label     words words", wrapped at spaces and indented under the first word.
	void paragraph(const std::string &label, const std::string &words, size_t indent = 10);

private:
	const Look look_;
	const size_t width_;
	std::string text_;
};

} // namespace icepath::text
