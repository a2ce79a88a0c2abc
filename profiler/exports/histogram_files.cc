// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/histogram_files.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace icepath::exports {
namespace {

using stats::HdrHistogram;

// Java rounds halves up, C to even; levels are binary fractions, many of which end in a half at the twelfth digit.
constexpr double kHalfUp = 1e-15;
constexpr double kNsPerUs = 1e3, kNsPerMillisecond = 1e6;

// From EncodableHistogram and AbstractHistogram of the Java original; the low nibble of 1 says "V2 and later".
constexpr uint32_t kCookie = 0x1c849303 | 0x10;
constexpr uint32_t kCompressedCookie = 0x1c849304 | 0x10;

void put_big_endian(std::string &out, uint64_t value, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		out += static_cast<char>(value >> (8 * i));
}

// ZigZag LEB128 of at most nine bytes: the ninth carries eight bits (ZigZagEncoding.putLong).
void put_zigzag(std::string &out, int64_t number)
{
	auto value = (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
	for (int i = 0; i < 8 && value >= 0x80; i++) {
		out += static_cast<char>(value | 0x80);
		value >>= 7;
	}
	out += static_cast<char>(value);
}

// Counts by index; a run of zeros is one negative number.
std::string encoded_counts(const HdrHistogram &histogram)
{
	std::string out;
	int64_t zeros = 0;
	for (const uint64_t count : histogram.counts()) {
		if (count == 0) {
			zeros++;
			continue;
		}
		if (zeros)
			put_zigzag(out, zeros == 1 ? 0 : -zeros);
		zeros = 0;
		put_zigzag(out, static_cast<int64_t>(count));
	}
	return out;
}

uint64_t highest_trackable(const HdrHistogram &histogram)
{
	return std::max<uint64_t>(2, HdrHistogram::highest_at(HdrHistogram::index_of(histogram.max())));
}

std::string v2(const HdrHistogram &histogram)
{
	const std::string counts = encoded_counts(histogram);
	std::string out;
	put_big_endian(out, kCookie, 4);
	put_big_endian(out, counts.size(), 4);
	put_big_endian(out, 0, 4); // normalizing index offset
	put_big_endian(out, HdrHistogram::kDigits, 4);
	put_big_endian(out, 1, 8); // lowest discernible value
	put_big_endian(out, highest_trackable(histogram), 8);
	put_big_endian(out, std::bit_cast<uint64_t>(1.0), 8); // integer to double conversion ratio
	return out + counts;
}

std::string base64(const std::string &bytes)
{
	constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	std::string out;
	for (size_t i = 0; i < bytes.size(); i += 3) {
		uint32_t group = 0;
		for (size_t j = 0; j < 3; j++)
			group = group << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0u);
		for (size_t j = 0; j < 4; j++)
			out += i + j > bytes.size() ? '=' : kDigits[group >> (18 - 6 * j) & 63];
	}
	return out;
}

// The next line's level in the percentile distribution (PercentileIterator.incrementIterationLevel).
double next_level(double level)
{
	constexpr double kStepsPerHalving = 5;
	const double steps = kStepsPerHalving * std::exp2(std::floor(std::log2(100.0 / (100.0 - level))) + 1);
	return level + 100.0 / steps;
}

} // namespace

std::string hgrm_of(const HdrHistogram &histogram)
{
	std::string out =
		fmt::format("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
	const auto total = static_cast<double>(histogram.total());
	uint64_t so_far = 0;
	double level = 0;
	for (size_t i = 0; i < histogram.counts().size(); i++) {
		so_far += histogram.counts()[i];
		if (histogram.counts()[i] == 0)
			continue;
		const double value = static_cast<double>(HdrHistogram::highest_at(i)) / kNsPerUs;
		const double reached = 100.0 * static_cast<double>(so_far) / total;
		const bool last = so_far == histogram.total();
		for (; reached >= level; level = next_level(level)) {
			out += fmt::format("{:12.3f} {:.12f} {:>10} {:14.2f}\n", value, level / 100 + kHalfUp, so_far,
							   100 / (100 - level));
			if (last)
				break; // the largest value stands for one more level, which stands for all remaining ones
		}
		if (last)
			out += fmt::format("{:12.3f} {:.12f} {:>10}\n", value, 1.0, so_far);
	}
	const auto max = static_cast<double>(HdrHistogram::highest_at(HdrHistogram::index_of(histogram.max())));
	// Number of buckets of kSubBuckets that cover the range; each is twice as wide as the one before.
	const auto buckets = std::bit_width(highest_trackable(histogram) / HdrHistogram::kSubBuckets) + 1u;
	out += fmt::format("#[Mean    = {:12.3f}, StdDeviation   = {:12.3f}]\n", histogram.mean() / kNsPerUs,
					   histogram.standard_deviation() / kNsPerUs);
	out += fmt::format("#[Max     = {:12.3f}, Total count    = {:>12}]\n", max / kNsPerUs, histogram.total());
	out += fmt::format("#[Buckets = {:>12}, SubBuckets     = {:>12}]\n", buckets, HdrHistogram::kSubBuckets);
	return out;
}

std::string v2_compressed(const HdrHistogram &histogram)
{
	const std::string plain = v2(histogram);
	uLongf size = compressBound(plain.size());
	std::string packed(size, 0);
	if (compress(reinterpret_cast<Bytef *>(packed.data()), &size, reinterpret_cast<const Bytef *>(plain.data()),
				 plain.size()) != Z_OK)
		throw std::runtime_error("zlib could not compress a histogram");
	packed.resize(size);
	std::string out;
	put_big_endian(out, kCompressedCookie, 4);
	put_big_endian(out, packed.size(), 4);
	return out + packed;
}

std::string histogram_log_head(double started_epoch_s)
{
	return fmt::format("#[Histogram log format version 1.3]\n"
					   "#[StartTime: {:.3f} (seconds since epoch)]\n"
					   "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
					   started_epoch_s);
}

std::string histogram_log_line(const std::string &tag, double begin_s, double length_s, const HdrHistogram &histogram)
{
	const auto max = static_cast<double>(HdrHistogram::highest_at(HdrHistogram::index_of(histogram.max())));
	return fmt::format("Tag={},{:.3f},{:.3f},{:.3f},{}", tag, begin_s, length_s, max / kNsPerMillisecond,
					   base64(v2_compressed(histogram)));
}

} // namespace icepath::exports
