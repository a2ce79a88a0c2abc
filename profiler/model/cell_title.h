// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of a cell and its threads, for progress messages, errors, reports and flame graphs.
#include <string>

#include "profiler/model/run.h"

namespace icepath::model {

std::string payload_text(uint64_t bytes); // "64 B", "4 KiB", "1 MiB"; powers of 1024 only where they are exact

// Levels of the pattern's factors and of others that aren't neutral, and the quality of service that was asked for:
// " from 4", " 1:10 depth 16", " +20 µs sender". May be empty.
std::string levels_text(const Cell &cell);

// What distinguishes cells of one target: "64 B pingpong block", followed by injected delays: "… +20 µs sender".
std::string variant(const Cell &cell);

// Target and variant: "uds-stream 64 B pingpong block". The target's name is as the plug-in gave it.
std::string title(const Cell &cell);

// What names a cell in any run: "uds-stream pingpong block processes 64B own", with further words `name=value` for its
// rate, its limits, levels of factors that aren't neutral, and quality of service. The second of two cells that are
// alike in all of these ends in " #2".
std::string key(const Cell &cell);
std::vector<std::string> keys(const std::vector<Cell> &cells);

// Name of a side's thread: "client" and "server" of reqrep, "initiator" and "responder" of pingpong, otherwise "sender"
// and "receiver"; with several of these "receiver 2", counted from 1; "both ends" if it is both. At most 15 bytes.
std::string side_name(const Cell &cell, size_t side);

} // namespace icepath::model
