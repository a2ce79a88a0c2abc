// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a figure of a cell is expected to be: "p50 < 40us", "tail99(runqueue) < 30us", "lost == 0", "rate > 90k/s",
// "ratio(udp pingpong * 64B *) < 0.9". Of two builds or runs: "p50 slower < 3%".
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/model/layers.h"

namespace icepath::gate {

enum class Figure : uint8_t {
	P50,
	P90,
	P99,
	P99_9,
	P99_99,
	P99_999,
	Mean,
	Max,
	Layer, // mean of a message, with probes
	TailLayer, // the same over the messages from p99 on
	Cpu,
	Lost,
	Rate,
	Ratio, // within rounds, to another cell
};

enum class Unit : uint8_t { Time, Messages, Rate, Times };
enum class Argument : uint8_t { None, Layer, Key };

struct FigureKind {
	Figure figure;
	std::string_view name;
	Unit unit;
	Argument argument;
};
inline constexpr std::array<FigureKind, 14> kFigures = {{
	{Figure::P50, "p50", Unit::Time, Argument::None},
	{Figure::P90, "p90", Unit::Time, Argument::None},
	{Figure::P99, "p99", Unit::Time, Argument::None},
	{Figure::P99_9, "p99.9", Unit::Time, Argument::None},
	{Figure::P99_99, "p99.99", Unit::Time, Argument::None},
	{Figure::P99_999, "p99.999", Unit::Time, Argument::None},
	{Figure::Mean, "mean", Unit::Time, Argument::None},
	{Figure::Max, "max", Unit::Time, Argument::None},
	{Figure::Layer, "layer", Unit::Time, Argument::Layer},
	{Figure::TailLayer, "tail99", Unit::Time, Argument::Layer},
	{Figure::Cpu, "cpu", Unit::Time, Argument::None},
	{Figure::Lost, "lost", Unit::Messages, Argument::None},
	{Figure::Rate, "rate", Unit::Rate, Argument::None},
	{Figure::Ratio, "ratio", Unit::Times, Argument::Key},
}};
constexpr const FigureKind &kind_of(Figure figure) { return kFigures[static_cast<size_t>(figure)]; }

enum class Comparison : uint8_t { Below, AtMost, Above, AtLeast, Equal };
inline constexpr std::array<std::string_view, 5> kComparisons = {"<", "<=", ">", ">=", "=="};

// Of an expectation about two builds or runs: by how much the figure may be slower or faster.
enum class Change : uint8_t { None, Slower, Faster };

struct Expectation {
	std::string text; // as it was written
	Figure figure = Figure::P50;
	model::Layer layer = model::Layer::SenderUser; // of Layer and TailLayer
	std::string key; // of Ratio: the other cell's, or a pattern that matches it alone
	Change change = Change::None;
	Comparison comparison = Comparison::Below;
	double limit = 0; // nanoseconds, messages, messages per second, times; a share where is_share
	bool is_share = false; // of messages that were sent, or, of a change, of the figure
	bool compares() const { return change != Change::None; } // what one run by itself can't answer
};

inline constexpr size_t kLongestExpectation = 1024; // bytes

// Throws Failure(Usage) with the text and what is wrong with it, after `place`: "ci.toml:3", "--expect".
Expectation parse_expectation(std::string_view text, const std::string &place);

} // namespace icepath::gate
