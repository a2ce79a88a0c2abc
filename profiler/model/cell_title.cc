// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/cell_title.h"

#include <fmt/format.h>

namespace icepath::model {

std::string payload_text(uint64_t bytes)
{
	if (bytes >= 1u << 20 && bytes % (1u << 20) == 0)
		return fmt::format("{} MiB", bytes >> 20);
	if (bytes >= 1024 && bytes % 1024 == 0)
		return fmt::format("{} KiB", bytes >> 10);
	return fmt::format("{} B", bytes);
}

std::string levels_text(const CellKey &key)
{
	std::string text;
	for (const Factor &factor : kFactors)
		if (const uint64_t level = key.levels.*factor.level;
			level != neutral(factor) || (factor.varies && factor.varies(key.pattern)))
			text += fmt::format(fmt::runtime(factor.title), static_cast<double>(level) / factor.title_unit);
	if (key.qos.any())
		text += " " + model::text(key.qos);
	return text;
}

std::string variant(const CellKey &key)
{
	std::string text = fmt::format("{} {} {}", payload_text(key.payload_bytes), name(key.pattern), name(key.wait));
	if (key.place != Between::Processes)
		text += fmt::format(" {}", name(key.place));
	if (key.limits)
		text +=
			fmt::format(" {:g}%/{:g}ms", key.limits->max_loss * 100, static_cast<double>(key.limits->max_p99_ns) / 1e6);
	return text + levels_text(key) + (key.arm.empty() ? "" : " " + key.arm);
}

std::string title(const CellKey &key) { return key.target + " " + variant(key); }

std::string variant(const Cell &cell) { return variant(key_of(cell)); }
std::string title(const Cell &cell) { return title(key_of(cell)); }

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
