// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/table.h"

#include <algorithm>
#include <utility>

#include "profiler/text/columns.h"

namespace icepath::text {

namespace {

std::string dimmed(const std::string &text, bool is_dim) { return is_dim ? "\033[2m" + text + "\033[0m" : text; }

} // namespace

void Table::add(std::vector<std::string> texts, std::string rest)
{
	texts.resize(columns_.size());
	rows_.push_back({std::move(texts), std::move(rest)});
}

std::vector<std::string> Table::lines(const Look &look) const
{
	std::vector<size_t> widths;
	for (const TableColumn &column : columns_)
		widths.push_back(column.least);
	for (const Row &row : rows_)
		for (size_t i = 0; i < row.texts.size(); ++i)
			widths[i] = std::max(widths[i], columns(spelled(row.texts[i], look)));
	std::vector<std::string> lines;
	for (const Row &row : rows_) {
		std::string line;
		for (size_t i = 0; i < row.texts.size(); ++i) {
			if (widths[i] == 0)
				continue;
			const std::string text = spelled(row.texts[i], look);
			line += std::string(columns_[i].gap, ' ');
			line += dimmed(columns_[i].side == Side::Left ? pad_right(text, widths[i]) : pad_left(text, widths[i]),
						   columns_[i].is_dim && look.colour);
		}
		line += row.rest;
		line.erase(line.find_last_not_of(' ') + 1);
		lines.push_back(std::move(line));
	}
	return lines;
}

void Table::add_to(Page &page) const
{
	for (const std::string &line : lines(page.look()))
		page.line(line);
}

} // namespace icepath::text
