// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/page.h"

#include <algorithm>

#include "profiler/report/quantity.h"

namespace icepath::report {

std::string Page::spelled(const std::string &text) const { return look_.unicode ? text : to_ascii(text); }

void Page::heading(const std::string &text)
{
	line(look_.colour ? "\033[1m" + spelled(text) + "\033[0m" : spelled(text));
}

void Page::paragraph(const std::string &label, const std::string &words, size_t indent)
{
	std::string out = pad_right(spelled(label), indent);
	const std::string rest = spelled(words);
	for (size_t at = 0; at < rest.size();) {
		const size_t end = std::min(rest.find(' ', at), rest.size());
		const std::string word = rest.substr(at, end - at);
		if (columns(out) > indent && columns(out) + 1 + columns(word) > width_) {
			line(out);
			out = std::string(indent, ' ');
		}
		out += columns(out) > indent ? " " + word : word;
		at = end + 1;
	}
	line(out);
}

} // namespace icepath::report
