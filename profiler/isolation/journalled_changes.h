// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes of the machine that will be undone: by the process that made them, or from the journal by a later one.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpuset/step.h"
#include "profiler/isolation/journal.h"
#include "profiler/isolation/knobs.h"

namespace icepath::isolation {

// The outcome of one change: Done, AlreadySo or NotPossible; or Left, if the change is possible but none is to be made.
struct Outcome {
	cpuset::StepState state = cpuset::StepState::NotPossible;
	std::string why; // of NotPossible
};

// The wanted value of a knob, by its present one.
using Wish = std::function<std::string(const std::string &old_value)>;

class Changes {
public:
	// Makes no changes, but finds out which are possible.
	explicit Changes(const Tree &tree) : tree_(tree) {}
	// Undoes the changes of killed processes, then begins a journal of its own. Throws Failure(MachineCannot) if one
	// can't be undone, or as Journal does.
	Changes(const Tree &tree, const Head &head);
	~Changes(); // put_back()
	Changes(const Changes &) = delete;
	Changes &operator=(const Changes &) = delete;

	Outcome make(const Place &place, const Wish &wish);
	// Undoes the last one.
	void take_back();
	OpenKnob *open(const Place &place); // nullptr: it wasn't changed

	// Knobs that somebody else has changed since, each reported once.
	std::vector<std::string> look();
	// Undoes the changes in reverse order. Returns sentences about knobs that somebody else changed meanwhile, which
	// are left, about those that can't be restored, and about huge pages that are still in use. May be called again.
	std::vector<std::string> put_back();

	const Tree &tree() const { return tree_; }

private:
	friend std::vector<std::string> put_back_leftovers(const Tree &tree);
	struct Change {
		size_t entry = 0; // of the journal's
		std::unique_ptr<OpenKnob> knob;
		bool told = false;
	};
	Outcome try_to_make(const Place &place, OpenKnob &knob, const std::string &wanted);
	std::string put_back(Entry &entry, OpenKnob *knob); // empty: done, or done before, and nothing to be told
	bool own_group_is_left();
	int write(const Place &place, OpenKnob &knob, const std::string &value);

	const Tree &tree_;
	std::optional<Journal> journal_;
	std::vector<Change> changes_;
};

// Undoes the changes of killed processes. Returns sentences as Changes::put_back() does. Throws Failure(MachineCannot)
// as Journal does.
std::vector<std::string> put_back_leftovers(const Tree &tree);

} // namespace icepath::isolation
