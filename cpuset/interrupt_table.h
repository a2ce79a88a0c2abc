// SPDX-License-Identifier: Apache-2.0
#pragma once
// /proc/interrupts: how often each interrupt came to each CPU since boot.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace icepath::cpuset {

struct InterruptRow {
	std::string label, name; // "36", "PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0"; "HYP", "Hypervisor callback …"
	std::vector<uint64_t> counts; // by InterruptTable::cpus; fewer where the row doesn't count by CPU
};

struct InterruptTable {
	std::vector<uint32_t> cpus; // the online ones, in the table's order
	std::vector<InterruptRow> rows;
};

InterruptTable parse_interrupts(std::string_view text);

// `root` is put before the path, for tests. Empty if it can't be read.
InterruptTable read_interrupts(const std::string &root = "");

} // namespace icepath::cpuset
