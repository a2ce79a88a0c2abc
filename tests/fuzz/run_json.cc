// SPDX-License-Identifier: Apache-2.0
// HEAD, TAIL, WINDOW, MEASUREMENT and a cell as any JSON: whatever can be read can be written, and reads back the same;
// anything else is a std::runtime_error. The first byte selects the kind.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "profiler/rundir/cell_json.h"
#include "profiler/rundir/head_json.h"
#include "profiler/rundir/json_text.h"
#include "profiler/rundir/window_json.h"

namespace {

using namespace icepath;

// `text`, read and written again.
std::string written(char kind, std::string_view text)
{
	static const std::vector<model::Cell> cells = [] {
		model::Cell cell;
		cell.graph = model::star(1, {2, 3}, model::Between::Threads, false);
		return std::vector{cell};
	}();
	const nlohmann::ordered_json json = rundir::parse_json(text);
	switch (kind) {
	case 'h':
		return rundir::json_text(rundir::to_json(rundir::head_from_json(json)));
	case 't':
		return rundir::json_text(rundir::to_json(rundir::tail_from_json(json)));
	case 'c':
		return rundir::json_text(rundir::to_json(rundir::cell_from_json(json)));
	case 'w': // the records determine their count
		return rundir::json_text(rundir::to_json(rundir::window_from_json(json).window, 1));
	case 'm': // and the stamps theirs
		return rundir::json_text(rundir::to_json(rundir::block_from_json(json, cells).block));
	default:
		throw std::runtime_error("no kind of JSON");
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const std::string_view text(reinterpret_cast<const char *>(data), size);
	if (text.empty())
		return 0;
	std::string once;
	try {
		once = written(text[0], text.substr(1));
	} catch (const std::runtime_error &) {
		return 0;
	}
	if (written(text[0], once) != once)
		std::abort();
	return 0;
}
