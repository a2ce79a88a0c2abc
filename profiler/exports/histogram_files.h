// SPDX-License-Identifier: Apache-2.0
#pragma once
// Histograms in the formats of the HdrHistogram tools (HdrHistogram's plotter, wrk2's and Aeron's scripts,
// HistogramLogProcessor).
#include <cstdint>
#include <string>

#include "profiler/stats/hdr_histogram.h"

namespace icepath::exports {

// Percentile distribution as printed by Histogram.outputPercentileDistribution(out, 5, 1000.0): a histogram in
// nanoseconds, printed in microseconds, five steps for each halving of the distance to 100 %.
std::string hgrm_of(const stats::HdrHistogram &histogram);

// V2 encoding, compressed by zlib: Histogram.encodeIntoCompressedByteBuffer().
std::string v2_compressed(const stats::HdrHistogram &histogram);

// One line of a histogram log, version 1.3, without its line end. `tag` has no comma, space or line break. Times are in
// seconds since the log's start; the largest value is printed in milliseconds (from nanoseconds, over 1e6).
std::string histogram_log_line(const std::string &tag, double begin_s, double length_s,
							   const stats::HdrHistogram &histogram);
// The lines before them. Seconds since the epoch.
std::string histogram_log_head(double started_epoch_s);

} // namespace icepath::exports
