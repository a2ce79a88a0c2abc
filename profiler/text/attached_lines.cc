// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/attached_lines.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "profiler/analysis/layer_style.h"
#include "profiler/stats/quantity.h"
#include "profiler/text/page.h"
#include "profiler/text/table.h"

namespace icepath::text {
namespace {

using analysis::Latencies;
using analysis::LayerKind;
using analysis::Link;
using model::Layer;
using model::Part;

constexpr size_t kBar = 40;
constexpr size_t kMostLinks = 6, kMostPlaces = 9; // of one screen

std::string micro(double ns) { return stats::microseconds(ns); }

std::string percentile_of(const Latencies &latencies, double share)
{
	const auto ns = latencies.percentile_ns(share);
	return ns ? micro(static_cast<double>(*ns)) : "–";
}

LayerKind kind_of(const analysis::Place &place)
{
	return analysis::kind_of(place.layer, place.part, analysis::Code::OfPrograms);
}

std::string bar_of(const Latencies &latencies, const Look &look)
{
	std::vector<uint64_t> weights(analysis::kLayerKinds, 0);
	for (const analysis::PlaceTime &one : latencies.places())
		weights[static_cast<size_t>(kind_of(one.place))] += static_cast<uint64_t>(one.mean_ns);
	const std::vector<uint64_t> parts = analysis::apportion(weights, kBar);
	std::string bar;
	for (size_t i = 0; i < parts.size(); ++i)
		if (parts[i] != 0)
			bar += kind_symbol(static_cast<LayerKind>(i), parts[i], look);
	return bar;
}

// What is sent: its name, how many and how many bytes in a second, percentiles, where it goes on those of all, a bar.
Table table_of_sent(bool goes_on)
{
	std::vector<TableColumn> columns = {
		{Side::Left, 22}, {Side::Right, 11, 1}, {Side::Right, 11, 1}, {Side::Right, 9, 1}, {Side::Right, 9, 1}};
	if (goes_on)
		columns.insert(columns.end(), 2, {Side::Right, 9, 1});
	return Table(columns);
}

struct Sent {
	std::string what, bytes; // bytes: a second
	uint64_t count = 0;
	const Latencies &latencies;
	const Latencies *all; // nullptr: these are all
};

void add_sent(Table &table, const Sent &sent, double seconds, const Look &look)
{
	std::vector<std::string> texts = {sent.what, stats::per_second(static_cast<double>(sent.count) / seconds) + "/s",
									  sent.bytes, percentile_of(sent.latencies, 0.5),
									  percentile_of(sent.latencies, 0.99)};
	if (sent.all)
		texts.insert(texts.end(), {percentile_of(*sent.all, 0.5), percentile_of(*sent.all, 0.99)});
	table.add(texts, "  " + bar_of(sent.latencies, look));
}

// Joins places that differ only in who was the cause.
struct Row {
	std::string program, words;
	double mean_ns = 0, slow_ns = 0;
	std::map<std::string, double> by; // of the slowest
};

std::vector<Row> rows_of(const Latencies &latencies)
{
	std::vector<Row> rows;
	for (const analysis::PlaceTime &one : latencies.places()) {
		const std::string words = words_of(one.place);
		auto row = std::ranges::find_if(
			rows, [&](const Row &its) { return its.program == one.place.program && its.words == words; });
		if (row == rows.end())
			row = rows.insert(row, Row{one.place.program, words, 0, 0, {}});
		row->mean_ns += one.mean_ns;
		row->slow_ns += one.slow_ns;
		if (!one.place.by.empty())
			row->by[one.place.by] += one.slow_ns;
	}
	std::ranges::stable_sort(rows, std::ranges::greater{}, &Row::slow_ns);
	return rows;
}

std::string cause_of(const Row &row)
{
	const auto most = std::ranges::max_element(row.by, {}, [](const auto &one) { return one.second; });
	if (most == row.by.end() || most->second * 2 < row.slow_ns)
		return "";
	return row.words.starts_with("blocked") || row.words.starts_with("waking") ? "by " + most->first : most->first;
}

void add_places(Page &page, const Latencies &latencies)
{
	const std::vector<Row> rows = rows_of(latencies);
	if (rows.empty())
		return;
	Table table({{Side::Left, 44, 4}, {Side::Right, 9, 1}, {Side::Right, 12, 1}, {}});
	table.add(
		{"where it goes", "mean µs", "slowest 1 %",
		 fmt::format("(slowest {} of {} with a path: mean {} of {} µs)", stats::count(latencies.slow_count()),
					 stats::count(latencies.with_path()), micro(latencies.slow_ns()), micro(latencies.mean_ns()))});
	double rest_mean = 0, rest_slow = 0;
	size_t shown = 0;
	for (const Row &row : rows) {
		const bool small = row.mean_ns < latencies.mean_ns() / 100 && row.slow_ns < latencies.slow_ns() / 100;
		if (small || shown == kMostPlaces) {
			rest_mean += row.mean_ns;
			rest_slow += row.slow_ns;
			continue;
		}
		shown++;
		table.add({row.program + ": " + row.words, micro(row.mean_ns), micro(row.slow_ns), cause_of(row)});
	}
	if (shown < rows.size())
		table.add({"the rest", micro(rest_mean), micro(rest_slow)});
	table.add_to(page);
}

std::string processes(const std::string &program, size_t count)
{
	if (count <= 1)
		return program;
	return fmt::format("{} ({}{} processes)", program, count, count < analysis::kMostProcesses ? "" : " or more");
}

// `all`: the same link since the beginning; nullptr: `link` is that.
void add_link(Page &page, const Link &link, double seconds, const Link *all = nullptr)
{
	page.heading(page.spelled(fmt::format("{} {} {}   {}, {} connection{}", processes(link.client, link.clients.size()),
										  analysis::arrow_of(link.kind), processes(link.server, link.servers.size()),
										  analysis::word_of(link.kind), link.connection_count(),
										  link.connection_count() == 1 ? "" : "s")));
	Table table = table_of_sent(all != nullptr);
	const auto direction = [&](const std::string &to, const analysis::Direction &one,
							   const analysis::Direction *whole) {
		if (one.messages != 0)
			add_sent(table,
					 {"to " + to, stats::amount(static_cast<double>(one.bytes) / seconds) + "B/s", one.messages,
					  one.latencies, whole ? &whole->latencies : nullptr},
					 seconds, page.look());
	};
	direction(link.server, link.to_server, all ? &all->to_server : nullptr);
	direction(link.client, link.to_client, all ? &all->to_client : nullptr);
	if (link.requests.answered != 0) {
		add_sent(
			table,
			{"requests", "", link.requests.answered, link.requests.latencies, all ? &all->requests.latencies : nullptr},
			seconds, page.look());
		table.add_to(page);
		for (const auto &[chain, count] : link.requests.chains)
			if (link.requests.chains.size() > 1)
				page.line(page.spelled(fmt::format("    {}  {}", stats::count(count), chain)));
		add_places(page, link.requests.latencies);
	} else {
		table.add_to(page);
		add_places(page, link.to_server.latencies);
	}
}

struct Trust {
	uint64_t messages = 0;
	std::array<uint64_t, 4> by_identity{};
	uint64_t without_path = 0, answered = 0, without_request_path = 0, ambiguous = 0, too_old = 0;
};

Trust trust_of(const analysis::AttachedResult &result)
{
	Trust sum;
	for (const Link &link : result.links) {
		for (const analysis::Direction *one : {&link.to_server, &link.to_client}) {
			sum.messages += one->messages;
			for (size_t i = 0; i < sum.by_identity.size(); ++i)
				sum.by_identity[i] += one->by_identity[i];
			for (const auto &[reason, count] : one->without_path)
				sum.without_path += count;
		}
		sum.answered += link.requests.answered;
		sum.ambiguous += link.requests.ambiguous;
		sum.too_old += link.requests.too_old;
		for (const auto &[reason, count] : link.requests.without_path)
			sum.without_request_path += count;
	}
	return sum;
}

void add_trust(Page &page, const analysis::AttachedResult &result)
{
	const Trust trust = trust_of(result);
	constexpr const char *kWords[] = {"known by its bytes' position", "by counting bytes",
									  "contended: calls overlapped, not in figures",
									  "unmatched: a record or taker is missing, not in figures"};
	std::string words;
	for (size_t i = 0; i < trust.by_identity.size(); ++i)
		if (trust.by_identity[i] != 0 || i == 0)
			words += fmt::format("{}{} {}", words.empty() ? "" : "; ", stats::count(trust.by_identity[i]), kWords[i]);
	page.paragraph("identity", page.spelled(fmt::format("of {} messages {}", stats::count(trust.messages), words)));
	std::string left = fmt::format("{} on their way at the end", stats::count(result.on_their_way));
	if (result.too_old != 0)
		left += fmt::format("; {} not taken within 10 s", stats::count(result.too_old));
	if (result.without_giver != 0)
		left += fmt::format("; {} takings without a known giver", stats::count(result.without_giver));
	if (result.without_link != 0)
		left += fmt::format("; {} on connections of which no taker is known", stats::count(result.without_link));
	if (trust.without_path != 0 || trust.without_request_path != 0)
		left += fmt::format("; without a breakdown {} messages and {} requests", stats::count(trust.without_path),
							stats::count(trust.without_request_path));
	if (trust.ambiguous != 0 || trust.too_old != 0)
		left += fmt::format("; requests not paired: {} ambiguous, {} unanswered", stats::count(trust.ambiguous),
							stats::count(trust.too_old));
	page.paragraph("open", page.spelled(left));
	page.paragraph("records",
				   page.spelled(fmt::format("{} in {} windows, {} lost", stats::count(result.records),
											stats::count(result.windows), stats::count(result.lost_records))));
	if (result.tail && result.tail->detached && !result.tail->detached->unfollowed.empty()) {
		std::string seen;
		for (const model::UnfollowedCalls &one : result.tail->detached->unfollowed)
			seen += fmt::format("{}{} {} ({} calls)", seen.empty() ? "" : ", ", one.process_name, one.what,
								stats::count(one.calls));
		page.paragraph("elsewhere", page.spelled("seen, not followed: " + seen));
	}
}

void add_legend(Page &page)
{
	std::string legend;
	for (const LayerKind kind :
		 {LayerKind::YourCode, LayerKind::Kernel, LayerKind::Waking, LayerKind::Queued, LayerKind::Disturbed})
		legend += fmt::format("{} {}  ", kind_symbol(kind, 1, page.look()),
							  kind == LayerKind::YourCode    ? "own code"
							  : kind == LayerKind::Queued    ? "waiting for a CPU or queued"
							  : kind == LayerKind::Disturbed ? "blocked or disturbed"
															 : analysis::style_of(kind).word);
	page.line();
	page.line(page.spelled(legend));
}

} // namespace

std::string words_of(const analysis::Place &place)
{
	switch (place.part) {
	case Part::Lock:
		return "blocked for a lock";
	case Part::Storage:
		return "blocked for storage";
	case Part::Fault:
		return "blocked in a page fault";
	case Part::Timer:
		return "asleep until a timer";
	case Part::Reclaim:
		return "blocked for free memory";
	case Part::Backpressure:
		return "blocked for room";
	case Part::Held:
		return "held back by TCP";
	case Part::IdleExit:
		return "its CPU left idle";
	default:
		break;
	}
	switch (place.layer) {
	case Layer::SenderUser:
	case Layer::ReceiverUser:
	case Layer::RelayUser:
		return "own code";
	case Layer::SenderKernel:
		return "sending";
	case Layer::Network:
		return "loopback or network";
	case Layer::Queue:
		return place.part == Part::None ? "queued" : fmt::format("queued, reader {}", model::name(place.part));
	case Layer::Propagation:
		return "polling";
	case Layer::Wakeup:
		return "waking it";
	case Layer::Runqueue:
		return "waiting for a CPU";
	case Layer::ReceiverKernel:
		return "receiving";
	case Layer::RelayKernel:
		return "system calls";
	case Layer::Preempted:
		return "lost its CPU";
	case Layer::Interrupt:
		return "interrupts";
	case Layer::Blocked:
		return "blocked, woken";
	}
	return "";
}

std::string attached_report(const analysis::AttachedResult &result, const Style &style)
{
	Page page({style.colour, style.unicode}, static_cast<size_t>(std::clamp(style.width, 40, 1000)));
	const double seconds = static_cast<double>(result.end_ns - result.begin_ns) / 1e9;
	std::string targets;
	for (const model::Target &target : result.head.attached->targets)
		targets += fmt::format("{}{} {}", targets.empty() ? "" : ", ", target.name, target.process);
	page.line(page.spelled(
		fmt::format("icepath attach   {} s of {}   {}", stats::amount(seconds), targets, result.head.started_utc)));
	if (result.links.empty())
		page.paragraph("", page.spelled("Nothing was seen that one of these programs gave to another over a stream."));
	else {
		Table heads = table_of_sent(false);
		heads.add({"", "", "", "p50 µs", "p99 µs"}, "  mean, by kind");
		heads.add_to(page);
	}
	size_t shown = 0;
	for (const Link &link : result.links)
		if (style.verbose || shown++ < kMostLinks)
			add_link(page, link, seconds);
	if (!style.verbose && result.links.size() > kMostLinks)
		page.line(page.spelled(fmt::format("{} more pairs: icepath report -v", result.links.size() - kMostLinks)));
	add_legend(page);
	add_trust(page, result);
	for (const std::string &notice : result.tail ? result.tail->notices : std::vector<std::string>{})
		page.paragraph("notice", page.spelled(notice));
	if (!result.tail)
		page.paragraph("notice", page.spelled("the run was cut: connections aren't known by name"));
	return page.take();
}

std::string live_report(const LiveFigures &figures, const Style &style)
{
	const analysis::AttachedResult &recent = figures.recent, &all = figures.all;
	const auto seconds_of = [](const analysis::AttachedResult &of) {
		return static_cast<double>(of.end_ns - of.begin_ns) / 1e9;
	};
	Page page({style.colour, style.unicode}, static_cast<size_t>(std::clamp(style.width, 40, 1000)));
	page.line(page.spelled(fmt::format(
		"icepath attach   the last {:.0f} s of {:.0f} s   Ctrl-C ends it{}", seconds_of(recent), seconds_of(all),
		figures.left_out == 0 ? ""
							  : fmt::format("   {} windows are left out here: this machine is too busy, "
											"and the report at the end has them",
											figures.left_out))));
	Table heads = table_of_sent(true);
	heads.add({"", "", "", "p50 µs", "p99 µs", "p50 of all", "p99 of all"}, "  mean, by kind");
	heads.add_to(page);
	// Of others it is told that a connection is over. They come last.
	const auto busy = static_cast<size_t>(std::ranges::count_if(recent.links, [](const Link &link) {
		return link.to_server.messages + link.to_client.messages != 0 || link.requests.answered != 0;
	}));
	if (busy == 0)
		page.line(page.spelled("Nothing was seen lately that one of these programs gave to another over a stream."));
	for (size_t i = 0; i < std::min(busy, kMostLinks); ++i) {
		const Link &link = recent.links[i];
		const auto same = std::ranges::find_if(all.links, [&](const Link &its) { return its.is_like(link); });
		add_link(page, link, seconds_of(recent), same == all.links.end() ? &link : &*same);
	}
	add_legend(page);
	add_trust(page, all);
	return page.take();
}

} // namespace icepath::text
