// SPDX-License-Identifier: Apache-2.0
#include "profiler/isolation/journalled_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ranges>

#include "profiler/failure.h"
#include "profiler/isolation/memory_info.h"
#include "profiler/isolation/partition.h"

namespace icepath::isolation {
namespace {

using cpuset::StepState;

bool is_gone(int error) { return error == ENOENT || error == ENODEV; }

std::string name_of(const Entry &entry) { return "/" + entry.place.path(); }

} // namespace

Changes::Changes(const Tree &tree, const Head &head) : tree_(tree), journal_(std::in_place, tree)
{
	const std::vector<std::string> sentences = put_back();
	if (!journal_->entries().empty() || !journal_->damage().empty())
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("an earlier run's changes can't be undone: {}; fix that, then "
								  "`sudo icepath doctor --restore`",
								  fmt::join(sentences, "; ")));
	journal_->begin(head);
}

Changes::~Changes()
{
	if (journal_)
		(void)put_back();
}

int Changes::write(const Place &place, OpenKnob &knob, const std::string &value)
{
	if (place.knob->form == Form::Group) // it makes several changes, and announces each
		return knob.write(value);
	return tree_.change(place.path(), [&] { return knob.write(value); });
}

Outcome Changes::make(const Place &place, const Wish &wish)
{
	auto knob = open_knob(tree_, place);
	const auto old_value = knob ? knob->read() : std::nullopt;
	if (!old_value)
		return {StepState::NotPossible, std::strerror(errno)};
	if (!is_value(place.knob->form, *old_value))
		return {StepState::NotPossible, fmt::format("it reads \"{}\"", *old_value)};
	const std::string wanted = wish(*old_value);
	if (same(place.knob->form, *old_value, wanted))
		return {StepState::AlreadySo, ""};
	if (!journal_)
		return {StepState::Left, ""};
	journal_->add(place, *old_value, wanted);
	changes_.push_back({journal_->entries().size() - 1, std::move(knob)});
	Outcome outcome = try_to_make(place, *changes_.back().knob, wanted);
	if (outcome.state != StepState::Done) {
		(void)write(place, *changes_.back().knob, *old_value);
		take_back();
	}
	return outcome;
}

Outcome Changes::try_to_make(const Place &place, OpenKnob &knob, const std::string &wanted)
{
	if (const int error = write(place, knob, wanted))
		return {StepState::NotPossible, std::strerror(error)};
	const auto now = knob.read();
	if (!now || !same(place.knob->form, *now, wanted))
		return {StepState::NotPossible,
				fmt::format("it reads \"{}\" after {} was written", now.value_or(std::strerror(errno)), wanted)};
	return {StepState::Done, ""};
}

void Changes::take_back()
{
	Entry &entry = journal_->entries()[changes_.back().entry];
	(void)put_back(entry, changes_.back().knob.get());
	if (entry.has_ended) // otherwise put_back() tries again
		changes_.pop_back();
}

OpenKnob *Changes::open(const Place &place)
{
	for (const Change &change : changes_)
		if (journal_->entries()[change.entry].place == place)
			return change.knob.get();
	return nullptr;
}

std::vector<std::string> Changes::look()
{
	std::vector<std::string> sentences;
	for (Change &change : changes_) {
		const Entry &entry = journal_->entries()[change.entry];
		const auto now = change.told ? std::optional(entry.new_value) : change.knob->read();
		if (now && same(entry.place.knob->form, *now, entry.new_value))
			continue;
		change.told = true;
		sentences.push_back(fmt::format("{} was changed from {} to {} by somebody else", name_of(entry),
										entry.new_value, now.value_or(std::strerror(errno))));
	}
	return sentences;
}

std::string Changes::put_back(Entry &entry, OpenKnob *knob)
{
	std::unique_ptr<OpenKnob> opened;
	if (!knob) {
		opened = open_knob(tree_, entry.place);
		knob = opened.get();
	}
	const auto now = knob ? knob->read() : std::nullopt;
	const Form form = entry.place.knob->form;
	if (!now && !is_gone(errno))
		return fmt::format("{} can't be put back to {}: {}", name_of(entry), entry.old_value, std::strerror(errno));
	if (!now) {
		journal_->end(entry, End::Left);
		return fmt::format("{} is gone", name_of(entry));
	}
	if (same(form, *now, entry.old_value)) {
		journal_->end(entry, End::Restored);
		return "";
	}
	const auto others_use_it = [&] {
		journal_->end(entry, End::Left);
		return fmt::format("{} keeps the cpuset controller, because other groups use it now", name_of(entry));
	};
	if (form == Form::Controller && others_use_cpusets(tree_))
		return others_use_it();
	if (!same(form, *now, entry.new_value)) {
		journal_->end(entry, End::Left);
		return fmt::format("{} was changed to {} by somebody else, and is left so: it was {} before icepath made it {}",
						   name_of(entry), *now, entry.old_value, entry.new_value);
	}
	const bool are_pages = entry.place == place_of("hugepages");
	const uint64_t surplus = are_pages ? memory_info(tree_, "HugePages_Surp") : 0;
	const int error = write(entry.place, *knob, entry.old_value);
	if (form == Form::Group && error == EBUSY)
		return why_partition_is_left(tree_);
	// A group with the controller for its own children, which needn't have CPUs itself, keeps it from being taken away.
	if (form == Form::Controller && error == EBUSY && !own_group_is_left())
		return others_use_it();
	const auto then = knob->read();
	if (error != 0 || !then || !same(form, *then, entry.old_value))
		return fmt::format("{} can't be put back to {}: {}", name_of(entry), entry.old_value,
						   error != 0 ? std::strerror(error) : fmt::format("it reads {}", then.value_or("nothing")));
	journal_->end(entry, End::Restored);
	return are_pages ? pages_that_remain(tree_, surplus) : "";
}

std::vector<std::string> Changes::put_back()
{
	std::vector<std::string> sentences;
	auto &entries = journal_->entries();
	for (size_t i = entries.size(); i-- > 0;) {
		if (entries[i].has_ended)
			continue;
		const auto change = std::ranges::find(changes_, i, &Change::entry);
		std::string sentence;
		try {
			sentence = put_back(entries[i], change == changes_.end() ? nullptr : change->knob.get());
		} catch (const Failure &) {
			// It is restored, but the journal doesn't say so: a later reader of the journal finds the old value there.
		}
		if (!sentence.empty())
			sentences.push_back(std::move(sentence));
	}
	for (const std::string &line : journal_->damage())
		sentences.push_back(
			fmt::format("/{}: {}: changes that it listed may still be in place, so the file is kept: remove it once "
						"the machine is as it should be",
						kJournalPath, line));
	changes_.clear();
	try {
		if (journal_->damage().empty() && std::ranges::all_of(entries, &Entry::has_ended))
			journal_->clear();
	} catch (const Failure &failure) {
		sentences.emplace_back(failure.what());
	}
	return sentences;
}

bool Changes::own_group_is_left()
{
	return std::ranges::any_of(journal_->entries(), [](const Entry &entry) {
		return entry.place.knob->form == Form::Group && !entry.has_ended;
	});
}

std::vector<std::string> put_back_leftovers(const Tree &tree)
{
	Changes left(tree);
	left.journal_.emplace(tree);
	return left.put_back();
}

} // namespace icepath::isolation
