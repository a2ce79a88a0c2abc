// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of what compare/ finds, which the terminal and Markdown share.
#include <string>
#include <vector>

#include "profiler/compare/comparison.h"

namespace icepath::text {

std::string figure_words(compare::Figure figure); // "CPU per message"
std::string value_words(compare::Figure figure, const std::optional<double> &value); // "41.2 µs", "0.12 %", "–"
// "+3.1 % [+2.4, +3.8]", of shares "+0.40 points [+0.10, +0.70]"; "–"
std::string change_words(compare::Figure figure, const std::optional<double> &change,
						 const std::optional<stats::Interval> &interval);
// "slower", "costs less", "undecided: …"
std::string verdict_words(const compare::Comparison &comparison, const compare::Judged &judged);

// Whether a reader of the table needs the row: not that of modes where there are none, nor of losses where nothing was
// lost and a verdict isn't missing for it.
bool has_row(const compare::Judged &judged);

// "new against base: …": what is compared, and how.
std::string comparison_heading(const compare::Comparison &comparison);
// What is to be known before any verdict.
std::vector<std::string> notice_words(const compare::Comparison &comparison);
std::string method_words(const compare::Comparison &comparison);
std::string condition_words(const compare::Condition &condition); // "kernel: 6.1.0 and 6.12.0"
std::string keeps_words(const compare::Condition &condition); // what a differing condition keeps from being said

// "4.1 of 4.3 µs in sender.user": where the difference of typical messages is; why it isn't known; empty: not looked
// for.
std::string carried_words(const analysis::RunResult &run, const compare::ComparedCell &cell);

// How to measure what two stored runs don't tell; empty for arms.
std::string one_session_words(const compare::Comparison &comparison);
std::string one_session_command(const compare::Comparison &comparison);

} // namespace icepath::text
