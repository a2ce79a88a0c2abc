// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/one_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "profiler/model/cell_title.h"
#include "profiler/report/difference.h"
#include "profiler/report/quantity.h"
#include "profiler/report/worst_message.h"

namespace icepath::report {
namespace {

using TypicalPlace = std::tuple<model::Layer, model::Part, path::Role, uint16_t>;

TypicalPlace typical_place(model::Layer layer, model::Part part, path::Role role, uint16_t hop)
{
	return {layer, part, role, role == path::Role::Relay ? hop : uint16_t{0}};
}

std::map<TypicalPlace, double> typical_times(const CellResult &cell)
{
	std::map<TypicalPlace, double> times;
	if (cell.tells_typical())
		for (const LayerRow &row : cell.typical->layers.rows())
			times[typical_place(row.layer, row.part, row.role, row.hop)] += row.mean_ns;
	return times;
}

uint64_t bound_of(const path::Segment &segment)
{
	uint64_t bound_ns = 0;
	for (const path::Boundary &end : {segment.begin, segment.end})
		if (path::is_inferred(end.provenance) && end.latest_ns > end.earliest_ns)
			bound_ns = std::max(bound_ns, end.latest_ns - end.earliest_ns);
	return bound_ns;
}

constexpr size_t kBarOfMessage = 24, kMostSteps = 60; // a thread that often yields its CPU makes thousands

// Where the step lies between send and recv; at least one column.
std::string bar_of(const MessageStep &step, uint64_t latency_ns, bool of_library, const Look &look)
{
	const auto column = [&](uint64_t ns) {
		return static_cast<size_t>(static_cast<double>(ns) / static_cast<double>(std::max<uint64_t>(latency_ns, 1)) *
								   static_cast<double>(kBarOfMessage));
	};
	const size_t from = std::min(column(step.offset_ns), kBarOfMessage - 1);
	const size_t to = std::clamp(column(step.offset_ns + step.ns), from + 1, kBarOfMessage);
	return std::string(from, ' ') + kind_symbol(kind_of(step.layer, step.part, of_library), to - from, look) +
		   std::string(kBarOfMessage - to, ' ');
}

using Texts = std::array<std::string, 6>; // of a step's aligned columns

Texts texts_of(const MessageStep &step, bool typical_known)
{
	return {exact_microseconds(step.offset_ns),
			layer_text(step.layer, step.part),
			step.thread,
			step.cpu ? fmt::format("{}", *step.cpu) : "",
			exact_microseconds(step.ns),
			step.of_typical ? fmt::format("{:.3g}×", *step.of_typical)
			: typical_known ? "only here"
							: "–"};
}

} // namespace

std::vector<MessageStep> steps_of(const WorstMessage &message, const CellResult &cell)
{
	const std::map<TypicalPlace, double> typical = typical_times(cell);
	std::vector<MessageStep> steps;
	for (const path::Segment &segment : message.path.segments) {
		MessageStep &step = steps.emplace_back();
		step.layer = segment.layer;
		step.part = segment.part;
		step.offset_ns = segment.begin.at_ns - message.path.send_ns;
		step.ns = segment.duration_ns();
		const auto name = message.task_names.find(segment.thread);
		step.thread = name == message.task_names.end() ? fmt::format("thread {}", segment.thread) : name->second;
		if (const auto cpu = message.cpus.find(segment.thread); cpu != message.cpus.end())
			step.cpu = cpu->second;
		step.known = path::kProvenanceNames[static_cast<size_t>(segment.provenance())];
		step.bound_ns = bound_of(segment);
		step.blame = blame(message, segment);
		const auto mean =
			typical.find(typical_place(segment.layer, segment.part, role_of(message.path, segment), segment.hop));
		if (mean != typical.end() && mean->second > 0)
			step.of_typical = static_cast<double>(step.ns) / mean->second;
	}
	return steps;
}

std::string name_of(const WorstMessage &message)
{
	return fmt::format("{}:{}{}", message.round, message.seq, message.back ? ":back" : "");
}

void add_message(Page &page, const WorstMessage &message, const CellResult &cell)
{
	page.heading(fmt::format("{}: {} {} of round {}, {} (--message {})", model::title(cell.cell),
							 message.back ? "answer" : "message", count(message.seq), message.round,
							 duration(static_cast<double>(message.latency_ns())), name_of(message)));
	if (!message.path.complete() || message.path.segments.empty()) {
		page.paragraph("no path", std::string(path::kReasonNames[static_cast<size_t>(
									  message.path.complete() ? path::Reason::NoEvidence : message.path.reason)]));
		page.line();
		return;
	}
	const bool typical_known = cell.tells_typical();
	if (typical_known)
		page.paragraph(
			"typical",
			fmt::format("its layers are compared with the mean of the same in {} typical messages (p40 to p60), "
						"which take {} µs: it takes {:.3g} times as long",
						count(cell.typical->layers.deliveries()), microseconds(cell.typical->layers.mean_ns()),
						static_cast<double>(message.latency_ns()) / cell.typical->layers.mean_ns()));
	const std::vector<MessageStep> steps = steps_of(message, cell);
	std::vector<Texts> texts = {{"at µs", "layer", "thread", "CPU", "µs", "× typical"}};
	for (const MessageStep &step : steps)
		texts.push_back(texts_of(step, typical_known));
	texts.push_back(
		{exact_microseconds(message.latency_ns()), "sum", "", "", exact_microseconds(message.latency_ns()), ""});
	std::array<size_t, std::tuple_size_v<Texts>> widths{};
	for (const Texts &row : texts)
		for (size_t i = 0; i < widths.size(); ++i)
			widths[i] = std::max(widths[i], columns(row[i]));
	const bool of_library = cell.is_of_library();
	for (size_t row = 0; row < texts.size(); ++row) {
		const bool is_step = row > 0 && row <= steps.size();
		if (steps.size() > kMostSteps && row > kMostSteps / 2 && row <= steps.size() - kMostSteps / 2) {
			if (row == kMostSteps / 2 + 1)
				page.line(page.spelled(fmt::format("  … {} steps more", count(steps.size() - kMostSteps))));
			continue;
		}
		const auto &[at, layer, thread, cpu, us, of_typical] = texts[row];
		std::string line =
			page.spelled(fmt::format("  {}  {}  {}  {}  {}  {}  ", pad_left(at, widths[0]), pad_right(layer, widths[1]),
									 pad_right(thread, widths[2]), pad_left(cpu, widths[3]), pad_left(us, widths[4]),
									 pad_left(of_typical, widths[5])));
		if (is_step) {
			const MessageStep &step = steps[row - 1];
			line += bar_of(step, message.latency_ns(), of_library, page.look());
			line += page.spelled(fmt::format(
				"  {}{}{}", step.known,
				step.bound_ns > 0 ? " within " + duration(static_cast<double>(step.bound_ns)) : std::string(),
				step.blame.empty() ? std::string() : "  <- " + step.blame));
		} else
			line += std::string(kBarOfMessage, ' ') + page.spelled(row == 0 ? "  known" : "  = recv - send");
		line.erase(line.find_last_not_of(' ') + 1);
		page.line(line);
	}
	page.line();
}

} // namespace icepath::report
