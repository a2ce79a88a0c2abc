// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/cell_title.h"

#include <fmt/format.h>

#include <map>

namespace icepath::model {

std::string payload_text(uint64_t bytes)
{
	if (bytes >= 1u << 20 && bytes % (1u << 20) == 0)
		return fmt::format("{} MiB", bytes >> 20);
	if (bytes >= 1024 && bytes % 1024 == 0)
		return fmt::format("{} KiB", bytes >> 10);
	return fmt::format("{} B", bytes);
}

std::string levels_text(const Cell &cell)
{
	std::string text;
	for (const Factor &factor : kFactors)
		if (const uint64_t level = cell.levels.*factor.level;
			level != neutral(factor) || (factor.varies && factor.varies(cell.pattern)))
			text += fmt::format(fmt::runtime(factor.title), static_cast<double>(level) / factor.title_unit);
	if (cell.qos.any())
		text += " " + model::text(cell.qos);
	return text;
}

std::string variant(const Cell &cell)
{
	std::string text = fmt::format("{} {} {}", payload_text(cell.payload_bytes), name(cell.pattern), name(cell.wait));
	if (between(cell) != Between::Processes)
		text += fmt::format(" {}", name(between(cell)));
	if (cell.limits)
		text += fmt::format(" {:g}%/{:g}ms", cell.limits->max_loss * 100,
							static_cast<double>(cell.limits->max_p99_ns) / 1e6);
	return text + levels_text(cell);
}

std::string title(const Cell &cell) { return cell.target + " " + variant(cell); }

std::string key(const Cell &cell)
{
	std::string text = fmt::format("{} {} {} {} {}B {}", cell.target, name(cell.pattern), name(cell.wait),
								   name(between(cell)), cell.payload_bytes, name(cell.idle_states));
	if (cell.rate_hz)
		text += fmt::format(" rate_hz={}", *cell.rate_hz);
	if (cell.limits)
		text += fmt::format(" max_loss={} max_p99_ns={}", cell.limits->max_loss, cell.limits->max_p99_ns);
	for (const Factor &factor : kFactors)
		if (const uint64_t level = cell.levels.*factor.level; level != neutral(factor))
			text += fmt::format(" {}={}", factor.key, level);
	if (cell.qos.any())
		text += fmt::format(" qos=({})", model::text(cell.qos));
	return text;
}

std::vector<std::string> keys(const std::vector<Cell> &cells)
{
	std::map<std::string, size_t> seen;
	std::vector<std::string> all;
	for (const Cell &cell : cells) {
		const std::string one = key(cell);
		const size_t number = ++seen[one];
		all.push_back(number == 1 ? one : fmt::format("{} #{}", one, number));
	}
	return all;
}

std::string side_name(const Cell &cell, size_t side)
{
	if (between(cell) == Between::OneThread)
		return "both ends";
	if (cell.pattern == Pattern::ReqRep)
		return side == 0 ? "client" : "server";
	if (is_answered(cell.pattern))
		return side == 0 ? "initiator" : "responder";
	if (begins(cell, side))
		return senders_of(cell) == 1 ? "sender" : fmt::format("sender {}", side + 1);
	return receivers_of(cell) == 1 ? "receiver" : fmt::format("receiver {}", side);
}

} // namespace icepath::model
