// SPDX-License-Identifier: Apache-2.0
// Any file of gates: it has gates with expectations, or Failure(Usage). So has each line of it as an expectation, and
// as a pattern it matches itself if it has no '*' and no '?'.
#include <cstdlib>
#include <string>
#include <string_view>

#include "profiler/failure.h"
#include "profiler/gate/gate_file.h"

namespace {

using namespace icepath;

void expect(bool holds)
{
	if (!holds)
		std::abort();
}

void check_refusal(const Failure &failure)
{
	expect(failure.code() == ExitCode::Usage);
	for (const char *c = failure.what(); *c; ++c) // one line, whatever the bytes are
		expect(static_cast<unsigned char>(*c) >= ' ');
}

void try_line(const std::string &line)
{
	try {
		const gate::Gate gate = gate::gate_of_all({line}, "line");
		expect(gate.expectations.size() == 1 && gate.expectations[0].limit >= 0);
	} catch (const Failure &failure) {
		check_refusal(failure);
	}
	if (line.find_first_of("*?") == line.npos)
		expect(gate::matches(line, line));
	expect(gate::matches("*", line));
	gate::matches(line, "uds-stream pingpong block processes 64B own");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const std::string text(reinterpret_cast<const char *>(data), size);
	try {
		const auto gates = gate::parse_gates(text, "file");
		expect(!gates.empty());
		for (const gate::Gate &one : gates)
			expect(!one.cells.empty() && !one.expectations.empty() && !one.name.empty());
	} catch (const Failure &failure) {
		check_refusal(failure);
	}
	for (size_t at = 0; at <= text.size();) {
		const size_t end = std::min(text.find('\n', at), text.size());
		try_line(text.substr(at, end - at));
		at = end + 1;
	}
	return 0;
}
