// SPDX-License-Identifier: Apache-2.0
#pragma once
// Paths as a trace for Perfetto (ui.perfetto.dev), written packet by packet. Field numbers are those of Perfetto's
// protos/perfetto/trace (trace_packet.proto, track_event/*.proto, clock_snapshot.proto).
//
// Each cell is a track with tracks below it:
//
//   blocks        a slice for each block with probes: its round and what is missing in it
//   lost          a counter of messages that were sent and never came, and one of incomplete paths
//   messages N    a slice for each message, from send to recv; in it one for each segment, which tile it. Messages that
//                 overlap in time are on tracks of their own. A message without a path is one slice, with the reason
//   thread NAME   what this thread did for messages, in its own time: its code, its system calls, and what kept it from
//                 running. NAME #2 is another thread of that name. An arrow leads from the sender's first slice of a
//                 message to the receiver's last
//
// Times are in ns of CLOCK_MONOTONIC, and the wall clock is told once for each block.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "profiler/exports/written_file.h"
#include "profiler/model/run.h"
#include "profiler/resolve/resolve.h"

namespace icepath::exports {

// Memory grows with a block and with the number of tracks, not with the run.
class PerfettoTrace : public resolve::Visitor {
public:
	PerfettoTrace(const std::shared_ptr<Folder> &folder, const model::Head &head);
	void visit(const resolve::ResolvedBlock &resolved) override;
	std::string done(); // returns the file's path

private:
	struct Event;
	void add_clocks(const model::ClockPair &clocks);
	void add_block(const resolve::ResolvedBlock &resolved, const model::Cell &cell);
	void add_messages(const resolve::ResolvedBlock &resolved, const model::Cell &cell);
	void add_threads(const resolve::ResolvedBlock &resolved);
	void add(const Event &event);
	void add_packet(const std::string &packet);
	uint64_t track(uint32_t cell, const std::string &name, bool is_counter = false);
	uint64_t name_id(const std::string &name, std::string &interned);

	WrittenFile file_;
	const model::Head &head_;
	std::map<uint32_t, uint64_t> cells_; // their tracks
	std::map<std::pair<uint32_t, std::string>, uint64_t> tracks_; // by cell and name
	std::map<std::string, uint64_t> names_; // of slices: each is written once
	uint64_t last_track_ = 0, last_flow_ = 0;
};

} // namespace icepath::exports
