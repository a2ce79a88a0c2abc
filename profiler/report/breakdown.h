// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the latency of many messages went: their paths added up.
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/path/observations.h"
#include "profiler/path/path.h"

namespace icepath::report {

// Where on the way a hop is. Hops can vary from message to message, so aggregates go by role.
enum class Role : uint8_t { Sender, Relay, Receiver };
inline constexpr std::array<std::string_view, 3> kRoleNames = {"sender", "relay", "receiver"};

// Rows tile: the sum of `total_ns` over the rows of a breakdown is the latency of its deliveries. A layer with parts has
// one row for each and one, Part::None, for the rest.
struct LayerRow {
	path::Layer layer = path::Layer::SenderUser;
	path::Part part = path::Part::None;
	uint16_t hop = 0;
	Role role = Role::Sender;
	std::string thread;
	uint64_t total_ns = 0;
	std::array<uint64_t, path::kProvenanceNames.size()> provenance_ns{}; // by path::Provenance; sums to total_ns
};

class Breakdown {
public:
	// `path` is complete.
	void add(const path::Path &path, const path::Observations &seen);

	uint64_t deliveries() const { return deliveries_; }
	uint64_t total_ns() const { return total_ns_; } // recv - send, over all deliveries
	// Sum over the deliveries of |sum of the segments - (recv - send)|: zero, or the walk is broken.
	uint64_t sum_error_ns() const { return sum_error_ns_; }
	uint64_t passed(uint16_t relay) const; // how many deliveries came by that hop, which isn't their receiver
	std::vector<LayerRow> rows() const; // those with time, in the order of path::Layer, then hop, part, thread

private:
	using Key = std::tuple<path::Layer, uint16_t, Role, std::string, path::Part>;
	std::map<Key, std::array<uint64_t, path::kProvenanceNames.size()>> sums_;
	std::map<uint16_t, uint64_t> passed_; // by hop
	uint64_t deliveries_ = 0, total_ns_ = 0, sum_error_ns_ = 0;
};

struct CulpritRow {
	bool interrupt = false; // else a task
	std::string name; // "kworker/1:2", "interrupt 24", "NET_RX softirq"
	path::Layer layer = path::Layer::Preempted;
	path::Part part = path::Part::None;
	uint64_t total_ns = 0;
	uint64_t segments = 0;
};

// Who took time from the messages on their way, by name: short-lived tasks of one name are one culprit.
class Culprits {
public:
	void add(const path::Path &path, const path::Observations &seen);
	std::vector<CulpritRow> top(size_t count) const; // by time

private:
	using Key = std::tuple<std::string, bool, path::Layer, path::Part>;
	std::map<Key, std::pair<uint64_t, uint64_t>> sums_;
};

std::string culprit_name(const path::Culprit &culprit, const std::map<uint32_t, std::string> &task_names);
Role role_of(const path::Path &path, const path::Segment &segment);

} // namespace icepath::report
