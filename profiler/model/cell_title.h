// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of a cell and its threads, for progress messages, errors, reports and flame graphs.
#include <string>

#include "profiler/model/cell_key.h"
#include "profiler/model/run.h"

namespace icepath::model {

std::string payload_text(uint64_t bytes); // "64 B", "4 KiB", "1 MiB"; powers of 1024 only where they are exact

// Levels of the pattern's factors and of others that aren't neutral, and the quality of service that was asked for:
// " from 4", " 1:10 depth 16", " +20 µs sender". May be empty.
std::string levels_text(const CellKey &key);

// What distinguishes cells of one target: "64 B pingpong block", followed by injected delays: "… +20 µs sender". Rates
// and idle states are left out: cells of a run that differ by these alone have the same.
std::string variant(const CellKey &key);
std::string variant(const Cell &cell);

// Target and variant: "uds-stream 64 B pingpong block".
std::string title(const CellKey &key);
std::string title(const Cell &cell);

// Name of a side's thread: "client" and "server" of reqrep, "initiator" and "responder" of pingpong, otherwise "sender"
// and "receiver"; with several of these "receiver 2", counted from 1; "both ends" if it is both. At most 15 bytes.
std::string side_name(const Cell &cell, size_t side);

} // namespace icepath::model
