// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/report.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>
#include <utility>

#include "profiler/analysis/analyse.h"
#include "profiler/analysis/link_ranges.h"
#include "profiler/analysis/named_cells.h"
#include "profiler/explain/against.h"
#include "profiler/explain/notices.h"
#include "profiler/explain/tail.h"
#include "profiler/exports/attached_files.h"
#include "profiler/exports/explain_json.h"
#include "profiler/exports/flame_files.h"
#include "profiler/exports/measures_json.h"
#include "profiler/exports/run_json.h"
#include "profiler/failure.h"
#include "profiler/gate/judge.h"
#include "profiler/model/cell_title.h"
#include "profiler/pages/flame_svg.h"
#include "profiler/pages/html_report.h"
#include "profiler/text/against_lines.h"
#include "profiler/text/attached_lines.h"
#include "profiler/text/finding_words.h"
#include "profiler/text/function_lines.h"
#include "profiler/text/gate_lines.h"
#include "profiler/text/link_lines.h"
#include "profiler/text/message_lines.h"
#include "profiler/text/mode_lines.h"
#include "profiler/text/tail_lines.h"
#include "profiler/text/tail_summary_lines.h"

namespace icepath::report {
namespace {

std::string write_file(const std::shared_ptr<exports::Folder> &folder, const std::string &name, const std::string &text)
{
	exports::WrittenFile file(folder, name);
	file.add(text);
	file.done();
	return file.path();
}

text::Page page_of(const text::Style &style)
{
	return text::Page({style.colour, style.unicode}, static_cast<size_t>(std::clamp(style.width, 40, 1000)));
}

// The cells that `part` names and that were measured with probes.
std::vector<size_t> cells_of(const std::string &run, const analysis::RunResult &result, const std::string &part)
{
	std::vector<model::Cell> cells;
	std::vector<bool> measured;
	for (const analysis::CellResult &cell : result.cells) {
		cells.push_back(cell.cell);
		measured.push_back(cell.paths.deliveries > 0);
	}
	if (part.empty() && std::ranges::find(measured, true) == measured.end())
		throw Failure(ExitCode::Invalid, run +
											 ": no message was measured with probes: measure longer, as root or after "
											 "icepath setup (sudo icepath run -d)");
	return analysis::measured_cells_named(cells, measured, part, "--cell", " with probes");
}

// The slowest one of each of the cells, or the one that the question names.
std::vector<const analysis::WorstMessage *> messages_of(const analysis::RunResult &result,
														const std::vector<size_t> &cells, const Question &question)
{
	std::vector<const analysis::WorstMessage *> messages;
	bool has_round = false;
	for (const size_t index : cells) {
		const analysis::CellResult &cell = result.cells[index];
		if (question.worst && cell.followed.worst())
			messages.push_back(cell.followed.worst());
		if (!question.message)
			continue;
		for (const analysis::WorstMessage &message : cell.followed.asked)
			messages.push_back(&message);
		has_round = has_round || std::ranges::any_of(cell.capture.by_block, [&](const analysis::BlockCapture &block) {
						return block.probed && block.round == question.message->round;
					});
	}
	if (messages.empty())
		throw has_round
			? Failure(ExitCode::Usage,
					  "--message: the round has no such message: icepath export -f paths has those with "
					  "a path")
			: Failure(ExitCode::Invalid,
					  question.worst ? "--worst: no message has a complete path: icepath report -v RUN says why"
									 : "--message: these cells have no blocks with probes in that round, and only "
									   "messages in such blocks have a path: icepath export -f paths has them");
	return messages;
}

void add_functions_of(text::Page &page, const std::string &run, const analysis::RunResult &result,
					  const std::vector<size_t> &cells)
{
	bool any = false;
	for (const size_t cell : cells)
		if (result.cells[cell].functions.samples() > 0) {
			text::add_functions(page, result.cells[cell]);
			any = true;
		}
	if (!any)
		throw Failure(ExitCode::Invalid, run + ": no functions were sampled: record them with `icepath run --stacks`, "
											   "which samples one round in eight");
	text::add_function_notes(page);
}

// Throws Failure(Usage) for a run of icepath attach, of which `what` isn't made.
analysis::RunResult result_of_cells(const std::string &run, const char *what, const analysis::Wanted &wanted = {})
{
	analysis::RunResult result = analysis::analyse(run, wanted);
	if (result.head.attached)
		throw Failure(ExitCode::Usage,
					  fmt::format("{} is a run of icepath attach, of which {} isn't made: icepath report {} shows it",
								  run, what, run));
	return result;
}

// Whether each word of the text is one of the programs, or the kind of the stream.
bool is_named(const analysis::LinkRanges &link, const std::string &text)
{
	std::istringstream words(text);
	for (std::string word; words >> word;)
		if (word != link.client && word != link.server && word != analysis::word_of(link.kind))
			return false;
	return true;
}

std::vector<size_t> links_of(const analysis::RangesOfLinks &ranges, const Question &question, const std::string &run)
{
	constexpr size_t kMost = 6; // of one screen
	std::vector<size_t> links;
	for (size_t i = 0; i < ranges.links.size(); ++i)
		if (is_named(ranges.links[i], question.cell))
			links.push_back(i);
	if (links.empty() && !question.cell.empty())
		throw Failure(ExitCode::Usage,
					  fmt::format("--cell: \"{}\" names no two programs of {} that talk: icepath report "
								  "-v {} lists them, as 'client server' or 'client server tcp'",
								  question.cell, run, run));
	if (links.empty())
		throw Failure(ExitCode::Invalid, run + ": nothing was seen that one of its programs gave to another");
	if (question.cell.empty() && !question.verbose)
		links.resize(std::min(links.size(), kMost));
	return links;
}

void refuse_what_attached_runs_lack(const std::string &run, const Question &question)
{
	for (const auto &[is_asked, option] :
		 {std::pair(!question.against.empty(), "--against"), std::pair(question.modes, "--modes"),
		  std::pair(question.stacks, "--stacks"), std::pair(question.json, "--json")})
		if (is_asked)
			throw Failure(ExitCode::Usage,
						  fmt::format("{} is a run of icepath attach, of which explain {} isn't made: it tells --tail, "
									  "--worst and --message; icepath report --json {} has the figures",
									  run, option, run));
}

// Whether one of them is explained.
bool add_tails(text::Page &page, const analysis::RangesOfLinks &ranges, const std::vector<size_t> &links,
			   const Question &question)
{
	bool any = false;
	const double run_s = static_cast<double>(ranges.result.end_ns - ranges.result.begin_ns) / 1e9;
	for (const size_t index : links) {
		const analysis::LinkRanges &link = ranges.links[index];
		const explain::TailExplanation tail = explain::explain_tail(
			{link.ranges, link.count, link.windows, run_s, analysis::Code::OfPrograms}, question.tail);
		text::add_tail(page, ranges, index, tail, question.tail, question.verbose);
		any = any || tail.is_explained();
	}
	return any;
}

// The slowest one of each link, the slowest of all first. Whether there is any.
bool add_slowest(text::Page &page, const analysis::RangesOfLinks &ranges, const std::vector<size_t> &links)
{
	std::vector<const analysis::LinkRanges *> slowest;
	for (const size_t link : links)
		if (ranges.links[link].slowest)
			slowest.push_back(&ranges.links[link]);
	std::ranges::stable_sort(slowest, std::ranges::greater{},
							 [](const analysis::LinkRanges *link) { return link->slowest->latency_ns(); });
	for (const analysis::LinkRanges *link : slowest)
		text::add_exchange(page, ranges.result, *link,
						   {link->is_of_requests, link->to_server, link->slowest->round, link->slowest->path.send_ns,
							link->slowest->path.recv_ns},
						   *link->slowest);
	return !slowest.empty();
}

Explanation explanation_of_attached(const std::string &run, const Question &question, const text::Style &style)
{
	refuse_what_attached_runs_lack(run, question);
	const analysis::RangesOfLinks ranges = analysis::ranges_of_links(run, question.tail, question.message);
	text::Page page = page_of(style);
	if (question.message) {
		if (!ranges.asked)
			throw Failure(ExitCode::Usage, fmt::format("--message: {} has no message that thread {} sent at {} ns, or "
													   "nobody is known to have taken it: icepath export -f csv {} "
													   "lists them by from_tid and send_ns",
													   run, question.message->round, question.message->seq, run));
		text::add_exchange(page, ranges.result, ranges.links[ranges.asked->link], ranges.asked->what,
						   ranges.asked->message);
		return {page.take()};
	}
	const std::vector<size_t> links = links_of(ranges, question, run);
	const bool refused = question.worst ? !add_slowest(page, ranges, links) : !add_tails(page, ranges, links, question);
	if (links.size() < ranges.links.size() && question.cell.empty())
		page.line(fmt::format("{} more pairs of programs: icepath explain -v", ranges.links.size() - links.size()));
	if (refused && question.worst)
		throw Failure(ExitCode::Invalid, run + ": no request has a path: icepath report says why");
	return {page.take(), refused};
}

Report report_of(const analysis::RunResult &result, const text::Style &style, const std::vector<gate::Gate> &gates)
{
	Report report = {text::terminal_report(result, style), text::sentences(result, explain::flaws(result))};
	if (!gates.empty()) {
		const gate::Judgement judgement = gate::judge(result, gates);
		report.text += text::gate_lines(judgement, style);
		report.of_gates = gate::exit_code(judgement);
	}
	return report;
}

} // namespace

Report report_of(const std::string &run, const text::Style &style, const std::vector<gate::Gate> &gates)
{
	const analysis::RunResult result =
		gates.empty() ? analysis::analyse(run) : result_of_cells(run, "a judgement of gates");
	if (result.head.attached)
		return {text::attached_report(analysis::analyse_attached(run), style), {}};
	return report_of(result, style, gates);
}

Explanation explanation_of(const std::string &run, const Question &question, const text::Style &style)
{
	const analysis::RunResult result = analysis::analyse(run, {question.tail, question.message});
	if (result.head.attached)
		return explanation_of_attached(run, question, style);
	text::Page page = page_of(style);
	if (!question.against.empty()) {
		const explain::Against against = explain::explain_named(result, {question.cell, question.against});
		if (question.json)
			return {exports::against_json(result, against), !against.difference};
		text::add_against(page, result, against);
		if (question.stacks)
			add_functions_of(page, run, result, {against.slower, against.faster});
		return {page.take(), !against.difference};
	}
	const std::vector<size_t> cells = cells_of(run, result, question.cell);
	if (question.modes) {
		for (const size_t cell : cells)
			text::add_mode_differences(page, result.cells[cell]);
		return {page.take()};
	}
	if (question.stacks) {
		add_functions_of(page, run, result, cells);
		return {page.take()};
	}
	if (question.worst || question.message) {
		const auto messages = messages_of(result, cells, question);
		if (question.json)
			return {exports::messages_json(result, messages)};
		for (const analysis::WorstMessage *message : messages)
			text::add_message(page, *message, result.cells[message->cell]);
		return {page.take()};
	}
	std::vector<explain::TailExplanation> tails;
	for (const size_t cell : cells)
		tails.push_back(explain::explain_tail(result.cells[cell], result.head, result.tail_from));
	const bool refused = std::ranges::none_of(tails, &explain::TailExplanation::is_explained);
	if (question.json)
		return {exports::tails_json(result, cells, tails), refused};
	if (cells.size() > 1 && question.cell.empty() && !question.verbose)
		text::add_tail_summary(page, result, cells, tails);
	else
		for (size_t i = 0; i < cells.size(); ++i)
			text::add_tail(page, result, cells[i], tails[i], question.verbose);
	return {page.take(), refused};
}

Report report_and_write(const std::string &run, const text::Style &style, const std::vector<gate::Gate> &gates)
{
	const analysis::RunResult result = analysis::analyse(run);
	if (result.head.attached) {
		const analysis::AttachedResult attached = analysis::analyse_attached(run);
		write_file(exports::own_folder(exports::directory_of(run)), "run.json", exports::attached_json_text(attached));
		return {text::attached_report(attached, style), {}};
	}
	const auto folder = exports::own_folder(exports::directory_of(run));
	write_file(folder, "run.json", exports::run_json_text(result));
	write_file(folder, "report.html", pages::html_report(result));
	return report_of(result, style, gates);
}

std::string write_html(const std::string &run)
{
	return write_file(exports::own_folder(exports::directory_of(run)), "report.html",
					  pages::html_report(result_of_cells(run, "report.html")));
}

namespace {

analysis::FlameGraph graph_of(const analysis::RunResult &result, const FlameWishes &wishes)
{
	if (wishes.kind != analysis::FlameKind::Path)
		return analysis::thread_graph(result, wishes.kind, wishes.cell);
	return analysis::flame_graph(result, wishes.tail ? analysis::FlameMessages::Tail : analysis::FlameMessages::All,
								 wishes.cell, analysis::FlameFunctions::Shown);
}

analysis::RunResult result_for(const std::string &run, const FlameWishes &wishes)
{
	return result_of_cells(run, "a flame graph",
						   {.tail = {}, .message = {}, .threads = wishes.kind != analysis::FlameKind::Path});
}

// `result` is `run`'s.
analysis::FlameGraph wished_graph(const analysis::RunResult &result, const std::string &run, const FlameWishes &wishes)
{
	analysis::FlameGraph graph = graph_of(result, wishes);
	if (!wishes.other.empty())
		graph = analysis::compared(graph, graph_of(result_for(wishes.other, wishes), wishes), wishes.other);
	if (graph.cells.empty() && !graph.differing.empty())
		throw Failure(ExitCode::Usage,
					  fmt::format("--diff: {} and {} have no cell in common: {}. Compare runs of the same load", run,
								  wishes.other, fmt::join(graph.differing, ", ")));
	if (graph.cells.empty() && (!wishes.cell.empty() || wishes.tail || !wishes.other.empty()))
		throw Failure(
			ExitCode::Usage,
			fmt::format("{}: no cell{}{} has {}{}: `icepath report -v {}` has their titles", run,
						wishes.cell.empty() ? "" : fmt::format(" with \"{}\" in its title", wishes.cell),
						wishes.other.empty() ? "" : " that " + wishes.other + " has as well",
						wishes.kind == analysis::FlameKind::Path ? "a complete path" : "threads in that state",
						wishes.tail ? " in its tail" : "", run));
	return graph;
}

std::string what_it_is(const FlameWishes &wishes)
{
	switch (wishes.kind) {
	case analysis::FlameKind::Path:
		break;
	case analysis::FlameKind::OnCpu:
		return "What threads run";
	case analysis::FlameKind::OffCpu:
		return "Where threads sleep";
	case analysis::FlameKind::Wakeup:
		return "Who wakes sleeping threads";
	}
	return wishes.tail ? "Where the latency of the slowest messages goes" : "Where the latency of messages goes";
}

} // namespace

std::string write_flamegraph(const std::string &run, const FlameWishes &wishes, const exports::OutputPlace &place,
							 const exports::OpenFolder &open)
{
	const analysis::RunResult result = result_for(run, wishes);
	const analysis::FlameGraph graph = wished_graph(result, run, wishes);
	const auto to = exports::output_folder(run, place.folder, open);
	const std::string name = analysis::kFlameFileNames[static_cast<size_t>(wishes.kind)];
	if (place.file.ends_with(".folded"))
		return write_file(to, place.file, exports::folded(graph));
	if (place.file.empty())
		write_file(to, name + ".folded", exports::folded(graph));
	const std::string title =
		fmt::format("{} · {} · {}", what_it_is(wishes), result.head.command_line, result.head.started_utc);
	return write_file(to, place.file.empty() ? name + ".svg" : place.file, pages::flame_svg(graph, title));
}

exports::OutputPlace place_of_flames(const std::string &output)
{
	return exports::place_of(output, {".svg", ".folded"});
}
exports::OutputPlace place_of_files(const std::string &output) { return exports::place_of(output, {}); }

std::string json_of(const std::string &run)
{
	const analysis::RunResult result = analysis::analyse(run);
	return result.head.attached ? exports::attached_json_text(analysis::analyse_attached(run))
								: exports::run_json_text(result);
}

std::string folded_of(const std::string &run, const FlameWishes &wishes)
{
	return exports::folded(wished_graph(result_for(run, wishes), run, wishes));
}

} // namespace icepath::report
