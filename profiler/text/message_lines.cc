// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/message_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "profiler/analysis/layer_style.h"
#include "profiler/explain/difference.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/blame_words.h"
#include "profiler/text/columns.h"
#include "profiler/text/look.h"

namespace icepath::text {
namespace {

using path::Segment;

constexpr size_t kMostRows = 60; // of a path: a thread that often yields its CPU makes thousands of segments

std::string certainty(const Segment &segment)
{
	std::string known(path::kProvenanceNames[static_cast<size_t>(segment.provenance())]);
	if (!path::is_inferred(segment.provenance()))
		return known;
	const uint64_t spread = explain::bound_of(segment);
	return spread == 0 ? known : fmt::format("{} within {}", known, stats::duration(static_cast<double>(spread)));
}

} // namespace

std::vector<std::string> worst_message_lines(const analysis::WorstMessage &worst, const model::Cell &cell,
											 const Look &look)
{
	const std::vector<Segment> &segments = worst.path.segments;
	std::vector<uint64_t> times;
	size_t layer_width = 5, thread_width = 6, time_width = 2;
	for (const Segment &segment : segments) {
		times.push_back(segment.duration_ns());
		layer_width = std::max(layer_width, columns(explain::layer_text(segment.layer, segment.part)));
		thread_width = std::max(thread_width, columns(explain::name_of_thread(worst, segment.thread)));
	}
	time_width = std::max(time_width, columns(stats::exact_microseconds(worst.latency_ns())));
	const std::vector<uint64_t> shares = analysis::apportion(times, 1000);
	const auto row = [&](const std::string &symbol, const std::string &layer, const std::string &thread,
						 const std::string &time, const std::string &share, const std::string &rest) {
		std::string line =
			fmt::format("  {} {}  {}  {}  {}  {}", symbol, pad_right(layer, layer_width),
						pad_right(thread, thread_width), pad_left(time, time_width), pad_left(share, 7), rest);
		line.erase(line.find_last_not_of(' ') + 1);
		return line;
	};
	const auto tenths = [](uint64_t share) { return fmt::format("{}.{} %", share / 10, share % 10); };

	std::vector<std::string> lines;
	const char *way = worst.back ? "answer" : "message";
	lines.push_back(fmt::format("worst message with a complete path: {} {}, {} {} of round {}, {}", cell.target,
								model::payload_text(cell.payload_bytes), way, stats::count(worst.seq), worst.round,
								stats::duration(static_cast<double>(worst.latency_ns()))));
	lines.push_back(row(" ", "layer", "thread", "µs", "share", "known"));
	uint64_t others_ns = 0, others_share = 0;
	const std::vector<size_t> shown = explain::longest_of(times, kMostRows);
	for (size_t i = 0, next = 0; i < segments.size(); ++i) {
		if (next == shown.size() || shown[next] != i) {
			others_ns += times[i];
			others_share += shares[i];
			continue;
		}
		++next;
		const std::string who = words_of(explain::blame(worst, segments[i]));
		const analysis::LayerKind kind =
			analysis::kind_of(segments[i].layer, segments[i].part, cell.kind == model::kAdapter);
		lines.push_back(row(kind_symbol(kind, 1, look), explain::layer_text(segments[i].layer, segments[i].part),
							explain::name_of_thread(worst, segments[i].thread), stats::exact_microseconds(times[i]),
							tenths(shares[i]), certainty(segments[i]) + (who.empty() ? "" : "  <- " + who)));
	}
	if (shown.size() < segments.size())
		lines.push_back(row(" ", "…", "", stats::exact_microseconds(others_ns), tenths(others_share),
							fmt::format("{} shorter pieces between", stats::count(segments.size() - shown.size()))));
	lines.push_back(row(" ", "sum", "", stats::exact_microseconds(worst.latency_ns()), tenths(1000), "= recv - send"));
	if (const explain::MostOfMessage most = explain::most_of(worst); most.share > 0) {
		const std::string who = words_of(most.who);
		lines.push_back(fmt::format("  mostly {}: {} of it{}", explain::layer_text(most.layer, most.part),
									stats::percent(most.share), who.empty() ? "" : ", " + who));
	}
	return lines;
}

namespace {

constexpr size_t kBarOfMessage = 24, kMostSteps = 60; // a thread that often yields its CPU makes thousands

// Where the step lies between send and recv; at least one column.
std::string bar_of(const explain::MessageStep &step, uint64_t latency_ns, bool of_library, const Look &look)
{
	const auto column = [&](uint64_t ns) {
		return static_cast<size_t>(static_cast<double>(ns) / static_cast<double>(std::max<uint64_t>(latency_ns, 1)) *
								   static_cast<double>(kBarOfMessage));
	};
	const size_t from = std::min(column(step.offset_ns), kBarOfMessage - 1);
	const size_t to = std::clamp(column(step.offset_ns + step.ns), from + 1, kBarOfMessage);
	return std::string(from, ' ') + kind_symbol(analysis::kind_of(step.layer, step.part, of_library), to - from, look) +
		   std::string(kBarOfMessage - to, ' ');
}

using Texts = std::array<std::string, 6>; // of a step's aligned columns

Texts texts_of(const explain::MessageStep &step, bool typical_known)
{
	return {stats::exact_microseconds(step.offset_ns),
			explain::layer_text(step.layer, step.part),
			step.thread,
			step.cpu ? fmt::format("{}", *step.cpu) : "",
			stats::exact_microseconds(step.ns),
			step.of_typical ? fmt::format("{:.3g}×", *step.of_typical)
			: typical_known ? "only here"
							: "–"};
}

} // namespace

void add_message(Page &page, const analysis::WorstMessage &message, const analysis::CellResult &cell)
{
	page.heading(fmt::format("{}: {} {} of round {}, {} (--message {})", model::title(cell.cell),
							 message.back ? "answer" : "message", stats::count(message.seq), message.round,
							 stats::duration(static_cast<double>(message.latency_ns())), explain::name_of(message)));
	if (!message.path.complete() || message.path.segments.empty()) {
		page.paragraph("no path", std::string(path::kReasonNames[static_cast<size_t>(
									  message.path.complete() ? path::Reason::NoEvidence : message.path.reason)]));
		page.line();
		return;
	}
	const bool typical_known = cell.ranges.tells_typical();
	if (typical_known)
		page.paragraph(
			"typical",
			fmt::format("its layers are compared with the mean of the same in {} typical messages (p40 to p60), "
						"which take {} µs: it takes {:.3g} times as long",
						stats::count(cell.ranges.typical->layers.deliveries()),
						stats::microseconds(cell.ranges.typical->layers.mean_ns()),
						static_cast<double>(message.latency_ns()) / cell.ranges.typical->layers.mean_ns()));
	const std::vector<explain::MessageStep> steps = explain::steps_of(message, cell);
	std::vector<Texts> texts = {{"at µs", "layer", "thread", "CPU", "µs", "× typical"}};
	for (const explain::MessageStep &step : steps)
		texts.push_back(texts_of(step, typical_known));
	texts.push_back({stats::exact_microseconds(message.latency_ns()), "sum", "", "",
					 stats::exact_microseconds(message.latency_ns()), ""});
	std::array<size_t, std::tuple_size_v<Texts>> widths{};
	for (const Texts &row : texts)
		for (size_t i = 0; i < widths.size(); ++i)
			widths[i] = std::max(widths[i], columns(row[i]));
	const bool of_library = cell.is_of_library();
	std::vector<uint64_t> times;
	for (const explain::MessageStep &step : steps)
		times.push_back(step.ns);
	const std::vector<size_t> shown = explain::longest_of(times, kMostSteps);
	uint64_t shown_ns = 0;
	for (const size_t step : shown)
		shown_ns += times[step];
	for (size_t row = 0, next = 0; row < texts.size(); ++row) {
		const bool is_step = row > 0 && row <= steps.size();
		if (is_step) {
			if (next == shown.size() || shown[next] != row - 1)
				continue;
			++next;
		} else if (row > 0 && shown.size() < steps.size())
			page.line(page.spelled(fmt::format("  … {} shorter steps between, {} together",
											   stats::count(steps.size() - shown.size()),
											   stats::duration(static_cast<double>(message.latency_ns() - shown_ns)))));
		const auto &[at, layer, thread, cpu, us, of_typical] = texts[row];
		std::string line =
			page.spelled(fmt::format("  {}  {}  {}  {}  {}  {}  ", pad_left(at, widths[0]), pad_right(layer, widths[1]),
									 pad_right(thread, widths[2]), pad_left(cpu, widths[3]), pad_left(us, widths[4]),
									 pad_left(of_typical, widths[5])));
		if (is_step) {
			const explain::MessageStep &step = steps[row - 1];
			const std::string who = words_of(step.blame);
			line += bar_of(step, message.latency_ns(), of_library, page.look());
			line += page.spelled(fmt::format(
				"  {}{}{}", step.known,
				step.bound_ns > 0 ? " within " + stats::duration(static_cast<double>(step.bound_ns)) : std::string(),
				who.empty() ? "" : "  <- " + who));
		} else
			line += std::string(kBarOfMessage, ' ') + page.spelled(row == 0 ? "  known" : "  = recv - send");
		line.erase(line.find_last_not_of(' ') + 1);
		page.line(line);
	}
	page.line();
}

} // namespace icepath::text
