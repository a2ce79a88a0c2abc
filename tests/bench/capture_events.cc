// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/capture_events.h"

#include <filesystem>

#include "icepath/plugin.h"
#include "profiler/capture/probes.h"
#include "profiler/failure.h"

namespace icepath::bench {

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
