// SPDX-License-Identifier: Apache-2.0
#pragma once
// The figures of a run of `icepath attach`: who talks to whom, how long messages and requests take, and where that time
// goes. Memory grows with the number of connections that are open, not with that of messages.
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profiler/model/attached.h"
#include "profiler/model/run.h"
#include "profiler/model/window.h"
#include "profiler/path/observations.h"
#include "profiler/path/path.h"
#include "profiler/stats/hdr_histogram.h"

namespace icepath::resolve {
class Stream;
class StreamVisitor;
} // namespace icepath::resolve

namespace icepath::analysis {

// Where a piece of time was spent.
struct Place {
	std::string program; // whose thread it was
	model::Layer layer = model::Layer::SenderUser;
	model::Part part = model::Part::None;
	std::string by; // who had the CPU, or who woke it; empty: not told
	friend auto operator<=>(const Place &, const Place &) = default;
};

struct PlaceTime {
	Place place;
	double mean_ns = 0; // over all that have a path
	double slow_ns = 0; // over the slowest hundredth of these
};

// Latencies with their places. The slowest are found by classes of latencies, each an eighth of an octave.
class Latencies {
public:
	void add(uint64_t ns) { histogram_.add(ns); }
	void add(const Latencies &more);
	// Of one that was added, with a path.
	void add_places(uint64_t ns, const std::map<Place, uint64_t> &places);

	uint64_t count() const { return histogram_.total(); }
	uint64_t with_path() const { return with_path_; }
	// Nothing if there are too few for it.
	std::optional<uint64_t> percentile_ns(double share) const;
	// The least and the largest latency that the histogram doesn't tell from the percentile; there is one at least.
	std::pair<uint64_t, uint64_t> around(double share) const;
	uint64_t longest_ns() const { return histogram_.max(); }
	double mean_ns() const; // of those with a path
	double slow_ns() const; // of the slowest hundredth of these, or of the few that share its class
	uint64_t slow_count() const;
	std::vector<PlaceTime> places() const; // by what they add to the slowest, then to all

private:
	struct Class {
		uint64_t count = 0, ns = 0;
		std::map<Place, uint64_t> places;
	};
	uint32_t first_slow() const; // class

	stats::HdrHistogram histogram_;
	uint64_t with_path_ = 0;
	std::map<uint32_t, Class> classes_;
};

struct Direction {
	uint64_t messages = 0, bytes = 0;
	std::array<uint64_t, 4> by_identity{}; // decode::Identity
	std::map<path::Reason, uint64_t> without_path; // of those with a receiver
	Latencies latencies;
	void add(const Direction &more);
};

struct Requests {
	uint64_t answered = 0, ambiguous = 0, too_old = 0;
	std::map<path::Reason, uint64_t> without_path;
	// The programs of each tree: "pgbench → postgres", by the number of requests.
	std::map<std::string, uint64_t> chains;
	Latencies latencies;
	void add(const Requests &more);
};

inline constexpr size_t kMostProcesses = 4096;

// All connections between the threads of two programs over one kind of stream.
struct Link {
	std::string client, server; // programs; of a pipe who writes and who reads
	model::StreamKind kind = model::StreamKind::UnixStream;
	std::set<uint32_t> clients, servers; // processes: the first kMostProcesses of each that were seen
	std::set<uint64_t> connections; // the objects of their serving ends; in a sum, of those that aren't over
	std::set<uint64_t> over; // of a part: connections, of this one or of earlier ones, that are over
	uint64_t earlier_connections = 0; // of a sum: that are over
	uint64_t connection_count() const { return connections.size() + earlier_connections; }
	Direction to_server, to_client;
	Requests requests;
	void add(const Link &more); // of the same programs and kind
	bool is_like(const Link &other) const
	{
		return client == other.client && server == other.server && kind == other.kind;
	}
};

struct AttachedResult {
	model::Head head;
	std::optional<model::Tail> tail; // nothing: the run is partial
	uint64_t begin_ns = 0, end_ns = 0;
	uint64_t windows = 0, records = 0, lost_records = 0;
	uint64_t too_old = 0, on_their_way = 0, without_giver = 0; // messages and takes: resolve::LeftOpen
	uint64_t without_link = 0; // messages of connections of which no taker is known
	std::vector<Link> links; // by the number of messages
	void add(const AttachedResult &more); // of later windows of the same run
};

// The program of a thread: its process's first thread names it, since threads may have names of their own.
std::string program_of(uint32_t tid, const path::Observations &seen);
// "postgres", "timer interrupt"
std::string culprit_of(const path::Culprit &culprit, const path::Observations &seen);

// A message with a receiver, or a request, of a link.
struct Exchange {
	bool is_request = false, to_server = true;
	uint32_t sender = 0; // tid
	uint64_t send_ns = 0, recv_ns = 0;
	uint64_t ns() const { return recv_ns - send_ns; }
};

class LinkVisitor {
public:
	virtual ~LinkVisitor() = default;
	// All are valid during the call only.
	virtual void add(const Link &link, const Exchange &what, const path::Path &path,
					 const path::Observations &seen) = 0;
	// What was decided in the window has been added.
	virtual void end_window() = 0;
};

// The figures of windows that come one after another: those of parts add up to those of all.
class AttachedFigures {
public:
	// Those who also see every message and request may be nullptr.
	explicit AttachedFigures(resolve::StreamVisitor *also = nullptr, LinkVisitor *of_links = nullptr);
	~AttachedFigures();
	AttachedFigures(const AttachedFigures &) = delete;
	AttachedFigures &operator=(const AttachedFigures &) = delete;

	// As resolve::Stream.
	void know(const std::vector<model::Connection> &connections);
	void add(const model::Window &window);
	void finish();
	// What came since it was last called, without head and tail.
	AttachedResult take();

private:
	class Sums;
	std::unique_ptr<Sums> sums_;
	std::unique_ptr<resolve::Stream> stream_;
	LinkVisitor *of_links_;
	AttachedResult part_; // without links
	AttachedResult told_; // counts of all parts that were taken
	bool in_window_ = false;
};

// Of a run directory whose head has `attached`. What also sees every message and request may be nullptr.
AttachedResult analyse_attached(const std::string &run, resolve::StreamVisitor *also = nullptr,
								LinkVisitor *of_links = nullptr);

const char *word_of(model::StreamKind kind); // "unix-stream"
const char *arrow_of(model::StreamKind kind); // "↔", of a pipe "→"

} // namespace icepath::analysis
