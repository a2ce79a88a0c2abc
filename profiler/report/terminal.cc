// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "profiler/report/layer_bar.h"
#include "profiler/report/layer_style.h"
#include "profiler/report/notices.h"
#include "profiler/report/quantity.h"
#include "profiler/report/worst_message.h"

namespace icepath::report {
namespace {

using nlohmann::json;

constexpr size_t kCulprits = 5;

// A column of the table of cells, filled row by row.
struct Column {
	std::string head;
	bool right = true;
	std::vector<std::string> cells = {};
};

std::string text_of(const json &object, const char *key)
{
	const auto at = object.is_object() ? object.find(key) : object.end();
	return object.is_object() && at != object.end() && at->is_string() ? printable(at->get<std::string>()) : "";
}

std::string with_interval(double ns, const std::optional<stats::Interval> &interval)
{
	return microseconds(ns) +
		   (interval ? fmt::format(" ±{}", microseconds_beside((interval->high - interval->low) / 2, ns)) : "");
}

std::string percentile_text(const stats::Distribution &d, size_t which, bool interval = false)
{
	if (!d.percentiles[which])
		return "–";
	return with_interval(static_cast<double>(*d.percentiles[which]), interval ? d.intervals[which] : std::nullopt);
}

std::string probe_cost(const CellResult &cell)
{
	if (!cell.observer_effect)
		return "–";
	return (cell.observer_effect->mean < 0 ? "" : "+") +
		   with_interval(cell.observer_effect->mean, cell.observer_effect->interval);
}

std::string cpu_text(const CellResult &cell)
{
	if (!cell.cpu_per_message)
		return "–";
	double sum = 0;
	for (const CpuTime &side : *cell.cpu_per_message)
		sum += side.user_ns + side.system_ns;
	return microseconds(sum);
}

std::string target_text(const rundir::Cell &cell)
{
	std::string text = printable(cell.target);
	if (cell.injection.sender_user_ns > 0)
		text += fmt::format(" +{}", duration(static_cast<double>(cell.injection.sender_user_ns)));
	if (cell.injection.receiver_busy_ns > 0)
		text += fmt::format(" ..+{}", duration(static_cast<double>(cell.injection.receiver_busy_ns)));
	return text;
}

class Report {
public:
	Report(const RunResult &result, const Style &style)
		: result_(result), look_{style.colour, style.unicode},
		  width_(static_cast<size_t>(std::clamp(style.width, 40, 1000)))
	{}

	std::string text()
	{
		add_head();
		add_cells();
		add_worst();
		add_culprits();
		add_notices();
		return std::move(text_);
	}

private:
	std::string spelled(const std::string &text) const { return look_.unicode ? text : to_ascii(text); }
	std::string bold(const std::string &text) const { return look_.colour ? "\033[1m" + text + "\033[0m" : text; }
	void line(const std::string &text = "") { text_ += text + "\n"; }

	// "label   words words", broken at spaces and indented under the first word.
	void paragraph(const std::string &label, const std::string &words, size_t indent = 10)
	{
		std::string out = pad_right(spelled(label), indent);
		const std::string rest = spelled(words);
		for (size_t at = 0; at < rest.size();) {
			const size_t end = std::min(rest.find(' ', at), rest.size());
			const std::string word = rest.substr(at, end - at);
			if (columns(out) > indent && columns(out) + 1 + columns(word) > width_) {
				line(out);
				out = std::string(indent, ' ');
			}
			out += columns(out) > indent ? " " + word : word;
			at = end + 1;
		}
		line(out);
	}

	void add_head()
	{
		const rundir::Head &head = result_.head;
		line(bold(spelled(fmt::format("icepath {} · {} · {}", printable(head.icepath_version),
									  printable(head.started_utc), printable(head.command_line)))));
		const json host = json::parse(head.host_json, nullptr, false);
		std::string machine;
		const auto add = [&](const std::string &what, const std::string &value) {
			if (!value.empty())
				machine += (machine.empty() ? "" : " · ") + what + value;
		};
		add("", text_of(host, "hostname"));
		add("kernel ", text_of(host, "kernel"));
		add("", text_of(host, "cpu_model"));
		if (host.is_object() && host.contains("cpus_online") && host["cpus_online"].is_number_unsigned())
			add("", fmt::format("{} CPUs", host["cpus_online"].get<uint64_t>()));
		add("clock ", text_of(host, "clocksource"));
		if (host.is_object() && host.contains("hypervisor") && host["hypervisor"] == true)
			add("", "under a hypervisor");
		paragraph("host", machine.empty() ? "unknown" : machine);
		add_isolation();
		add_probes();
		line();
	}

