// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of texts in columns, each as wide as its widest text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/text/page.h"

namespace icepath::text {

enum class Side : uint8_t { Left, Right }; // of its column that a text stands at

struct TableColumn {
	Side side = Side::Left;
	size_t least = 0; // width
	size_t gap = 2; // blanks before it; of the first column the indent
	bool is_dim = false;
};

class Table {
public:
	explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

	// Missing texts are empty. `rest`: follows the last column as it is, spelled for the page and perhaps in colours.
	void add(std::vector<std::string> texts, std::string rest = "");
	// A line that isn't in columns.
	void add_line(std::string line) { rows_.push_back({{}, std::move(line)}); }

	// Spelled for `look`, without blanks at the end. A column without width isn't there, nor is its gap.
	std::vector<std::string> lines(const Look &look) const;
	void add_to(Page &page) const;

private:
	struct Row {
		std::vector<std::string> texts; // empty: `rest` is the line
		std::string rest;
	};
	std::vector<TableColumn> columns_;
	std::vector<Row> rows_;
};

} // namespace icepath::text
