// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/modes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "profiler/stats/distributions.h"

namespace icepath::stats {
namespace {

constexpr double kBinsPerOctave = 16;
constexpr double kLargestBinned = 0x1p62; // a greater value counts as this
constexpr double kDepth = 0.5; // of the lower peak, which a valley must not reach
constexpr double kLeastMissing = 30; // messages that a valley would have at that depth
constexpr std::array<double, 7> kSmooth = {1 / 64., 6 / 64., 15 / 64., 20 / 64., 15 / 64., 6 / 64., 1 / 64.};
constexpr size_t kReach = kSmooth.size() / 2;
constexpr size_t kMargin = kReach + 1; // empty bins at both ends

double edge_of(size_t bin) { return std::exp2((static_cast<double>(bin) - kMargin) / kBinsPerOctave); }

size_t bin_of(double value)
{
	return static_cast<size_t>(kBinsPerOctave * std::log2(std::clamp(value, 1.0, kLargestBinned))) + kMargin;
}

const size_t kBins = bin_of(kLargestBinned) + kMargin + 2;

// The gap to the next lower value that nine tenths of the messages or more don't exceed: the tick of a coarse clock,
// otherwise next to nothing. A sample of the messages suffices.
double tick_of(const std::vector<BlockFlowValues> &messages)
{
	constexpr size_t kSample = 50'000;
	constexpr double kMost = 0.9;
	size_t count = 0, place = 0;
	for (const BlockFlowValues &flow : messages)
		count += flow.values.size();
	const size_t stride = count / kSample + 1;
	std::vector<uint64_t> sample;
	for (const BlockFlowValues &flow : messages)
		for (const uint64_t value : flow.values)
			if (place++ % stride == 0)
				sample.push_back(value);
	std::ranges::sort(sample);
	std::map<uint64_t, size_t> gaps; // the gap before a value, and how many messages have the value
	uint64_t gap = 1;
	for (size_t i = 1; i < sample.size(); ++i) {
		if (sample[i] != sample[i - 1])
			gap = sample[i] - sample[i - 1];
		++gaps[gap];
	}
	double seen = 0;
	for (const auto &[width, messages_with_it] : gaps)
		if ((seen += static_cast<double>(messages_with_it)) >= kMost * static_cast<double>(sample.size() - 1))
			return static_cast<double>(width);
	return 1;
}

using Counts = std::vector<double>;

void add_value(Counts &counts, uint64_t value, double tick)
{
	const double low = std::max(1.0, static_cast<double>(value) - tick / 2);
	const double high = std::max(low + 0.5, static_cast<double>(value) + tick / 2);
	const size_t first = bin_of(low), last = bin_of(high);
	if (first == last) {
		counts[first] += 1;
		return;
	}
	for (size_t bin = first; bin <= last; ++bin)
		counts[bin] += (std::min(high, edge_of(bin + 1)) - std::max(low, edge_of(bin))) / (high - low);
}

double smoothed(const Counts &counts, size_t bin)
{
	double sum = 0;
	for (size_t i = 0; i < kSmooth.size(); ++i)
		sum += kSmooth[i] * counts[bin + i - kReach];
	return sum;
}

// The bins of a valley, both inclusive.
struct Valley {
	size_t first = 0, last = 0;
	size_t middle() const { return (first + last + 1) / 2; }
};

class Densities {
public:
	explicit Densities(const std::vector<BlockFlowValues> &messages) : all_(kBins), widths_(kBins)
	{
		Counts sum(kBins), widths(kBins);
		for (size_t bin = 0; bin < kBins; ++bin)
			widths[bin] = edge_of(bin + 1) - edge_of(bin);
		const double tick = tick_of(messages);
		std::map<size_t, size_t> numbers; // of blocks
		for (const BlockFlowValues &flow : messages) {
			Counts counts(kBins);
			for (const uint64_t value : flow.values)
				add_value(counts, value, tick);
			for (size_t bin = 0; bin < kBins; ++bin)
				sum[bin] += counts[bin];
			flows_.push_back({pieces_of(counts), numbers.try_emplace(flow.block, numbers.size()).first->second});
			messages_ += static_cast<double>(flow.values.size());
		}
		blocks_ = numbers.size();
		counts_ = sum;
		for (size_t bin = kReach; bin + kReach < kBins; ++bin) {
			widths_[bin] = smoothed(widths, bin);
			all_[bin] = smoothed(sum, bin) / widths_[bin];
		}
	}

