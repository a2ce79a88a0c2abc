// SPDX-License-Identifier: Apache-2.0
#pragma once
// The results of `icepath calibrate`, for its file and for runs.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/calibrate/placement.h"
#include "profiler/model/cell.h"
#include "profiler/model/conditions.h"

namespace icepath::calibrate {

struct CalibratedSize {
	uint64_t payload_bytes = 0;
	Share ready; // of the sending call: when the message is in the queue
	Share taken; // of the taking call: when the message has left the queue, or its receiver alone holds the queue
};

struct CalibratedTarget {
	std::string target; // name in runs
	std::vector<CalibratedSize> sizes; // by payload_bytes, ascending; empty: not placed
	std::string why_not; // why sizes are missing, if any are
};

// The machine for which a calibration is valid.
struct Host {
	std::string kernel, kernel_version, cpu_model; // uname(2)'s release and version; /proc/cpuinfo's "model name"
	friend bool operator==(const Host &, const Host &) = default;
};
Host host_of(const model::Host &host); // as a calibration's file has it

struct Calibration {
	std::string icepath_version, made_utc;
	Host host;
	std::vector<CalibratedTarget> targets;
};

nlohmann::ordered_json to_json(const Calibration &calibration);

// Parses the file's content. Throws std::runtime_error with the defect.
Calibration from_json(const nlohmann::ordered_json &json);

// Reads the file. Throws Failure(Usage) if it can't be read, is no calibration, or was made on another kernel or CPU.
Calibration read_calibration(const std::string &path, const Host &host);

// Sets the call shares of each cell of a calibrated target whose messages take one call. Interpolates by the logarithm
// of the payload; payloads outside the calibrated sizes get none. Returns the number of cells set.
size_t tell_cells(const Calibration &calibration, std::vector<model::Cell> &cells);

} // namespace icepath::calibrate
