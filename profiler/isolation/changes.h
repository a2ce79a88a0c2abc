// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes of the machine that are put back: each is noted before it is made, and undone by whoever comes after, if the process that made
// it doesn't.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpuset/step.h"
#include "profiler/isolation/journal.h"
#include "profiler/isolation/knobs.h"

namespace icepath::isolation {

// What became of one: Done, AlreadySo, NotPossible; or Left, where it could be made and none is to be.
struct Outcome {
	cpuset::StepState state = cpuset::StepState::NotPossible;
	std::string why; // of NotPossible
};

// What another value a knob shall have, by the one that it has.
using Wish = std::function<std::string(const std::string &old_value)>;

class Changes {
public:
	// Makes none, but says which could be made.
	explicit Changes(const Tree &tree) : tree_(tree) {}
	// Puts back what a process that was killed has left, then begins a journal of its own. Throws Failure(MachineCannot) where not all
	// of it can be put back, or as Journal does.
	Changes(const Tree &tree, const Head &head);
	~Changes(); // put_back()
	Changes(const Changes &) = delete;
	Changes &operator=(const Changes &) = delete;

	Outcome make(const Place &place, const Wish &wish);
	// Puts back what was made last.
	void take_back();
	OpenKnob *open(const Place &place); // one that was changed; nullptr: it wasn't

	// What somebody else has changed since, each told once.
	std::vector<std::string> look();
	// In reverse. Sentences on what somebody else has changed meanwhile, which is left, and on what can't be put back. May be called again.
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
	std::string put_back(Entry &entry, OpenKnob *knob); // empty: done, or done before
	int write(const Place &place, OpenKnob &knob, const std::string &value);

	const Tree &tree_;
	std::optional<Journal> journal_;
	std::vector<Change> changes_;
};

// Puts back what processes that were killed have left. Sentences as of Changes::put_back(). Throws Failure(MachineCannot) as Journal does.
std::vector<std::string> put_back_leftovers(const Tree &tree);

} // namespace icepath::isolation
