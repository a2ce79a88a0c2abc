// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/kernel_loss_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "profiler/explain/kernel_losses.h"
#include "profiler/text/wording.h"

namespace icepath::text {

std::string where_lost(const analysis::CellResult &cell)
{
	using model::KernelCounts;
	const analysis::SocketUse &sockets = cell.sockets;
	if (cell.messages.lost == 0 || sockets.blocks.empty())
		return "";
	std::vector<std::string> places;
	const uint64_t full = explain::dropped_at_full_buffers(cell), others = sockets.dropped() - full;
	if (full > 0)
		places.push_back(fmt::format("{} datagrams dropped at full receive buffers of its own sockets{}",
									 stats::count(full),
									 full > cell.messages.lost && cell.cell.parts == 1 ? ", warm-up included" : ""));
	if (others > 0)
		places.push_back(
			fmt::format("{}{} dropped at its own sockets", stats::count(others), full > 0 ? " others" : " packets"));
	// By namespace only: whose they were isn't known.
	for (const auto count :
		 {&KernelCounts::udp_send_buffer_full, &KernelCounts::udp_no_memory, &KernelCounts::udp_no_socket,
		  &KernelCounts::fragments_not_joined, &KernelCounts::loopback_dropped, &KernelCounts::backlog_dropped})
		for (const model::KernelCountField &field : model::kKernelCountFields)
			if (field.count == count && sockets.counts && (*sockets.counts).*count != model::kNotCounted &&
				(*sockets.counts).*count > 0)
				places.push_back(
					fmt::format("{} {}{}", stats::count((*sockets.counts).*count), field.words,
								count == &KernelCounts::backlog_dropped ? "" : ", in its network namespace"));
	if (places.empty())
		return sockets.counts ? ": the kernel counted no drop" : "";
	return fmt::format(": {}{}", fmt::join(places, "; "),
					   cell.cell.parts > 1 ? fmt::format(" (a message is {} datagrams)", cell.cell.parts) : "");
}

std::string slow_beside_text(const analysis::RunResult &, const explain::Finding &finding)
{
	using explain::Fact;
	const bool dropped = finding.id == explain::FindingId::SlowBesideDrops;
	const double others = finding.number(Fact::OtherBlocks), all = finding.number(Fact::Packets);
	const char *what = !dropped                                    ? "sent TCP segments again"
					   : finding.number(Fact::AtFullBuffers) < all ? "dropped packets at its own sockets"
																   : "dropped datagrams at full receive buffers of its "
																	 "own sockets";
	return fmt::format("a message took {} or longer in {} blocks: in {} of these the kernel {} ({} in all){}",
					   time_in(finding, Fact::LowNs), count_in(finding, Fact::Of), count_in(finding), what,
					   count_of(all),
					   others == 0 ? ", as every block does: there is no block to compare with"
								   : fmt::format(", and in {} of {} blocks without",
												 count_in(finding, Fact::OtherBlocksToo), count_of(others)));
}

std::string with_next_text(const analysis::RunResult &, const explain::Finding &finding)
{
	return fmt::format("{} of {} messages came only with the next one, of {} that came after the next one was sent: "
					   "something holds a message until another follows",
					   count_in(finding), count_in(finding, explain::Fact::Of),
					   count_in(finding, explain::Fact::AfterNext));
}

} // namespace icepath::text