	size_t blocks() const { return blocks_; }
	double at(size_t bin) const { return all_[bin]; }

	double share(size_t begin, size_t end) const // of bins
	{
		double sum = 0;
		for (size_t bin = begin; bin < end; ++bin)
			sum += counts_[bin];
		return sum / messages_;
	}

	double width(const Valley &valley) const { return edge_of(valley.last + 1) - edge_of(valley.first); }
	double in(const Valley &valley) const { return share(valley.first, valley.last + 1) * messages_ / width(valley); }

	// The probability of the blocks' excess, or a larger one, if none of them has two peaks.
	double p_of_valley(const std::vector<size_t> &low, const Valley &valley, const std::vector<size_t> &high) const
	{
		std::vector<double> excess(blocks_);
		for (const Flow &flow : flows_)
			excess[flow.block] +=
				kDepth * std::min(highest(flow, low), highest(flow, high)) - count_in(flow, valley) / width(valley);
		const double n = static_cast<double>(blocks_);
		double mean = 0, squares = 0;
		for (const double one : excess)
			mean += one / n;
		for (const double one : excess)
			squares += (one - mean) * (one - mean);
		if (!(mean > 0))
			return 1;
		return squares > 0 ? t_beyond(mean / std::sqrt(squares / (n - 1) / n), n - 1) / 2 : 0;
	}

private:
	// Counts of the bins from the first to the last that isn't empty: most bins are.
	struct Pieces {
		size_t first = 0;
		std::vector<float> counts;
	};
	struct Flow {
		Pieces pieces;
		size_t block = 0;
	};

	static Pieces pieces_of(const Counts &counts)
	{
		const auto filled = [](double count) { return count > 0; };
		const auto first = std::ranges::find_if(counts, filled);
		const auto last = std::find_if(counts.rbegin(), counts.rend(), filled).base();
		return first < last ? Pieces{static_cast<size_t>(first - counts.begin()), {first, last}} : Pieces{};
	}

	double density(const Flow &flow, size_t bin) const
	{
		double sum = 0;
		for (size_t i = 0; i < kSmooth.size(); ++i)
			if (const size_t place = bin + i - kReach - flow.pieces.first; place < flow.pieces.counts.size())
				sum += kSmooth[i] * static_cast<double>(flow.pieces.counts[place]);
		return sum / widths_[bin];
	}

	double highest(const Flow &flow, const std::vector<size_t> &bins) const
	{
		double most = 0;
		for (const size_t bin : bins)
			most = std::max(most, density(flow, bin));
		return most;
	}

	static double count_in(const Flow &flow, const Valley &valley)
	{
		double sum = 0;
		for (size_t bin = valley.first; bin <= valley.last; ++bin)
			if (const size_t place = bin - flow.pieces.first; place < flow.pieces.counts.size())
				sum += static_cast<double>(flow.pieces.counts[place]);
		return sum;
	}

	std::vector<Flow> flows_;
	Counts counts_, all_, widths_; // all_: smoothed density of all messages; widths_: smoothed
	double messages_ = 0;
	size_t blocks_ = 0;
};

struct Peak {
	std::vector<size_t> bins; // ascending; several where the peak is not at the same place in all blocks
	Valley before; // between the peak before and this one
};

// Returns the whole bottom: between modes that are far apart, the lowest bin is an accident.
Valley valley_between(const Densities &density, size_t low, size_t high)
{
	constexpr double kBottom = 0.05; // of the lower peak's height above the lowest bin
	double lowest = density.at(low);
	for (size_t bin = low; bin <= high; ++bin)
		lowest = std::min(lowest, density.at(bin));
	const double most = lowest + kBottom * (std::min(density.at(low), density.at(high)) - lowest);
	Valley valley{high, low};
	for (size_t bin = low; bin <= high; ++bin)
		if (density.at(bin) <= most) {
			valley.first = std::min(valley.first, bin);
			valley.last = bin;
		}
	return {std::max(valley.first - 1, low), std::min(valley.last + 1, high)};
}

std::vector<Peak> peaks_of(const Densities &density)
{
	std::vector<Peak> peaks;
	for (size_t bin = kMargin; bin + kMargin < kBins; ++bin)
		if (density.at(bin) > density.at(bin - 1) && density.at(bin) >= density.at(bin + 1))
			peaks.push_back({{bin}, peaks.empty() ? Valley() : valley_between(density, peaks.back().bins[0], bin)});
	return peaks;
}

class Valleys {
public:
	explicit Valleys(const Densities &density) : density_(density), peaks_(peaks_of(density)) {}

