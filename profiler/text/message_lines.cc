// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/message_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "profiler/analysis/layer_style.h"
#include "profiler/explain/difference.h"
#include "profiler/model/cell_title.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/arm_lines.h"
#include "profiler/text/blame_words.h"
#include "profiler/text/look.h"
#include "profiler/text/table.h"

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
	for (const Segment &segment : segments)
		times.push_back(segment.duration_ns());
	const std::vector<explain::MessageStep> steps = explain::steps_of(worst, nullptr);
	const std::vector<uint64_t> shares = analysis::apportion(times, 1000);
	const auto tenths = [](uint64_t share) { return fmt::format("{}.{} %", share / 10, share % 10); };

	Table table({{Side::Left, 0, 1}, {}, {Side::Right}, {Side::Right, 7}, {}});
	std::vector<std::string> symbols; // of each row
	const auto add = [&](const std::string &symbol, std::vector<std::string> texts) {
		symbols.push_back(symbol);
		table.add(std::move(texts));
	};
	add(" ", {"layer", "thread", "µs", "share", "known"});
	uint64_t others_ns = 0, others_share = 0;
	const std::map<uint32_t, std::string> threads = explain::names_of_threads(worst);
	const std::vector<size_t> shown = explain::longest_of(times, kMostRows);
	for (size_t i = 0, next = 0; i < segments.size(); ++i) {
		if (next == shown.size() || shown[next] != i) {
			others_ns += times[i];
			others_share += shares[i];
			continue;
		}
		++next;
		const std::string who = words_of(steps[i].blame, steps[i].taken, times[i]);
		const analysis::LayerKind kind =
			analysis::kind_of(segments[i].layer, segments[i].part, cell.kind == model::kAdapter);
		add(kind_symbol(kind, 1, look),
			{explain::layer_text(segments[i].layer, segments[i].part), threads.at(segments[i].thread),
			 stats::exact_microseconds(times[i]), tenths(shares[i]),
			 certainty(segments[i]) + (who.empty() ? "" : "  <- " + who)});
	}
	if (shown.size() < segments.size())
		add(" ", {"…", "", stats::exact_microseconds(others_ns), tenths(others_share),
				  fmt::format("{} shorter pieces between", stats::count(segments.size() - shown.size()))});
	add(" ", {"sum", "", stats::exact_microseconds(worst.latency_ns()), tenths(1000), "= recv - send"});

	std::vector<std::string> lines = {
		fmt::format("worst message with a complete path: {} {}, {} {} of round {}, {}", target_of(cell),
					model::payload_text(cell.payload_bytes), worst.back ? "answer" : "message", stats::count(worst.seq),
					worst.round, stats::duration(static_cast<double>(worst.latency_ns())))};
	const std::vector<std::string> rows = table.lines(look);
	for (size_t i = 0; i < rows.size(); ++i)
		lines.push_back("  " + symbols[i] + rows[i]);
	if (const explain::MostOfMessage most = explain::most_of(worst); most.share > 0) {
		const std::string who = words_of(most.who, most.taken, most.ns);
		lines.push_back(
			fmt::format("  {}mostly {}: {} of it{}{}", most.is_uncertain() ? "perhaps " : "",
						explain::layer_text(most.layer, most.part), stats::percent(most.share),
						most.is_uncertain()
							? fmt::format(", inferred within {}", stats::duration(static_cast<double>(most.bound_ns)))
							: "",
						who.empty() ? "" : ", " + who));
	}
	return lines;
}

