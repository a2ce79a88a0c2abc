// SPDX-License-Identifier: Apache-2.0
// A calibration file of any bytes: a std::runtime_error, or it can be written and read again, and places messages
// within their calls.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "profiler/calibrate/calibration.h"
#include "profiler/rundir/json_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	using namespace icepath;
	calibrate::Calibration calibration;
	try {
		calibration = calibrate::from_json(rundir::parse_json({reinterpret_cast<const char *>(data), size}));
	} catch (const std::runtime_error &) {
		return 0;
	}
	const std::string text = rundir::json_text(calibrate::to_json(calibration));
	if (rundir::json_text(calibrate::to_json(calibrate::from_json(rundir::parse_json(text)))) != text)
		std::abort();
	std::vector<model::Cell> cells;
	for (const calibrate::CalibratedTarget &target : calibration.targets)
		for (const uint64_t bytes : {uint64_t{1}, uint64_t{64}, uint64_t{5000}, uint64_t{1} << 30}) {
			cells.emplace_back().target = target.target;
			cells.back().payload_bytes = bytes;
		}
	calibrate::tell_cells(calibration, cells);
	const auto is_share = [](double share) { return share >= 0 && share <= 1; };
	for (const model::Cell &cell : cells)
		if (cell.calibrated && !(is_share(cell.calibrated->ready) && is_share(cell.calibrated->taken)))
			std::abort();
	return 0;
}
