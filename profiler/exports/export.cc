// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

#include "profiler/analysis/analyse.h"
#include "profiler/analysis/messages.h"
#include "profiler/analysis/rate_outcomes.h"
#include "profiler/analysis/run_result.h"
#include "profiler/exports/attached_files.h"
#include "profiler/exports/firefox_profile.h"
#include "profiler/exports/flame_files.h"
#include "profiler/exports/gate_files.h"
#include "profiler/exports/histogram_files.h"
#include "profiler/exports/path_lines.h"
#include "profiler/exports/perfetto.h"
#include "profiler/exports/tracker_files.h"
#include "profiler/failure.h"
#include "profiler/model/cell_title.h"
#include "profiler/model/graph.h"
#include "profiler/resolve/resolve.h"
#include "profiler/rundir/container.h"

namespace icepath::exports {
namespace {

using model::RecvStamp;
using model::SendStamp;

constexpr double kNsPerS = 1e9;

// A text as a file name and tag: letters, digits, '.', '_' and '-' only.
std::string plain(std::string name)
{
	const auto is_plain = [](char c) {
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
	};
	std::ranges::replace_if(name, [&](char c) { return !is_plain(c); }, '-');
	return name;
}

// The title of each cell, or its key where another cell's title is as plain: rates and idle states aren't in titles.
std::vector<std::string> plain_names(const std::vector<model::Cell> &cells)
{
	std::map<std::string, size_t> times;
	std::vector<model::CellKey> keys;
	for (const model::Cell &cell : cells) {
		keys.push_back(model::key_of(cell));
		++times[plain(model::title(cell))];
	}
	const std::vector<std::string> texts = model::key_texts(keys);
	std::vector<std::string> names;
	for (size_t i = 0; i < cells.size(); ++i) {
		const std::string name = plain(model::title(cells[i]));
		names.push_back(times[name] == 1 ? name : plain(texts[i]));
	}
	return names;
}

class Export {
public:
	virtual ~Export() = default;
	virtual void add(const model::Block &block, const model::Cell &cell) = 0;
	virtual std::vector<std::string> done() = 0; // returns the paths
	// False: blocks at rates that the report doesn't describe are left out.
	virtual bool is_of_every_block() const { return false; }
};

std::vector<uint64_t> unprobed_latencies(const model::Block &block, const model::Cell &cell)
{
	if (block.window->probed || is_counted(block))
		return {};
	return analysis::look_at_messages(block, cell).latencies.all();
}

class Hgrm : public Export {
public:
	Hgrm(std::shared_ptr<Folder> folder, const model::Head &head)
		: folder_(std::move(folder)), names_(plain_names(head.cells))
	{}

	void add(const model::Block &block, const model::Cell &cell) override
	{
		for (const uint64_t ns : unprobed_latencies(block, cell))
			histograms_[block.cell].add(ns);
	}

	std::vector<std::string> done() override
	{
		std::vector<std::string> paths;
		for (const auto &[cell, histogram] : histograms_) {
			WrittenFile file(folder_, names_.at(cell) + ".hgrm");
			file.add(hgrm_of(histogram));
			file.done();
			paths.push_back(file.path());
		}
		return paths;
	}

private:
	std::shared_ptr<Folder> folder_;
	std::vector<std::string> names_; // by cell
	std::map<uint32_t, stats::HdrHistogram> histograms_; // by cell
};

class Hlog : public Export {
public:
	Hlog(const std::shared_ptr<Folder> &folder, const model::Head &head)
		: names_(plain_names(head.cells)), file_(folder, "latency.hlog")
	{}

	void add(const model::Block &block, const model::Cell &cell) override
	{
		if (begin_.monotonic_ns == 0) {
			begin_ = block.window->begin;
			file_.add(histogram_log_head(static_cast<double>(begin_.realtime_ns) / kNsPerS));
		}
		stats::HdrHistogram histogram;
		for (const uint64_t ns : unprobed_latencies(block, cell))
			histogram.add(ns);
		if (histogram.total() == 0)
			return;
		const auto seconds = [](uint64_t from_ns, uint64_t to_ns) {
			return to_ns > from_ns ? static_cast<double>(to_ns - from_ns) / kNsPerS : 0;
		};
		file_.add(histogram_log_line(
					  names_.at(block.cell), seconds(begin_.monotonic_ns, block.window->begin.monotonic_ns),
					  seconds(block.window->begin.monotonic_ns, block.window->finish.monotonic_ns), histogram) +
				  "\n");
	}

	std::vector<std::string> done() override
	{
		if (begin_.monotonic_ns == 0)
			file_.add(histogram_log_head(0));
		file_.done();
		return {file_.path()};
	}

private:
	std::vector<std::string> names_; // by cell
	WrittenFile file_;
	model::ClockPair begin_; // of the log
};

class Csv : public Export {
public:
	explicit Csv(const std::shared_ptr<Folder> &folder) : file_(folder, "messages.csv")
	{
		file_.add("target,pattern,wait,payload_bytes,sender_added_ns,receiver_added_ns,round,probed,from_side,to_side,"
				  "seq,warm_up,intended_ns,send_ns,recv_ns,latency_ns,counted,rate_hz,between,sampled,arm\n");
	}

