// SPDX-License-Identifier: Apache-2.0
#pragma once
// A printed text by its lines.
#include <sstream>
#include <string>
#include <vector>

namespace icepath {

inline std::vector<std::string> lines_of(const std::string &text)
{
	std::vector<std::string> lines;
	std::istringstream in(text);
	for (std::string line; std::getline(in, line);)
		lines.push_back(line);
	return lines;
}

} // namespace icepath
