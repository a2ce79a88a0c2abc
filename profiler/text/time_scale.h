// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bars on one scale of µs, so that their lengths compare: each is as long as the p50 of its cell or mode. It is divided
// like the time of a cell's typical messages, or of all messages of a mode.
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "profiler/analysis/cell_modes.h"
#include "profiler/analysis/cell_result.h"
#include "profiler/analysis/layer_style.h"
#include "profiler/text/look.h"

namespace icepath::text {

class TimeScale {
public:
	// Long enough for the p50s that are at most kFar times their median. A longer bar is as long as the scale, in
	// proportion, with a gap. `width`: columns.
	TimeScale(const std::vector<const analysis::CellResult *> &cells, size_t width);

	// "0         15        30        45      60 µs", `width` columns; spaces without any bar.
	std::string axis() const;

	// `width` columns. "12 % known" where too few typical messages have a known path, or there are none and too few of
	// all have; a bar with "?" where typical ones have, but too few of all, or too little of their time; nothing where
	// none was looked at.
	std::string bar(const analysis::CellResult &cell, const Look &look);
	// The same for one of the cell's modes and its messages. A cell with modes has no bar of its own.
	std::string bar(const analysis::CellResult &cell, const analysis::CellMode &mode, const Look &look);

	// The kinds that bars have shown so far: "█ your code  ▓ kernel", and the gap.
	std::vector<std::string> legend(const Look &look) const;
	// What "% known" and "?" mean, if bars have shown them so far.
	std::vector<std::string> readings() const;

	double end_ns() const { return end_ns_; }

private:
	enum class Known { OfTypical, OfAll, OfMode }; // whose share stands instead of a bar
	std::string known(Known of, double share);
	std::string instead_of_bar(const analysis::CellResult &cell);
	std::string bar_of(uint64_t p50_ns, const analysis::Breakdown &layers, bool of_library, const Look &look,
					   const std::string &mark);

	const size_t width_;
	double end_ns_ = 0;
	std::array<bool, analysis::kLayerKinds> shown_{};
	std::array<bool, 3> shown_known_{}; // by Known
	bool has_gap_ = false, has_doubt_ = false;
};

inline constexpr double kFar = 4;

// What "?" beside a bar means.
inline constexpr const char *kDoubtReading =
	"the paths of these messages are known, but those of more than a tenth of all the cell's, or of their time, aren't";

// The shortest scale that holds `ns` and whose quarters are easy to read.
double scale_for(double ns);

} // namespace icepath::text
