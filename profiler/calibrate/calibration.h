// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `icepath calibrate` found, as its file has it and as runs use it.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/calibrate/placement.h"
#include "profiler/model/cell.h"

namespace icepath::calibrate {

struct CalibratedSize {
	uint64_t payload_bytes = 0;
	Share ready; // of the sending call: the message is in the queue
	Share taken; // of the taking call: it is out of it, or its receiver alone has the queue
};

struct CalibratedTarget {
	std::string target; // as runs call it
	std::vector<CalibratedSize> sizes; // by payload_bytes, ascending; empty: not placed
	std::string why_not; // where a target has no sizes, or not all
};

// What a calibration holds for.
struct Host {
	std::string kernel, kernel_version, cpu_model; // uname(2)'s release and version, and what /proc/cpuinfo says
	friend bool operator==(const Host &, const Host &) = default;
};
Host host_of(const std::string &description); // of run::describe_host()

struct Calibration {
	std::string icepath_version, made_utc;
	Host host;
	std::vector<CalibratedTarget> targets;
};

nlohmann::ordered_json to_json(const Calibration &calibration);

// The file's content. Throws std::runtime_error with what is wrong.
Calibration from_json(const nlohmann::ordered_json &json);

// The file. Throws Failure(Usage) where it can't be read, is no calibration, or was made on another kernel or CPU.
Calibration read_calibration(const std::string &path, const Host &host);

// Tells each cell whose messages go in one call of a calibrated target's where its messages are in the queue and out of it:
// between calibrated sizes by the logarithm of the payload. What is smaller or larger than all of them isn't told. Returns how
// many cells were.
size_t tell_cells(const Calibration &calibration, std::vector<model::Cell> &cells);

} // namespace icepath::calibrate
