// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/page.h"

#include <algorithm>

#include "profiler/text/columns.h"

namespace icepath::text {

std::string fitting(const std::vector<std::string> &facts, size_t width)
{
	std::string text;
	for (const std::string &fact : facts)
		if (text.empty() || columns(text) + 3 + columns(fact) <= width)
			text += (text.empty() ? "" : " · ") + fact;
	return text;
}

void Page::heading(const std::string &text)
{
	line(look_.colour ? "\033[1m" + spelled(text) + "\033[0m" : spelled(text));
}

void Page::line_with_command(const std::string &label, const std::vector<std::string> &facts,
							 const std::string &command)
{
	const size_t taken = columns(label) + (command.empty() ? 0 : 2 + columns(command));
	const size_t room = width_ - std::min(width_, taken);
	std::vector<std::string> shown = facts;
	for (std::string &fact : shown)
		fact = spelled(fact); // may be longer
	const std::string text = spelled(fitting(shown, room));
	if (columns(text) <= room)
		return line(label + (command.empty() ? text : pad_right(text, room) + "  " + command));
	paragraph(label, text, columns(label));
	if (!command.empty())
		line(pad_left(command, width_));
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

} // namespace icepath::text
