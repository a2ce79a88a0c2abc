// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/kernel_counts.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

namespace icepath::worker {
namespace {

using model::KernelCounts;
using model::kNotCounted;

std::vector<std::string_view> words_of(std::string_view line)
{
	std::vector<std::string_view> words;
	for (size_t begin = line.find_first_not_of(" \t"); begin != std::string_view::npos;) {
		const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
		words.push_back(line.substr(begin, end - begin));
		begin = line.find_first_not_of(" \t", end);
	}
	return words;
}

template <class Take> void each_line(std::string_view text, const Take &take)
{
	while (!text.empty()) {
		const size_t end = std::min(text.find('\n'), text.size());
		take(text.substr(0, end));
		text.remove_prefix(std::min(end + 1, text.size()));
	}
}

uint64_t number_of(std::string_view word, int base = 10)
{
	uint64_t number = 0;
	const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, base);
	return error == std::errc() && end == word.data() + word.size() ? number : kNotCounted;
}

std::string text_of(const std::string &path)
{
	std::ostringstream text;
	text << std::ifstream(path).rdbuf();
	return text.str();
}

uint64_t sum_of(uint64_t one, uint64_t other)
{
	return one == kNotCounted ? other : other == kNotCounted ? one : one + other;
}

} // namespace

uint64_t count_in_pairs(std::string_view text, std::string_view line, std::string_view name)
{
	std::vector<std::string_view> names;
	uint64_t count = kNotCounted;
	each_line(text, [&](std::string_view one) {
		if (!one.starts_with(line) || !one.substr(line.size()).starts_with(":"))
			return;
		const std::vector<std::string_view> words = words_of(one);
		for (size_t i = 0; i < std::min(names.size(), words.size()); i++)
			if (names[i] == name)
				count = number_of(words[i]);
		names = names.empty() ? words : std::vector<std::string_view>();
	});
	return count;
}

uint64_t count_in_lines(std::string_view text, std::string_view name)
{
	uint64_t count = kNotCounted;
	each_line(text, [&](std::string_view one) {
		if (const auto words = words_of(one); words.size() == 2 && words[0] == name)
			count = number_of(words[1]);
	});
	return count;
}

uint64_t dropped_by_device(std::string_view text, std::string_view device)
{
	constexpr size_t kReceivedDropped = 4, kSentDropped = 12, kNumbers = 16; // dev_seq_printf_stats()
	uint64_t count = kNotCounted;
	each_line(text, [&](std::string_view one) {
		const size_t colon = one.find(':');
		if (colon == std::string_view::npos || words_of(one.substr(0, colon)) != std::vector{device})
			return;
		if (const auto words = words_of(one.substr(colon + 1)); words.size() >= kNumbers)
			count = sum_of(number_of(words[kReceivedDropped - 1]), number_of(words[kSentDropped - 1]));
	});
	return count;
}

uint64_t dropped_at_backlogs(std::string_view text)
{
	uint64_t count = kNotCounted;
	each_line(text, [&](std::string_view one) {
		if (const auto words = words_of(one); words.size() > 1) // softnet_seq_show()
			count = sum_of(count, number_of(words[1], 16));
	});
	return count;
}

KernelCounts kernel_counts(const std::string &folder)
{
	const std::string snmp = text_of(folder + "/snmp"), netstat = text_of(folder + "/netstat"),
					  snmp6 = text_of(folder + "/snmp6");
	const auto udp = [&](const char *name, const std::string &of_ipv6) {
		return sum_of(count_in_pairs(snmp, "Udp", name), count_in_lines(snmp6, "Udp6" + of_ipv6));
	};
	const auto tcp = [&](const char *name) { return count_in_pairs(netstat, "TcpExt", name); };
	KernelCounts counts;
	counts.udp_receive_buffer_full = udp("RcvbufErrors", "RcvbufErrors");
	counts.udp_send_buffer_full = udp("SndbufErrors", "SndbufErrors");
	counts.udp_no_memory = udp("MemErrors", "MemErrors"); // Linux 5.12
	counts.udp_no_socket = udp("NoPorts", "NoPorts");
	counts.fragments_not_joined =
		sum_of(count_in_pairs(snmp, "Ip", "ReasmFails"), count_in_lines(snmp6, "Ip6ReasmFails"));
	counts.tcp_sent_again = count_in_pairs(snmp, "Tcp", "RetransSegs");
	counts.tcp_timeouts = tcp("TCPTimeouts");
	counts.tcp_backlog_dropped = tcp("TCPBacklogDrop");
	counts.tcp_receive_queue_dropped = sum_of(tcp("TCPRcvQDrop"), tcp("RcvPruned"));
	counts.tcp_zero_windows = tcp("TCPToZeroWindowAdv");
	counts.loopback_dropped = dropped_by_device(text_of(folder + "/dev"), "lo");
	counts.backlog_dropped = dropped_at_backlogs(text_of(folder + "/softnet_stat"));
	return counts;
}

} // namespace icepath::worker
