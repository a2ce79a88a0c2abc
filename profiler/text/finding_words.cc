// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/finding_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "profiler/explain/notices.h"
#include "profiler/model/cell_title.h"
#include "profiler/text/wording.h"

namespace icepath::text {
namespace {

using analysis::RunResult;
using explain::Fact;
using explain::Finding;
using Id = explain::FindingId;

std::array<const Wording *, explain::kFindingIds> all_wordings()
{
	std::array<const Wording *, explain::kFindingIds> all{};
	for (const std::span<const Wording> rows : {words_to_read_by(), words_of_trust(), words_of_refusals()})
		for (const Wording &row : rows)
			all.at(static_cast<size_t>(row.id)) = &row;
	return all;
}

} // namespace

const Wording &wording_of(Id id)
{
	static const auto kAll = all_wordings();
	const Wording *found = kAll.at(static_cast<size_t>(id));
	if (!found)
		throw std::logic_error(std::string(row_of(id).name) + " has no words");
	return *found;
}

std::string words(const RunResult &result, const Finding &finding)
{
	const Wording &wording = wording_of(finding.id);
	return wording.words ? wording.words(result, finding)
						 : fmt::format(fmt::runtime(wording.pattern), count_of(finding.value.value_or(0)),
									   finding.has(Fact::Of) ? count_in(finding, Fact::Of) : "");
}

std::string sentence(const RunResult &result, const Finding &finding)
{
	return (finding.cell ? model::title(cell_of(result, finding).cell) + ": " : "") + words(result, finding);
}

std::vector<std::string> sentences(const RunResult &result, const std::vector<Finding> &findings)
{
	std::vector<std::string> list;
	for (const Finding &finding : findings)
		list.push_back(sentence(result, finding));
	return list;
}

std::vector<std::string> notice_sentences(const RunResult &result)
{
	return sentences(result, explain::notices(result));
}

namespace {

// "a, b and 7 more can't wait by spin: left out there" for sentences, as a run recorded them, that differ by their
// first word only.
std::vector<std::string> merged(const std::vector<std::string> &all)
{
	struct Alike {
		std::string rest;
		std::vector<std::string> firsts;
	};
	std::vector<Alike> groups;
	for (const std::string &one : all) {
		const size_t end = std::min(one.find(' '), one.size());
		const std::string first = one.substr(0, end);
		const auto found = std::ranges::find(groups, one.substr(end), &Alike::rest);
		Alike &alike = found == groups.end() ? groups.emplace_back(Alike{one.substr(end), {}}) : *found;
		if (std::ranges::find(alike.firsts, first) == alike.firsts.end())
			alike.firsts.push_back(first);
	}
	std::vector<std::string> texts;
	for (const auto &[rest, firsts] : groups)
		texts.push_back(firsts[0] +
						(firsts.size() == 1   ? ""
						 : firsts.size() == 2 ? " and " + firsts[1]
											  : fmt::format(", {} and {} more", firsts[1], firsts.size() - 2)) +
						rest);
	return texts;
}

} // namespace

std::vector<std::string> brief_notices(const RunResult &result)
{
	std::vector<std::string> recorded;
	std::vector<std::vector<Finding>> kinds; // that cells share
	for (const Finding &finding : explain::notices(result)) {
		if (finding.id == Id::Recorded)
			recorded.push_back(words(result, finding));
		else if (!wording_of(finding.id).is_brief)
			continue;
		else if (kinds.empty() || kinds.back().front().id != finding.id)
			kinds.push_back({finding});
		else
			kinds.back().push_back(finding);
	}
	std::vector<std::string> list = merged(recorded);
	for (const std::vector<Finding> &of : kinds)
		list.push_back(of.size() == 1 ? sentence(result, of[0])
									  : fmt::format("{} in {} cells: {}; and {} more", wording_of(of[0].id).kind,
													of.size(), sentence(result, of[0]), of.size() - 1));
	return list;
}

std::vector<std::string> facts_of(const RunResult &result, const explain::Trust &trust)
{
	std::vector<std::string> facts;
	for (const Finding &finding : trust.findings)
		facts.push_back(finding.id == Id::PathOfAll && !facts.empty() // goes on with what is known of a cell
							? fmt::format("of {} messages",
										  finding.value == 1 ? "all" : share_of_all(finding.value.value()) + " of all")
							: words(result, finding));
	return facts;
}

std::string duration_option(double seconds)
{
	constexpr double kMinutesFrom = 120, kHoursFrom = 7200;
	return seconds < kMinutesFrom ? fmt::format("{:.0f}", std::ceil(seconds))
		   : seconds < kHoursFrom ? fmt::format("{:.0f}m", std::ceil(seconds / 60))
								  : fmt::format("{:.0f}h", std::ceil(seconds / 3600));
}

std::string mend_text(const explain::Trust &trust)
{
	switch (trust.mend) {
	case explain::Mend::None:
		break;
	case explain::Mend::MeasureLonger:
		return "-d " + duration_option(trust.needed_s.value());
	case explain::Mend::Doctor:
		return "icepath doctor";
	case explain::Mend::FullReport:
		return "icepath report -v RUN";
	}
	return "";
}

std::string unfinished_text(const RunResult &result)
{
	const std::optional<Finding> why = explain::unfinished(result);
	return why ? words(result, *why) : "";
}

} // namespace icepath::text
