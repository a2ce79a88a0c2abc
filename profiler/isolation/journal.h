// SPDX-License-Identifier: Apache-2.0
#pragma once
// The changes of the machine, each on disk before it is made: /run/icepath.journal. Only root may read or write it, and
// make or remove files in /run. An empty journal says that nothing is changed. A line is a JSON object and its CRC:
//
//   {"format":1,"boot":"…","pid":812,"user":1000,"cpus":"2-3"} 8c2f1a07
//   {"entry":1,"knob":"interrupt","number":24,"old":"0-3","new":"0-1"} 51d09e33
//   {"entry":1,"end":"restored"} 0b6cf2a4
//
// It names no file, but a knob of the compiled list (knobs.h).
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cpuset/cpulist.h"
#include "profiler/channel.h"
#include "profiler/isolation/knobs.h"

namespace icepath::isolation {

inline constexpr const char *kJournalPath = "run/icepath.journal";

// The journal's first line: whose isolation it is.
struct Head {
	std::string boot; // boot_id: the kernel's name for the time since the machine started
	pid_t pid = 0; // of icepath
	uid_t user = 0;
	cpuset::CpuList cpus;
};

struct Entry {
	uint32_t number = 0; // from 1
	Place place;
	std::string old_value, new_value;
	bool has_ended = false;
};

enum class End : uint8_t { Restored, Left }; // Left: somebody else changed it meanwhile

// Locked for its lifetime: one isolation at a time on a machine.
class Journal {
public:
	// Waits for a journal whose icepath has ended, and ends a keeper of that which is stopped or frozen. Throws
	// Failure(MachineCannot), also if another icepath's keeper holds it, which the sentence names, or if others than
	// root may have written it.
	explicit Journal(const Tree &tree);
	Journal(const Journal &) = delete;
	Journal &operator=(const Journal &) = delete;

	// Its entries when it was opened. A torn last line is left out: its change wasn't begun. Empty if another boot
	// wrote it, since a boot resets everything.
	std::vector<Entry> &entries() { return entries_; }
	// Sentences about lines that icepath can't have written.
	const std::vector<std::string> &damage() const { return damage_; }

	// Throw Failure(MachineCannot) if it can't be written. Then nothing may be changed.
	void begin(const Head &head); // of an empty one
	Entry &add(const Place &place, const std::string &old_value, const std::string &new_value);
	void end(Entry &entry, End how);
	void clear(); // everything is restored

private:
	void read(const std::string &boot);
	void take(const std::string &line, size_t number);
	void append(const std::string &json);

	Fd file_;
	std::vector<Entry> entries_;
	std::vector<std::string> damage_;
};

// The boot_id of this machine.
std::string boot_of(const Tree &tree);

// Whether there is a journal with changes; and whether no process holds it.
bool journal_has_changes(const Tree &tree);
bool journal_is_left(const Tree &tree);

} // namespace icepath::isolation
