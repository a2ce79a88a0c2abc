// SPDX-License-Identifier: Apache-2.0
#include "profiler/isolation/memory_info.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace icepath::isolation {

uint64_t memory_info(const Tree &tree, const std::string &name)
{
	std::ifstream lines(tree.root + "/proc/meminfo"); // the keeper's filter refuses Tree::open()
	for (std::string line, label; std::getline(lines, line);) {
		uint64_t value = 0;
		if (std::istringstream words(line); words >> label >> value && label == name + ":")
			return value;
	}
	return 0;
}

std::string pages_that_remain(const Tree &tree, uint64_t before)
{
	const uint64_t now = memory_info(tree, "HugePages_Surp");
	if (now <= before)
		return "";
	const uint64_t pages = now - before;
	return fmt::format("{} huge {} ({} KiB) that {} added for the run {} still in use, and {} once the programs that "
					   "have mapped {} end (HugePages_Surp in /proc/meminfo)",
					   pages, pages == 1 ? "page" : "pages", pages * memory_info(tree, "Hugepagesize"),
					   pages == 1 ? "was" : "were", pages == 1 ? "is" : "are", pages == 1 ? "goes" : "go",
					   pages == 1 ? "it" : "them");
}

} // namespace icepath::isolation
