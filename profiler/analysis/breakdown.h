// SPDX-License-Identifier: Apache-2.0
#pragma once
// The paths of many messages added up: where their latency went.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "profiler/analysis/origin.h"
#include "profiler/path/observations.h"
#include "profiler/path/path.h"
#include "profiler/stats/block_difference.h"
#include "profiler/stats/block_ratio.h"

namespace icepath::analysis {

// Rows tile: over the rows of a breakdown, `total_ns` adds up to the latency of its deliveries, and `mean_ns` to their
// mean latency. A layer with parts has a row for each, and one with Part::None for the rest.
struct LayerRow {
	model::Layer layer = model::Layer::SenderUser;
	model::Part part = model::Part::None;
	uint16_t hop = 0;
	path::Role role = path::Role::Sender; // aggregates go by role, because hops can vary from message to message
	std::string thread;
	uint64_t total_ns = 0;
	std::array<uint64_t, path::kProvenanceNames.size()> provenance_ns{}; // by path::Provenance; adds up to total_ns
	double mean_ns = 0; // over all deliveries, those without the row included
	std::vector<double> by_block{}; // nanoseconds in each block

	void add(const LayerRow &more); // `more`: of the same breakdown
};

// Each message counts the same, as in percentiles and all other figures of a cell. So what makes messages slow or fills
// a CPU's log counts for less in a cell whose blocks end by time or by such a log: docs/method.md, "What counts how
// much".
class Breakdown {
public:
	// `path` is complete.
	void add(const path::Path &path, const path::Observations &seen);
	// Ends a block; later paths belong to the next one. `complete`: its complete deliveries, those that weren't added
	// here included; a block that has none is no evidence. Paths added after the last end_block() are a block of their
	// own. Blocks of one `cluster` are one piece of evidence; its number rises with time.
	void end_block(uint64_t complete, uint32_t cluster);

	uint64_t deliveries() const { return deliveries_; }
	uint64_t total_ns() const { return total_ns_; } // recv - send, over all deliveries
	double mean_ns() const; // of recv - send
	// Sum over the deliveries of |sum of the segments - (recv - send)|. If it isn't 0, the walk is broken.
	uint64_t sum_error_ns() const { return sum_error_ns_; }
	size_t blocks_with_deliveries() const;
	double most_of_one_block() const; // share of the deliveries that the block with most of them has
	uint64_t passed(uint16_t relay) const; // deliveries that passed this hop as a relay
	size_t last_block() const { return blocks_.size() - 1; } // index of the block that the last path belongs to
	std::vector<LayerRow> rows() const; // those with time, ordered by model::Layer, then hop, part, thread
	std::map<model::Layer, LayerRow> by_layer() const; // the rows of each layer together
	// For LayerRow::by_block: the mean over the blocks, and the blocks themselves.
	stats::RedrawnMeans means() const;
	stats::WeightedBlocks blocks() const;

private:
	struct Sum {
		std::array<uint64_t, path::kProvenanceNames.size()> ns{};
		std::vector<std::pair<size_t, uint64_t>> by_block; // of the blocks that have any
	};
	// A row's place without its thread; the rows at a place are found by their threads' names. Adding segments is most
	// of a report's work, so this compares few names.
	struct Place {
		model::Layer layer;
		model::Part part;
		path::Role role;
		uint16_t hop;
		friend bool operator==(const Place &, const Place &) = default;
	};
	struct HashOfPlace {
		size_t operator()(const Place &place) const;
	};
	using Rows = std::map<std::string, Sum, std::less<>>;
	struct Block {
		uint64_t deliveries = 0;
		uint32_t cluster = 0;
	};
	// The row of a path's segment at `index`. Most messages of a block take the same way, so it is mostly that of the
	// message before.
	struct KnownRow {
		Place place;
		uint32_t thread;
		Sum *sum; // into sums_
	};
	struct KnownRows {
		const Breakdown *of = nullptr; // a copy has rows of its own
		std::vector<KnownRow> by_index = {}; // within a block: another one's threads may have the same numbers
	};
	Sum &row_of(const Place &place, uint32_t thread, size_t index, const path::Observations &seen);
	Block &present_block();
	std::vector<double> spread_out(const Sum &sum) const;

