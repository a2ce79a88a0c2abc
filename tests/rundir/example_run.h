// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small run with no field at its default, and a temporary directory for it.
#include <filesystem>
#include <string>

#include "profiler/model/block.h"
#include "profiler/model/run.h"

namespace icepath::rundir {

class TemporaryDirectory {
public:
	TemporaryDirectory();
	~TemporaryDirectory();
	TemporaryDirectory(const TemporaryDirectory &) = delete;
	TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;
	std::string path(const std::string &name) const { return directory_ / name; }

private:
	std::filesystem::path directory_;
};

model::Head example_head();
model::Head head_with_arms(); // the first of its cells is of one, the second of its control
model::Block example_block(uint32_t round, bool probed);
model::Tail example_tail();

std::string file_bytes(const std::string &path);
void write_file(const std::string &path, const std::string &bytes);

} // namespace icepath::rundir
