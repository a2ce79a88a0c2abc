// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a cell is, in any run and in all outputs: two cells are the same if their keys are equal. Names, ranks and
// comparisons of cells are made from it.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/cell.h"

namespace icepath::model {

struct CellKey {
	std::string target; // as the plug-in gave it
	Pattern pattern = Pattern::PingPong;
	Wait wait = Wait::Block;
	Between place = Between::Processes;
	uint64_t payload_bytes = 64;
	IdleStates idle_states = IdleStates::Own;
	std::optional<double> rate_hz = {}; // see Cell
	std::optional<RateLimits> limits = {}; // see Cell
	Levels levels = {};
	Qos qos = {}; // as asked for
	std::string arm = {}; // whose build or configuration it is, where several are compared; empty: there is one
	friend bool operator==(const CellKey &, const CellKey &) = default;
};

CellKey key_of(const Cell &cell);

// "uds-stream pingpong block processes 64B own", with further words `name=value` for its rate, its limits, levels of
// factors that aren't neutral, quality of service, and arm. It is `key` in run.json.
std::string text(const CellKey &key);
// A key with that text; nothing if none has it. Times of quality of service have six digits there.
std::optional<CellKey> parsed_key(std::string_view text);
// Texts of a run's cells. The second of two cells with the same key ends in " #2".
std::vector<std::string> key_texts(const std::vector<CellKey> &keys);

// Without what belongs to the target: cells whose loads are equal can be ranked among each other. The arm stays, since
// cells of different arms are compared, but not ranked.
CellKey load_of(CellKey key);

// What tells cells apart besides target and arm, in words. The first ones make them least alike.
inline constexpr std::array kKeyAspects = {"pattern", "size",   "between", "idle states of CPUs",
										   "rate",    "levels", "wait"};
using KeyAspects = std::array<std::string, kKeyAspects.size()>;
KeyAspects aspects_of(const CellKey &key);

// In what two cells differ: "rate: 100/s and 10000/s". Target and arm come first, then the aspects in their order.
// Rates of different patterns aren't named, because the pattern decides whether there is one. Empty if the keys are
// equal.
std::vector<std::string> differing(const CellKey &a, const CellKey &b);

} // namespace icepath::model