	std::unordered_map<Place, Rows, HashOfPlace> sums_;
	KnownRows known_;
	std::map<uint16_t, uint64_t> passed_; // by hop
	std::vector<Block> blocks_;
	bool in_block_ = false; // the last of blocks_ is still open
	uint64_t deliveries_ = 0, total_ns_ = 0, sum_error_ns_ = 0;
};

struct CulpritRow {
	path::Culprit::Kind kind = path::Culprit::Kind::Task; // None: the row of too many names
	Origin origin = Origin::Unknown;
	// "kworker/1:2", "interrupt 24", "NET_RX softirq", "idle CPU", "receiver's own timer". Tasks whose names differ by
	// numbers only are one: "worker-*".
	std::string name;
	std::string kind_of_name; // the name without numbers
	// Of an interrupt, as of path::Culprit. `vector`: of the first one, where names differ by numbers.
	uint8_t interrupt = 0;
	uint32_t vector = 0;
	Owner owner = Owner::None; // of a thread of the cell
	model::Layer layer = model::Layer::Preempted;
	model::Part part = model::Part::None;
	// It took a CPU from a thread of the cell that was to wake the message's one: see path::Path.
	bool of_late_waker = false;
	uint64_t total_ns = 0;
	uint64_t segments = 0; // in which it has a share
	uint64_t messages = 0; // that have such a segment
	// Of each block that has any, where Culprits was told blocks.
	struct OfBlock {
		size_t block = 0;
		uint64_t ns = 0, messages = 0;
	};
	std::vector<OfBlock> by_block = {};
	// Whether it ended a sleep, and took no CPU from anybody.
	bool ended_sleep() const
	{
		return !of_late_waker && layer != model::Layer::Interrupt && !model::waits_for_cpu(layer, part);
	}
};

// What took time from messages on their way, by name: short-lived tasks of one name are one culprit. The rows add up to
// three sums: time spent waiting for a CPU, booked on what had it; time interrupted; and time in which threads slept
// that had to carry the message on, booked on their wakers, or on what had the CPU that their wakers waited for.
class Culprits {
public:
	// What the rows add up to.
	struct Sums {
		uint64_t waiting_ns = 0, interrupted_ns = 0, asleep_ns = 0;
		uint64_t total_ns() const { return waiting_ns + interrupted_ns + asleep_ns; }
		Sums &operator+=(const Sums &other);
	};
	// `block`: as Breakdown::last_block() of the same messages; nothing: not kept by block.
	void add(const path::Path &path, const path::Observations &seen, std::optional<size_t> block = {});
	std::vector<CulpritRow> top(size_t count) const; // by time
	const Sums &sums() const { return sums_; }

private:
	using Key = std::tuple<path::Culprit::Kind, Origin, model::Layer, model::Part, bool>;
	void book(const path::Culprit &who, const path::Segment &segment, uint64_t ns, const path::Observations &seen,
			  bool of_late_waker);

	struct OfKey {
		std::string first_name;
		path::Culprit first;
		Owner owner = Owner::None; // of the first
		bool has_others = false; // names that differ by numbers
		uint64_t ns = 0, segments = 0, messages = 0;
		uint64_t last_path = 0; // that was counted
		std::vector<CulpritRow::OfBlock> by_block;
	};
	OfKey &row_of(const Key &key, std::string_view name);
	std::map<Key, std::map<std::string, OfKey, std::less<>>> by_key_; // then by the name without numbers
	size_t names_ = 0; // of all keys
	Sums sums_;
	uint64_t paths_ = 0;
	std::optional<size_t> block_; // of the present path
};

path::Role role_of(const path::Path &path, const path::Segment &segment);
std::string thread_name(const path::Observations &seen, uint32_t tid);

// The threads that messages passed from sender to receiver, for cells of libraries that hand them on by threads of
// their own or by a daemon.
//
// One step of the way, which includes reaching its threads.
struct Hop {
	path::Role role = path::Role::Sender;
	std::string threads; // names, those with most time first: messages may pass different ones. See kRareHops
	double mean_ns = 0; // over all deliveries: 0 for those that didn't pass it
};

// Stands for all hops that only few deliveries passed: the last ones, before the receiver, of the longest ways.
inline constexpr const char *kRareHops = "…";

// From the sender to the receiver, whatever hop that was. Empty if no message passed another thread.
std::vector<Hop> hops(const Breakdown &layers);

} // namespace icepath::analysis
