// SPDX-License-Identifier: Apache-2.0
#pragma once
// What was changed of the machine, on disk before it is: /run/icepath.journal, which only root may read and write, in /run, where nobody
// else may make or take away a file. An empty one says that nothing is changed. A line is a JSON object and its CRC:
//
//   {"format":1,"boot":"…","pid":812,"user":1000,"cpus":"2-3"} 8c2f1a07
//   {"entry":1,"knob":"interrupt","number":24,"old":"0-3","new":"0-1"} 51d09e33
//   {"entry":1,"end":"restored"} 0b6cf2a4
//
// It names no file, but a knob of the list (knobs.h).
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cpuset/cpulist.h"
#include "profiler/channel.h"
#include "profiler/isolation/knobs.h"

namespace icepath::isolation {

inline constexpr const char *kJournalPath = "run/icepath.journal";

// Whose it is.
struct Head {
	std::string boot; // the kernel's name for this time since the machine started
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

enum class End : uint8_t { Restored, Left }; // Left: somebody else has changed it meanwhile

// Locked as long as it lives: one isolation at a time on a machine.
class Journal {
public:
	// Waits a moment for one whose icepath has ended. Throws Failure(MachineCannot): another icepath has it, which it names, or it
	// can't be had, or isn't to be trusted.
	explicit Journal(const Tree &tree);
	Journal(const Journal &) = delete;
	Journal &operator=(const Journal &) = delete;

	// What it said when it was opened, with an entry that was torn by an end in mid-write left out: that change wasn't begun.
	// Empty where it is another boot's, whose changes are gone.
	std::vector<Entry> &entries() { return entries_; }
	// Sentences on lines that can't be what icepath wrote.
	const std::vector<std::string> &damage() const { return damage_; }

	// Throw Failure(MachineCannot) where it can't be written; then nothing may be changed.
	void begin(const Head &head); // of an empty one
	Entry &add(const Place &place, const std::string &old_value, const std::string &new_value);
	void end(Entry &entry, End how);
	void clear(); // nothing is changed any more

private:
	void read(const std::string &boot);
	void take(const std::string &line, size_t number);
	void append(const std::string &json);

	Fd file_;
	std::vector<Entry> entries_;
	std::vector<std::string> damage_;
};

// What this machine's kernel calls the time since it started.
std::string boot_of(const Tree &tree);

// Whether there is one that nobody holds and that says that something is changed.
bool journal_is_left(const Tree &tree);

} // namespace icepath::isolation
