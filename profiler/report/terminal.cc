// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

// C has one name for the function and another for the struct; C++ sees one hide the other.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "icepath/plugin.h"
#pragma GCC diagnostic pop
#include "profiler/report/cell_table.h"
#include "profiler/report/notices.h"
#include "profiler/report/page.h"
#include "profiler/report/quantity.h"
#include "profiler/report/worst_message.h"

namespace icepath::report {
namespace {

using nlohmann::json;

constexpr size_t kCulprits = 5;

std::string text_of(const json &object, const char *key)
{
	const auto at = object.is_object() ? object.find(key) : object.end();
	return object.is_object() && at != object.end() && at->is_string() ? printable(at->get<std::string>()) : "";
}

void add_host(Page &page, const json &host)
{
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
	page.paragraph("host", machine.empty() ? "unknown" : machine);
}

// What wasn't isolated: see cpuset::to_json.
void add_isolation(Page &page, const json &isolation)
{
	if (const std::string why = text_of(isolation, "why"); !why.empty())
		page.paragraph("cpus", why);
	if (!isolation.is_object() || !isolation.contains("items") || !isolation["items"].is_array())
		return;
	std::string label = "noise";
	for (const json &item : isolation["items"]) {
		if (!item.is_object() || item.value("quiet", json(true)) != false)
			continue;
		const std::string effect = text_of(item, "effect");
		page.paragraph(label, fmt::format("{}: {}{}{}", text_of(item, "name"), text_of(item, "found"),
										  effect.empty() ? "" : " → ", effect));
		label = "";
	}
	if (!label.empty())
		page.paragraph(label, "none of the known kinds");
}

void add_probes(Page &page, const std::vector<rundir::ProbeUse> &probes)
{
	// Many probes serve one purpose: by layer and tier, in the order of first use.
	struct Use {
		std::string layer, tier, probes;
	};
	std::vector<Use> uses;
	for (const rundir::ProbeUse &probe : probes) {
		const auto at = std::ranges::find_if(
			uses, [&](const Use &use) { return use.layer == probe.layer && use.tier == probe.tier; });
		if (at == uses.end())
			uses.push_back({probe.layer, probe.tier, probe.probe});
		else
			at->probes += ", " + probe.probe;
	}
	std::string label = "probes";
	for (const Use &use : uses) {
		page.paragraph(label, printable(fmt::format("{}: {} ({})", use.layer, use.probes, use.tier)));
		label = "";
	}
}

void add_head(Page &page, const rundir::Head &head)
{
	page.heading(fmt::format("icepath {} · {} · {}", printable(head.icepath_version), printable(head.started_utc),
							 printable(head.command_line)));
	add_host(page, json::parse(head.host_json, nullptr, false));
	add_isolation(page, json::parse(head.isolation_json, nullptr, false));
	add_probes(page, head.probes);
	page.line();
}

void add_worst(Page &page, const RunResult &result)
{
	const WorstMessage *worst = nullptr;
	uint64_t slowest = 0;
	for (const CellResult &cell : result.cells) {
		if (cell.cell.capabilities & ICEPATH_NOT_IPC)
			continue;
		slowest = std::max({slowest, cell.latency.max, cell.latency_probed.max});
		if (cell.worst && (!worst || cell.worst->latency_ns() > worst->latency_ns()))
			worst = &*cell.worst;
	}
	if (!worst)
		return;
	const std::vector<std::string> lines = explain(*worst, result.cells[worst->cell].cell, page.look());
	page.heading(lines[0]);
	for (size_t i = 1; i < lines.size(); ++i)
		page.line(page.spelled(lines[i]));
	if (slowest > worst->latency_ns())
		page.line(page.spelled(
			fmt::format("  the slowest message of all took {}, in a block without probes or on a path that isn't whole",
						duration(static_cast<double>(slowest)))));
	page.line();
}

void add_culprits(Page &page, const std::vector<CellResult> &cells)
{
	struct Sum {
		std::string name, layer;
		uint64_t ns = 0, segments = 0;
	};
	std::map<std::pair<std::string, std::string>, Sum> by_name; // all cells together
	for (const CellResult &cell : cells)
		for (const CulpritRow &row : cell.culprits.top(SIZE_MAX)) {
			const std::string name = printable(row.name), layer(path::name(row.layer));
			Sum &sum = by_name.try_emplace({name, layer}, Sum{name, layer, 0, 0}).first->second;
			sum.ns += row.total_ns;
			sum.segments += row.segments;
		}
	if (by_name.empty())
		return;
	std::vector<Sum> sums;
	for (const auto &[key, sum] : by_name)
		sums.push_back(sum);
	std::ranges::stable_sort(sums, std::ranges::greater(), &Sum::ns);
	sums.resize(std::min(sums.size(), kCulprits));
	size_t name_width = 0, layer_width = 0;
	for (const Sum &sum : sums) {
		name_width = std::max(name_width, columns(sum.name));
		layer_width = std::max(layer_width, columns(sum.layer));
	}
	page.heading("who took time from messages on their way");
	for (const Sum &sum : sums)
		page.line(page.spelled(fmt::format("  {}  {}  {}, {} {}", pad_right(sum.name, name_width),
										   pad_right(sum.layer, layer_width),
										   pad_left(duration(static_cast<double>(sum.ns)), 8), count(sum.segments),
										   sum.segments == 1 ? "time" : "times")));
	page.line();
}

} // namespace

std::string terminal_report(const RunResult &result, const Style &style)
{
	Page page({style.colour, style.unicode}, static_cast<size_t>(std::clamp(style.width, 40, 1000)));
	add_head(page, result.head);
	add_cell_table(page, result);
	add_worst(page, result);
	add_culprits(page, result.cells);
	std::string label = "notice";
	for (const std::string &notice : notices(result))
		page.paragraph(label, printable(notice));
	return page.take();
}

} // namespace icepath::report