	void add(const model::Block &block, const model::Cell &cell) override
	{
		const std::string of_block =
			fmt::format("{},{},{},{},{},{},{},{:d}", text_cell(cell.target), model::name(cell.pattern),
						model::name(cell.wait), cell.payload_bytes, cell.levels.sender_user_ns,
						cell.levels.receiver_busy_ns, block.window->round, block.window->probed);
		const std::optional<double> rate_hz = block.rate_hz ? block.rate_hz : model::due_hz(cell); // of one sender
		const std::string rate = rate_hz ? fmt::format("{:.1f}", *rate_hz) : "";
		const std::vector<model::Flow> &flows = cell.graph.flows;
		for (size_t i = 0; i < flows.size(); ++i) {
			std::map<uint64_t, const RecvStamp *> received; // the first of each
			for (const RecvStamp &recv : block.flows[i].recvs)
				received.emplace(recv.seq, &recv);
			for (const SendStamp &send : block.flows[i].sends) {
				std::string line =
					fmt::format("{},{},{},{},{:d},{},{},", of_block, flows[i].from, flows[i].to, send.seq,
								(send.flags & model::kStampWarmUp) != 0, send.intended_ns, send.send_ns);
				const auto found = received.find(send.seq);
				if (found == received.end())
					line += ",";
				else
					line += fmt::format("{},{}", found->second->recv_ns,
										static_cast<int64_t>(found->second->recv_ns - send.send_ns));
				file_.add(fmt::format("{},{:d},{},{},{:d},{}\n", line, is_counted(block), rate,
									  model::name(model::between(cell)), block.window->is_sampled(), cell.arm));
			}
		}
	}

	std::vector<std::string> done() override
	{
		file_.done();
		return {file_.path()};
	}

	bool is_of_every_block() const override { return true; }

private:
	// Targets' names come from plug-ins. Characters that would break the table are left out, also where a spreadsheet's
	// separator is ';'. It takes a cell that begins like "=" for a formula, and one that begins with "'" for text.
	static std::string text_cell(std::string text)
	{
		std::erase_if(text,
					  [](char c) { return c == ',' || c == ';' || c == '"' || c == '\t' || c == '\r' || c == '\n'; });
		const char first = text.empty() ? 'a' : text.front();
		const bool is_plain = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
		return is_plain ? text : "'" + text;
	}

	WrittenFile file_;
};

class Paths : public resolve::Visitor {
public:
	Paths(const std::shared_ptr<Folder> &folder, const model::Head &head) : file_(folder, "paths.jsonl"), head_(head) {}

	void visit(const resolve::ResolvedBlock &resolved) override
	{
		const auto &[number, block, seen, paths] = resolved;
		const model::Cell &cell = head_.cells.at(block.cell);
		file_.add(block_line(block, cell, number));
		for (size_t i = 0; i < paths.size(); ++i)
			file_.add(path_line(paths[i], seen.deliveries[i], seen, cell, number));
	}