	void add_isolation()
	{
		const json isolation = json::parse(result_.head.isolation_json, nullptr, false);
		if (const std::string why = text_of(isolation, "why"); !why.empty())
			paragraph("cpus", why);
		if (!isolation.is_object() || !isolation.contains("items") || !isolation["items"].is_array())
			return;
		std::string label = "noisy";
		for (const json &item : isolation["items"]) {
			if (!item.is_object() || item.value("quiet", json(true)) != false)
				continue;
			const std::string effect = text_of(item, "effect");
			paragraph(label,
					  text_of(item, "name") + ": " + text_of(item, "found") + (effect.empty() ? "" : " → " + effect));
			label = "";
		}
		if (!label.empty())
			paragraph("noisy", "nothing that was looked for");
	}

	void add_probes()
	{
		// Several layers may rest on one probe: by probe, in the order of first use.
		std::vector<std::pair<std::string, std::string>> uses;
		for (const rundir::ProbeUse &use : result_.head.probes) {
			const std::string probe = fmt::format("{} ({})", printable(use.probe), printable(use.tier));
			const auto at = std::ranges::find(uses, probe, &std::pair<std::string, std::string>::first);
			if (at == uses.end())
				uses.emplace_back(probe, printable(use.layer));
			else
				at->second += ", " + printable(use.layer);
		}
		std::string label = "probes";
		for (const auto &[probe, layers] : uses) {
			paragraph(label, layers + ": " + probe);
			label = "";
		}
	}

	std::vector<const CellResult *> measured() const
	{
		std::vector<const CellResult *> cells;
		for (const CellResult &cell : result_.cells)
			if (cell.blocks_probed + cell.blocks_unprobed > 0)
				cells.push_back(&cell);
		return cells;
	}

	// One row a cell. What all cells share stands in the heading.
	void add_cells()
	{
		const auto cells = measured();
		if (cells.empty())
			return;
		Column target{"target", false}, pattern{"pattern", false}, wait{"wait", false}, size{"size"}, p50{"p50"},
			p99{"p99"}, p99_9{"p99.9"}, trip{"trip"}, pacing{"pacing"}, cpu{"CPU"}, lost{"lost"}, probes{"probes"};
		for (const CellResult *cell : cells) {
			target.cells.push_back(target_text(cell->cell));
			pattern.cells.emplace_back(pattern_name(cell->cell.pattern));
			wait.cells.emplace_back(wait_name(cell->cell.wait));
			size.cells.push_back(payload(cell->cell.payload_bytes));
			p50.cells.push_back(percentile_text(cell->latency, 0, true));
			p99.cells.push_back(percentile_text(cell->latency, 2, true));
			p99_9.cells.push_back(percentile_text(cell->latency, 3));
			trip.cells.push_back(percentile_text(cell->round_trip, 0));
			pacing.cells.push_back(percentile_text(cell->pacing, 2));
			cpu.cells.push_back(cpu_text(*cell));
			lost.cells.push_back(count(cell->messages.lost));
			probes.cells.push_back(probe_cost(*cell));
		}
		std::string heading = "one-way latency in µs";
		std::vector<const Column *> before = {&target};
		for (const Column *column : {&pattern, &wait}) {
			if (cells.size() > 1 && std::ranges::count(column->cells, column->cells[0]) == std::ssize(cells))
				heading += fmt::format(", {} {}", column->head, column->cells[0]);
			else
				before.push_back(column);
		}
		before.insert(before.end(), {&size, &p50, &p99, &p99_9});
		std::string reading = "±: half of the 95 % interval over blocks · ";
		for (const auto &[column, meaning] :
			 {std::pair<const Column *, const char *>{&trip, "trip: p50 of the round trip · "},
			  {&pacing, "pacing: p99 of intended → real send, beside the latency · "}})
			if (std::ranges::any_of(column->cells, [](const std::string &cell) { return cell != "–"; })) {
				before.push_back(column);
				reading += meaning;
			}
		reading += "layers: where the mean goes, with probes · CPU: of both sides per message · probes: what they "
				   "added to the p50 · "
				   "–: not measured, or fewer than 10 messages beyond it (p99.9 needs 10 000)";

		line(bold(spelled(heading)));
		add_rows(cells, before, {&cpu, &lost, &probes});
		add_legend(cells);
		paragraph("", reading, 0);
		line();
	}

