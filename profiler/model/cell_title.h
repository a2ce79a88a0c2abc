// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a cell and its threads are called, wherever it is spoken of: progress, errors, reports, flame graphs.
#include <string>

#include "profiler/model/run.h"

namespace icepath::model {

std::string payload_text(uint64_t bytes); // "64 B", "4 KiB", "1 MiB"; powers of 1024 only where they are exact

// What the plan varies besides pattern, size, wait and place: " from 4", " 1:10 depth=16", " +20 µs sender"; empty: nothing.
std::string levels_text(const Cell &cell);

// What distinguishes cells of one target: "64 B pingpong block", with the delays that were put into it: "… +20 µs sender".
std::string variant(const Cell &cell);

// "uds-stream 64 B pingpong block": target and variant. The target's name is as the plug-in gave it.
std::string title(const Cell &cell);

// Of a side's thread: "sender", "receiver"; with several of these "receiver 2", counted from 1; "both ends" where it has
// both. At most 15 bytes.
std::string side_name(const Cell &cell, size_t side);

} // namespace icepath::model
