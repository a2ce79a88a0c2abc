// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/summary.h"

#include <algorithm>
#include <fmt/format.h>

#include "profiler/doctor/causes.h"
#include "profiler/text/fitness_words.h"

namespace icepath::doctor {
namespace {

constexpr const char *kGreen = "\033[32m", *kYellow = "\033[33m", *kRed = "\033[31m", *kPlain = "\033[0m";

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// Its first `width` columns, with "…" for the rest.
std::string cut(const std::string &text, size_t width)
{
	size_t columns = 0, last = 0;
	for (size_t at = 0; at < text.size(); ++at)
		if (begins_character(text[at])) {
			if (columns + 1 == width)
				last = at;
			++columns;
		}
	return columns <= width ? text : text.substr(0, last) + "…";
}

std::string padded(const std::string &text, size_t width)
{
	const auto columns = static_cast<size_t>(std::ranges::count_if(text, begins_character));
	return text + std::string(width - std::min(width, columns), ' ');
}

struct Lines {
	bool colour;
	size_t width;
	std::string text = {};

	void add(const std::string &plain) { text += cut(plain, width) + "\n"; }
	// `word` is coloured.
	void add(const std::string &before, const char *paint, const std::string &word, const std::string &after)
	{
		const std::string whole = cut(before + word + after, width);
		const size_t end = before.size() + word.size();
		text += colour && whole.size() > end
					? whole.substr(0, before.size()) + paint + word + kPlain + whole.substr(end) + "\n"
					: whole + "\n";
	}
};

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

void add_causes(Lines &lines, const std::vector<Check> &checks)
{
	constexpr size_t kIndent = 22;
	for (const Cause &cause : causes(checks)) {
		std::string found = joined(cause.found, cause.name == "probes" ? ", " : "; ");
		if (cause.name == "probes")
			found = fmt::format("{} don't work: {}", cause.found.size(), found);
		lines.add("", paint_of(cause.verdict), cause.verdict == Verdict::Fail ? "fail" : "warn",
				  "  " + padded(cause.name, kIndent - 8) + "  " + found);
		if (!cause.remedy.empty())
			lines.add(std::string(kIndent, ' ') + "→ " + cause.remedy);
	}
}

void add_fitness(Lines &lines, const std::vector<model::Fitness> &fitness)
{
	std::string label = "fit for  ";
	for (const model::Fitness &one : fitness) {
		lines.add(padded(label, 9) + padded(std::string(name_of(one.purpose)), 9),
				  !one.fit   ? kYellow
				  : *one.fit ? kGreen
							 : kRed,
				  text::answer(one),
				  fmt::format("{}  {} (yes: {})", std::string(7 - std::string_view(text::answer(one)).size(), ' '),
							  text::found_text(one), text::threshold_text(one.purpose)));
		label.clear();
	}
}

} // namespace

std::string summary_text(const std::vector<Check> &checks, const std::vector<model::Fitness> &fitness, bool colour,
						 size_t width)
{
	Lines lines{colour, width};
	lines.add(head(checks));
	add_causes(lines, checks);
	add_fitness(lines, fitness);
	lines.add(fmt::format("more     icepath doctor -v · sudo icepath doctor --noise{}",
						  can_run(checks) ? " · next: sudo icepath run" : ""));
	return lines.text;
}

} // namespace icepath::doctor
