// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tracer_output.h"

#include <charconv>
#include <filesystem>

#include "icepath/plugin.h"
#include "profiler/capture/probes.h"
#include "profiler/failure.h"

namespace icepath::bench {
namespace {

template <class Of> uint64_t sum_over_lines(std::string_view text, Of count_of)
{
	uint64_t sum = 0;
	while (!text.empty()) {
		const size_t end = text.find('\n');
		sum += count_of(text.substr(0, end));
		text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
	}
	return sum;
}

// The number that follows `before` and blanks; 0: there is none.
uint64_t number_after(std::string_view line, std::string_view before)
{
	const size_t found = line.find(before);
	if (found == std::string_view::npos)
		return 0;
	line.remove_prefix(found + before.size());
	line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
	uint64_t value = 0;
	std::from_chars(line.data(), line.data() + line.size(), value);
	return value;
}

} // namespace

uint64_t events_in_histograms(std::string_view output)
{
	return sum_over_lines(output, [](std::string_view line) {
		// The smallest buckets are single values: "[0]   12 |@|".
		return line.starts_with('[') ? number_after(line, line.find(',') < line.find(']') ? ")" : "]") : 0;
	});
}

uint64_t events_in_lines(std::string_view output)
{
	return sum_over_lines(output, [](std::string_view line) {
		return uint64_t{!line.empty() && line.front() >= '0' && line.front() <= '9'};
	});
}

uint64_t events_in_summary(std::string_view output)
{
	return sum_over_lines(output, [](std::string_view line) {
		return line.find(" events, ") == std::string_view::npos ? 0 : number_after(line, "), ");
	});
}

uint64_t events_in_ring_buffer(std::string_view stats)
{
	return sum_over_lines(stats, [](std::string_view line) {
		return line.starts_with("entries:")   ? number_after(line, "entries:")
			   : line.starts_with("overrun:") ? number_after(line, "overrun:")
											  : 0;
	});
}

std::vector<std::string> captured_tracepoints()
{
	model::Cell cell;
	cell.mechanisms = {model::Mechanism::Socket, model::Mechanism::ByteStream, model::Mechanism::SkbCopy};
	cell.wait = model::Wait::Block;
	const capture::ProbeSet needed = capture::needed_by(cell);
	std::vector<std::string> names;
	for (size_t i = 0; i < capture::kProbes.size(); i++) {
		const capture::Candidate &first = capture::kProbes[i].candidates[0];
		// A tracepoint without an event in tracefs ends with _tp (DECLARE_TRACE).
		if ((needed & capture::bit(i)) && first.tier == capture::Tier::Tracepoint && !first.target.empty() &&
			!first.target.ends_with("_tp"))
			names.emplace_back(first.target);
	}
	return names;
}

std::vector<std::string> captured_events()
{
	const std::filesystem::path all = "/sys/kernel/tracing/events";
	std::vector<std::string> events;
	for (const std::string &name : captured_tracepoints()) {
		std::string event;
		for (const auto &system : std::filesystem::directory_iterator(all))
			if (std::filesystem::exists(system.path() / name / "id"))
				event = system.path().filename().string() + ":" + name;
		if (event.empty())
			throw Failure(ExitCode::MachineCannot, "the kernel has no event " + name + " below " + all.string() +
													   ": other tracers can't be given what icepath records");
		events.push_back(event);
	}
	return events;
}

} // namespace icepath::bench