	std::string done()
	{
		file_.done();
		return file_.path();
	}

private:
	WrittenFile file_;
	const model::Head &head_;
};

template <class Consumer>
std::string export_paths(const std::string &run, const std::shared_ptr<Folder> &folder, const model::Head &head)
{
	Consumer paths(folder, head);
	resolve::resolve(run, paths);
	return paths.done();
}

// `made`: makes the file's content of the flame graph and a title.
std::string export_stacks(const std::string &run, const std::shared_ptr<Folder> &folder, analysis::FlameKind kind,
						  const std::string &ending,
						  std::string (*made)(const analysis::FlameGraph &, const std::string &))
{
	const bool is_of_paths = kind == analysis::FlameKind::Path;
	const analysis::RunResult result = analysis::analyse(run, {.tail = {}, .message = {}, .threads = !is_of_paths});
	const analysis::FlameGraph graph =
		is_of_paths ? analysis::flame_graph(result, analysis::FlameMessages::All, "", analysis::FlameFunctions::Shown)
					: analysis::thread_graph(result, kind, "");
	const std::string content = made(graph, result.head.command_line);
	WrittenFile file(folder, analysis::kFlameFileNames[static_cast<size_t>(kind)] + ending);
	file.add(content);
	file.done();
	return file.path();
}

std::unique_ptr<Export> make(ExportFormat format, const std::shared_ptr<Folder> &folder, const model::Head &head)
{
	switch (format) {
	case ExportFormat::Hgrm:
		return std::make_unique<Hgrm>(folder, head);
	case ExportFormat::Hlog:
		return std::make_unique<Hlog>(folder, head);
	case ExportFormat::Csv:
		return std::make_unique<Csv>(folder);
	case ExportFormat::Paths:
	case ExportFormat::Perfetto:
	case ExportFormat::Speedscope:
	case ExportFormat::Firefox:
	case ExportFormat::Junit:
	case ExportFormat::Markdown:
	case ExportFormat::BenchmarkAction:
	case ExportFormat::Bencher:
	case ExportFormat::Otava:
		break; // not made block by block: export_paths(), export_stacks(), export_figures()
	}
	return nullptr;
}

bool is_of_gates(ExportFormat format) { return format == ExportFormat::Junit || format == ExportFormat::Markdown; }

void check_gates(const std::vector<ExportFormat> &formats, const std::vector<gate::Gate> &gates)
{
	for (const ExportFormat format : formats) {
		const char *name = kExportFormatNames[static_cast<size_t>(format)];
		if (!gates.empty() && !is_of_gates(format))
			throw Failure(ExitCode::Usage,
						  fmt::format("--gate and --expect apply to junit and markdown only, not to {}", name));
		if (gates.empty() && format == ExportFormat::Junit)
			throw Failure(ExitCode::Usage,
						  fmt::format("{} has what gates find: name some by --gate or --expect", name));
	}
}

// The formats of a cell's figures, and of what gates find in them.
std::vector<std::string> export_figures(const std::string &run, const std::vector<ExportFormat> &formats,
										const std::shared_ptr<Folder> &folder, const std::vector<gate::Gate> &gates)
{
	std::vector<std::string> paths;
	std::optional<analysis::RunResult> result;
	const auto write = [&](ExportFormat format, const char *name, const auto &content_of) {
		if (std::ranges::find(formats, format) == formats.end())
			return;
		if (!result)
			result = analysis::analyse(run);
		WrittenFile file(folder, name);
		file.add(content_of());
		file.done();
		paths.push_back(file.path());
	};
	write(ExportFormat::Junit, "junit.xml", [&] { return junit_xml(*result, gate::judge(*result, gates)); });
	write(ExportFormat::Markdown, "summary.md", [&] { return summary_markdown(*result, gate::judge(*result, gates)); });
	write(ExportFormat::BenchmarkAction, "benchmark-action.json", [&] { return benchmark_action_json(*result); });
	write(ExportFormat::Bencher, "bencher.json", [&] { return bencher_json(*result); });
	write(ExportFormat::Otava, "otava.csv", [&] { return otava_csv(*result); });
	return paths;
}

} // namespace

std::vector<std::string> export_run(const std::string &run, const std::vector<ExportFormat> &formats,
									const std::string &directory, const OpenFolder &open, analysis::FlameKind kind,
									const std::vector<gate::Gate> &gates)
{
	check_gates(formats, gates);
	for (const ExportFormat format : formats)
		if (kind != analysis::FlameKind::Path && format != ExportFormat::Speedscope && format != ExportFormat::Firefox)
			throw Failure(ExitCode::Usage, fmt::format("--kind applies to speedscope and firefox only, not to {}",
													   kExportFormatNames[static_cast<size_t>(format)]));
	rundir::Reader reader(run, rundir::Contents::WithoutRecords);
	const std::shared_ptr<Folder> folder = output_folder(run, directory, open);
	if (reader.head().attached)
		return export_attached(run, formats, folder);
	std::vector<std::unique_ptr<Export>> exports;
	for (const ExportFormat format : formats)
		if (auto made = make(format, folder, reader.head()))
			exports.push_back(std::move(made));
	const auto searches = analysis::search_outcomes(run, reader.head().cells);
	while (const auto window = exports.empty() ? std::nullopt : reader.next())
		for (const model::Block &block : window->blocks)
			for (const auto &each : exports) {
				const auto &search = searches.at(block.cell);
				if (each->is_of_every_block() || !search || search->uses(block))
					each->add(block, reader.head().cells.at(block.cell));
			}
	std::vector<std::string> paths;
	for (const auto &each : exports)
		for (std::string &path : each->done())
			paths.push_back(std::move(path));
	if (std::ranges::find(formats, ExportFormat::Paths) != formats.end())
		paths.push_back(export_paths<Paths>(run, folder, reader.head()));
	if (std::ranges::find(formats, ExportFormat::Perfetto) != formats.end())
		paths.push_back(export_paths<PerfettoTrace>(run, folder, reader.head()));
	if (std::ranges::find(formats, ExportFormat::Speedscope) != formats.end())
		paths.push_back(export_stacks(run, folder, kind, ".speedscope.json", speedscope));
	if (std::ranges::find(formats, ExportFormat::Firefox) != formats.end())
		paths.push_back(export_stacks(run, folder, kind, ".firefox-profile.json", firefox_profile));
	std::ranges::move(export_figures(run, formats, folder, gates), std::back_inserter(paths));
	return paths;
}

} // namespace icepath::exports