	void add_rows(const std::vector<const CellResult *> &cells, const std::vector<const Column *> &before,
				  const std::vector<const Column *> &after)
	{
		constexpr size_t kNarrowest = 10, kWidest = 48;
		size_t used = 0;
		for (const auto &group : {before, after})
			for (const Column *column : group)
				used += width_of(*column);
		const size_t gaps = before.size() + after.size();
		const std::string gap(used + 2 * gaps + kNarrowest <= width_ ? 2 : 1, ' ');
		used += gaps * gap.size();
		const size_t bar = std::clamp(width_ > used ? width_ - used : 0, kNarrowest, kWidest);
		const auto row = [&](const std::string &middle, const auto &cell_of) {
			std::string out;
			for (const Column *column : before)
				out += cell_text(*column, cell_of(*column)) + gap;
			out += middle;
			for (const Column *column : after)
				out += gap + cell_text(*column, cell_of(*column));
			line(out);
		};
		row(pad_right("layers", bar), [](const Column &column) { return column.head; });
		for (size_t i = 0; i < cells.size(); ++i)
			row(layer_bar(cells[i]->layers.rows(), bar, look_), [&](const Column &column) { return column.cells[i]; });
	}

	size_t width_of(const Column &column) const
	{
		size_t width = columns(column.head);
		for (const std::string &cell : column.cells)
			width = std::max(width, columns(spelled(cell)));
		return width;
	}

	std::string cell_text(const Column &column, const std::string &text) const
	{
		return column.right ? pad_left(spelled(text), width_of(column)) : pad_right(spelled(text), width_of(column));
	}

	void add_legend(const std::vector<const CellResult *> &cells)
	{
		std::array<bool, path::kLayerCount> used{};
		for (const CellResult *cell : cells) {
			const auto sums = by_layer(cell->layers.rows());
			for (size_t i = 0; i < sums.size(); ++i)
				used[i] = used[i] || sums[i] > 0;
		}
		std::string out;
		size_t taken = 0;
		for (size_t i = 0; i < used.size(); ++i) {
			if (!used[i])
				continue;
			const auto layer = static_cast<path::Layer>(i);
			const size_t needed = 2 + path::name(layer).size() + 2;
			if (taken + needed > width_ + 2) {
				line(out);
				out.clear();
				taken = 0;
			}
			out += fmt::format("{}{} {}", taken > 0 ? "  " : "", layer_symbol(layer, 1, look_), path::name(layer));
			taken += needed;
		}
		if (!out.empty())
			line(out);
	}

	void add_worst()
	{
		const WorstMessage *worst = nullptr;
		uint64_t slowest = 0;
		for (const CellResult &cell : result_.cells) {
			slowest = std::max({slowest, cell.latency.max, cell.latency_probed.max});
			if (cell.worst && (!worst || cell.worst->latency_ns() > worst->latency_ns()))
				worst = &*cell.worst;
		}
		if (!worst)
			return;
		bool first = true;
		for (const std::string &text : explain(*worst, result_.cells[worst->cell].cell, look_)) {
			line(first ? bold(spelled(text)) : look_.unicode ? text : to_ascii(text));
			first = false;
		}
		if (slowest > worst->latency_ns())
			line(spelled(fmt::format(
				"  the slowest message of all took {}, in a block without probes or on a path that isn't whole",
				duration(static_cast<double>(slowest)))));
		line();
	}

	void add_culprits()
	{
		std::map<std::pair<std::string, std::string>, std::pair<uint64_t, uint64_t>>
			sums; // by name and layer, over all cells
		for (const CellResult &cell : result_.cells)
			for (const CulpritRow &row : cell.culprits.top(SIZE_MAX)) {
				auto &[ns, segments] = sums[{printable(row.name), std::string(path::name(row.layer))}];
				ns += row.total_ns;
				segments += row.segments;
			}
		if (sums.empty())
			return;
		std::vector<std::pair<std::pair<std::string, std::string>, std::pair<uint64_t, uint64_t>>> rows(sums.begin(),
																										sums.end());
		std::ranges::stable_sort(rows, std::ranges::greater(), [](const auto &row) { return row.second.first; });
		rows.resize(std::min(rows.size(), kCulprits));
		line(bold(spelled("who took time from messages on their way")));
		size_t width = 0;
		for (const auto &row : rows)
			width = std::max(width, columns(row.first.first));
		for (const auto &[who, sum] : rows)
			line(spelled(fmt::format("  {}  {}  {} {} {}", pad_right(who.first, width), pad_right(who.second, 15),
									 pad_left(duration(static_cast<double>(sum.first)), 8) + ",", count(sum.second),
									 sum.second == 1 ? "time" : "times")));
		line();
	}

	void add_notices()
	{
		std::string label = "notice";
		for (const std::string &notice : notices(result_))
			paragraph(label, printable(notice));
	}

	const RunResult &result_;
	const Look look_;
	const size_t width_;
	std::string text_;
};

} // namespace

std::string terminal_report(const RunResult &result, const Style &style) { return Report(result, style).text(); }

} // namespace icepath::report