namespace {

constexpr size_t kBarOfMessage = 24, kMostSteps = 60; // a thread that often yields its CPU makes thousands

// Where the step lies between send and recv; at least one column.
std::string bar_of(const explain::MessageStep &step, uint64_t latency_ns, analysis::Code code, const Look &look)
{
	const auto column = [&](uint64_t ns) {
		return static_cast<size_t>(static_cast<double>(ns) / static_cast<double>(std::max<uint64_t>(latency_ns, 1)) *
								   static_cast<double>(kBarOfMessage));
	};
	const size_t from = std::min(column(step.offset_ns), kBarOfMessage - 1);
	const size_t to = std::clamp(column(step.offset_ns + step.ns), from + 1, kBarOfMessage);
	return std::string(from, ' ') + kind_symbol(analysis::kind_of(step.layer, step.part, code), to - from, look) +
		   std::string(kBarOfMessage - to, ' ');
}

std::vector<std::string> texts_of(const explain::MessageStep &step, bool typical_known)
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

// "  known within 250 ns  <- timer interrupt"
std::string certainty_of(const explain::MessageStep &step)
{
	const std::string who = words_of(step.blame, step.taken, step.ns);
	return fmt::format("  {}{}{}", step.known,
					   step.bound_ns > 0 ? " within " + stats::duration(static_cast<double>(step.bound_ns))
										 : std::string(),
					   who.empty() ? "" : "  <- " + who);
}

void add_typical(Page &page, const analysis::WorstMessage &message, const analysis::LatencyRange &typical,
				 const char *things)
{
	page.paragraph("typical",
				   fmt::format("its layers are compared with the mean of the same in {} typical {} (p40 to p60), "
							   "which take {} µs: it takes {:.3g} times as long",
							   stats::count(typical.layers.deliveries()), things,
							   stats::microseconds(typical.layers.mean_ns()),
							   static_cast<double>(message.latency_ns()) / typical.layers.mean_ns()));
}

// The longest steps, where there are many.
void add_steps(Page &page, const analysis::WorstMessage &message, const analysis::LatencyRange *typical,
			   analysis::Code code)
{
	const std::vector<explain::MessageStep> steps = explain::steps_of(message, typical);
	const std::string no_bar(kBarOfMessage, ' ');
	Table table({{Side::Right}, {}, {}, {Side::Right}, {Side::Right}, {Side::Right}});
	table.add({"at µs", "layer", "thread", "CPU", "µs", "× typical"}, "  " + no_bar + "  known");
	std::vector<uint64_t> times;
	for (const explain::MessageStep &step : steps)
		times.push_back(step.ns);
	const std::vector<size_t> shown = explain::longest_of(times, kMostSteps);
	uint64_t shown_ns = 0;
	for (const size_t i : shown) {
		const explain::MessageStep &step = steps[i];
		table.add(texts_of(step, typical != nullptr),
				  "  " + bar_of(step, message.latency_ns(), code, page.look()) + page.spelled(certainty_of(step)));
		shown_ns += step.ns;
	}
	if (shown.size() < steps.size())
		table.add_line(page.spelled(
			fmt::format("  … {} shorter steps between, {} together", stats::count(steps.size() - shown.size()),
						stats::duration(static_cast<double>(message.latency_ns() - shown_ns)))));
	const std::string whole = stats::exact_microseconds(message.latency_ns());
	table.add({whole, "sum", "", "", whole}, "  " + no_bar + "  = recv - send");
	table.add_to(page);
}

} // namespace

void add_path(Page &page, const analysis::WorstMessage &message, const analysis::LatencyRange *typical,
			  analysis::Code code, const char *things)
{
	if (!message.path.complete() || message.path.segments.empty()) {
		page.paragraph("no path", std::string(path::kReasonNames[static_cast<size_t>(
									  message.path.complete() ? path::Reason::NoEvidence : message.path.reason)]));
		return;
	}
	if (typical)
		add_typical(page, message, *typical, things);
	add_steps(page, message, typical, code);
}

void add_message(Page &page, const analysis::WorstMessage &message, const analysis::CellResult &cell)
{
	page.heading(fmt::format("{}: {} {} of round {}, {} (--message {})", model::title(cell.cell),
							 message.back ? "answer" : "message", stats::count(message.seq), message.round,
							 stats::duration(static_cast<double>(message.latency_ns())), explain::name_of(message)));
	add_path(page, message, cell.ranges.tells_typical() ? &*cell.ranges.typical : nullptr, cell.code());
	page.line();
}

} // namespace icepath::text
