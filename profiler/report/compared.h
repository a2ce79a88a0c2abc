// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `icepath compare` prints of one run with arms, or of two runs.
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/compare/comparison.h"
#include "profiler/text/terminal.h"

namespace icepath::report {

struct CompareWishes {
	std::string run, other = {}; // other: a second run; empty: arms of the first
	std::vector<std::string> arms = {}; // empty: the first against each of the others
	double delta = compare::kUsualDelta;
	std::string anchor = {}; // of two runs: compare/stored_runs.h
	std::vector<std::string> repeats = {}; // of two runs: further ones of the same as `run`
	enum class Form : uint8_t { Text, Json, Markdown } form = Form::Text;
};

struct Compared {
	std::string text;
	bool refused = false; // of a pair no figure could be looked at, or a run isn't whole; the text says why
};

// Throws Failure(Usage) if runs, arms or cells aren't such as can be compared.
Compared comparison_of(const CompareWishes &wishes, const text::Style &style);

} // namespace icepath::report