	// Fills valleys that don't hold, the shallowest first. Most consist of a few messages, and don't need a test.
	void fill()
	{
		for (const bool by_blocks : {false, true})
			while (const auto second = shallowest(by_blocks))
				join(*second);
	}

	const std::vector<Peak> &peaks() const { return peaks_; }

private:
	size_t highest(const Peak &peak) const
	{
		return *std::ranges::max_element(peak.bins, {}, [&](size_t bin) { return density_.at(bin); });
	}
	double lower_peak(size_t second) const
	{
		return std::min(density_.at(highest(peaks_[second - 1])), density_.at(highest(peaks_[second])));
	}
	double filled(size_t second) const { return density_.in(peaks_[second].before) / lower_peak(second); }

	double share(size_t peak) const
	{
		return density_.share(peak == 0 ? 0 : peaks_[peak].before.middle(),
							  peak + 1 < peaks_.size() ? peaks_[peak + 1].before.middle() : kBins);
	}

	bool is_deep(size_t second) const
	{
		const Peak &low = peaks_[second - 1], &high = peaks_[second];
		return edge_of(highest(high)) >= kLeastModeRatio * edge_of(highest(low)) && filled(second) < kDepth &&
			   kDepth * lower_peak(second) * density_.width(high.before) >= kLeastMissing &&
			   share(second - 1) >= kLeastModeShare && share(second) >= kLeastModeShare;
	}

	bool is_sure(size_t second) const
	{
		return density_.p_of_valley(peaks_[second - 1].bins, peaks_[second].before, peaks_[second].bins) <
			   kSureOfValley;
	}

	// The peak after the shallowest valley that doesn't hold.
	std::optional<size_t> shallowest(bool by_blocks) const
	{
		std::optional<size_t> found;
		double most = 0;
		for (size_t second = 1; second < peaks_.size(); ++second)
			if (const double one = filled(second);
				(!found || one > most) && !(is_deep(second) && (!by_blocks || is_sure(second)))) {
				found = second;
				most = one;
			}
		return found;
	}

	void join(size_t second)
	{
		constexpr double kWorthKeeping = 0.25; // of the highest one's density
		std::vector<size_t> &bins = peaks_[second - 1].bins;
		bins.insert(bins.end(), peaks_[second].bins.begin(), peaks_[second].bins.end());
		const double least = kWorthKeeping * density_.at(highest(peaks_[second - 1]));
		std::erase_if(bins, [&](size_t bin) { return density_.at(bin) < least; });
		peaks_.erase(peaks_.begin() + static_cast<std::ptrdiff_t>(second));
		// The valleys on both sides may now lie elsewhere.
		for (const size_t i : {second - 1, second})
			if (i > 0 && i < peaks_.size())
				peaks_[i].before = valley_between(density_, peaks_[i - 1].bins.back(), peaks_[i].bins.front());
	}

	const Densities &density_;
	std::vector<Peak> peaks_;
};

} // namespace

std::vector<ModeRange> modes_of(const std::vector<BlockFlowValues> &messages)
{
	std::vector<BlockFlowValues> with_values;
	std::ranges::copy_if(messages, std::back_inserter(with_values),
						 [](const auto &flow) { return !flow.values.empty(); });
	const Densities density(with_values);
	if (density.blocks() < kLeastBlocksOfModes)
		return {};
	Valleys valleys(density);
	valleys.fill();
	const std::vector<Peak> &peaks = valleys.peaks();
	if (peaks.size() < 2)
		return {};
	std::vector<ModeRange> ranges(peaks.size());
	for (size_t i = 1; i < peaks.size(); ++i) {
		ranges[i].from = static_cast<uint64_t>(std::lround(edge_of(peaks[i].before.middle())));
		ranges[i - 1].to = ranges[i].from - 1;
	}
	return ranges;
}

} // namespace icepath::stats
