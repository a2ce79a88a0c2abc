// SPDX-License-Identifier: Apache-2.0
#pragma once
// A text laid out for a terminal, line by line.
#include <cstddef>
#include <string>

#include "profiler/report/layer_style.h"

namespace icepath::report {

class Page {
public:
	Page(const Look &look, size_t width) : look_(look), width_(width) {}

	const Look &look() const { return look_; }
	size_t width() const { return width_; }
	std::string take() { return std::move(text_); }

	// In characters that the terminal can show: ASCII only without Unicode.
	std::string spelled(const std::string &text) const;

	void line(const std::string &text = "") { text_ += text + "\n"; }
	void heading(const std::string &text);
	// "label     words words", wrapped at spaces and indented under the first word.
	void paragraph(const std::string &label, const std::string &words, size_t indent = 10);

private:
	const Look look_;
	const size_t width_;
	std::string text_;
};

} // namespace icepath::report
