// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/summary.h"

#include <algorithm>
#include <fmt/format.h>

#include "profiler/doctor/causes.h"
#include "profiler/text/columns.h"
#include "profiler/text/fitness_words.h"
#include "profiler/text/page.h"

namespace icepath::doctor {
namespace {

constexpr const char *kGreen = "\033[32m", *kYellow = "\033[33m", *kRed = "\033[31m", *kPlain = "\033[0m";

// "label     words words", wrapped at spaces; of more than `most` lines the last ends in "…".
std::string paragraph(const std::string &label, const std::string &words, size_t indent, size_t width,
					  size_t most = SIZE_MAX)
{
	const auto laid_out = [&](size_t columns) {
		text::Page page({false, true}, columns);
		page.paragraph(label, words, indent);
		return page;
	};
	text::Page page = laid_out(width);
	if (page.lines() <= most)
		return page.take();
	const std::string narrower = laid_out(width - 2).take(); // " …"
	size_t end = 0;
	for (size_t line = 0; line < most; ++line)
		end = narrower.find('\n', end) + 1;
	return narrower.substr(0, end - 1) + " …\n";
}

// Of that length, at `at` in the text.
std::string painted(std::string text, size_t at, size_t length, const char *paint)
{
	return text.insert(at + length, kPlain).insert(at, paint);
}

std::string joined(const std::vector<std::string> &texts, const char *between)
{
	std::string all;
	for (const std::string &text : texts)
		all += (all.empty() ? "" : between) + text;
	return all;
}

const char *paint_of(Verdict verdict)
{
	return verdict == Verdict::Ok ? kGreen : verdict == Verdict::Warn ? kYellow : kRed;
}

std::string head(const std::vector<Check> &checks)
{
	size_t probes = 0, working = 0;
	std::string kernel, cpus;
	for (const Check &check : checks) {
		if (check.name == "kernel")
			kernel = " · " + check.found;
		if (check.name == "cpus")
			cpus = " · " + check.found;
		if (check.name.starts_with("probe ")) {
			++probes;
			working += check.verdict == Verdict::Ok ? 1 : 0;
		}
	}
	return fmt::format("{}{} · {} of {} probes work{}",
					   can_run(checks) ? "icepath can run here" : "icepath can't break messages down here", kernel,
					   working, probes, cpus);
}

std::string cause_lines(const Cause &cause, size_t most_found, bool colour, size_t width)
{
	constexpr size_t kVerdict = 6, kIndent = 22;
	const bool is_of_probes = cause.name == "probes", is_refused = cause.name == "refused";
	std::string found = joined(cause.found, is_of_probes || is_refused ? ", " : "; ");
	if (is_of_probes || is_refused)
		found = fmt::format("{} {}: {}", cause.found.size(), is_refused ? "probes" : "don't work", found);
	const std::string verdict = cause.verdict == Verdict::Fail ? "fail" : "warn";
	std::string text = paragraph(text::pad_right(verdict, kVerdict) + cause.name, found, kIndent, width, most_found);
	if (colour)
		text = painted(text, 0, verdict.size(), paint_of(cause.verdict));
	for (const Remedy &one : cause.remedies)
		text += paragraph(std::string(kVerdict, ' ') + name(one.possible), "→ " + one.text, kIndent, width);
	return text;
}

// What a list has beyond the one before, which it begins with; all of it if it doesn't.
std::string added(const std::string &list, const std::string &before)
{
	if (before.empty() || !list.starts_with(before))
		return list;
	return list.substr(std::min(list.find_first_not_of(",; ", before.size()), list.size()));
}

std::string fitness_lines(const std::vector<FitFor> &fit_for, bool colour, size_t width)
{
	constexpr size_t kPurpose = 9, kAnswer = 18, kIndent = 27;
	std::string text, taken_by, remedy; // the last two: of the purpose before
	for (const FitFor &fit : fit_for) {
		const model::Fitness &one = fit.fitness;
		const std::string new_by = added(fit.taken_by, taken_by), new_remedy = added(fit.remedy, remedy);
		const std::string answer = text::answer(one),
						  purpose = text::pad_right(text.empty() ? "fit for" : "", kPurpose) +
									std::string(name_of(one.purpose));
		const std::string line =
			paragraph(text::pad_right(purpose, kAnswer) + answer,
					  fmt::format("{} (yes: {}){}", text::found_text(one), text::threshold_text(one.purpose),
								  new_by.empty() ? "" : (new_by == fit.taken_by ? ": " : ": also ") + new_by),
					  kIndent, width);
		text += colour ? painted(line, kAnswer, answer.size(), !one.fit ? kYellow : *one.fit ? kGreen : kRed) : line;
		if (!new_remedy.empty())
			text += paragraph(std::string(kPurpose, ' ') + name(fit.possible), "→ " + new_remedy, kAnswer, width);
		taken_by = fit.taken_by;
		remedy = fit.remedy;
	}
	return text;
}

} // namespace

std::string summary_text(const std::vector<Check> &checks, const std::vector<FitFor> &fit_for, bool colour,
						 size_t width)
{
	std::string text = paragraph("", head(checks), 0, width);
	constexpr size_t kMany = 8;
	const std::vector<Cause> all = causes(checks);
	for (const Cause &cause : all)
		text += cause_lines(cause, all.size() > kMany ? 1 : 2, colour, width);
	text += fitness_lines(fit_for, colour, width);
	return text + paragraph("more",
							fmt::format("icepath doctor -v · sudo icepath doctor --noise{}",
										can_run(checks) ? " · next: sudo icepath run" : ""),
							9, width);
}

} // namespace icepath::doctor
