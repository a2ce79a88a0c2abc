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

std::string variant(const Cell &cell)
{
	std::string text = fmt::format("{} {} {}", payload_text(cell.payload_bytes), name(cell.pattern), name(cell.wait));
	if (between(cell) != Between::Processes)
		text += fmt::format(" {}", name(between(cell)));
	if (cell.burst)
		text += fmt::format(" {}/{:g}ms", cell.burst->demand, static_cast<double>(cell.burst->recovery_ns) / 1e6);
	if (cell.limits)
		text += fmt::format(" {:g}%/{:g}ms", cell.limits->max_loss * 100,
							static_cast<double>(cell.limits->max_p99_ns) / 1e6);
	if (cell.pattern == Pattern::FanOut)
		text += fmt::format(" to {}", receivers_of(cell));
	if (cell.pattern == Pattern::FanIn)
		text += fmt::format(" from {}", senders_of(cell));
	if (cell.pattern == Pattern::ReqRep)
		text += fmt::format(" 1:{}", cell.responses);
	if (cell.qos.any())
		text += " " + model::text(cell.qos);
	if (cell.idle_channels > 0)
		text += fmt::format(" {} idle", cell.idle_channels);
	for (const auto &[ns, side] :
		 {std::pair{cell.injection.sender_user_ns, "sender"}, {cell.injection.receiver_busy_ns, "receiver"}})
		if (ns > 0)
			text += fmt::format(" +{} µs {}", static_cast<double>(ns) / 1000, side);
	return text;
}

std::string title(const Cell &cell) { return cell.target + " " + variant(cell); }

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
