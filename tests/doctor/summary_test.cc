// SPDX-License-Identifier: Apache-2.0
// The doctor's answer on one screen: causes instead of checks, and what the machine is fit for.
#include "profiler/doctor/summary.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/capture/probes.h"
#include "profiler/doctor/causes.h"
#include "tests/report/lines_of.h"

namespace icepath::doctor {
namespace {

Check warn(const std::string &name, const std::string &found = "found", const std::string &remedy = "mend it")
{
	return {name, Verdict::Warn, found, "an effect", remedy};
}

std::string many(const std::string &text, int times)
{
	std::string all;
	for (int i = 0; i < times; ++i)
		all += text;
	return all;
}

// Everything that can be wrong without rights being missing.
std::vector<Check> everything_wrong()
{
	std::vector<Check> checks = {{"kernel", Verdict::Ok, "6.1.0 x86_64", "", ""}};
	for (const capture::Probe &probe : capture::kProbes)
		checks.push_back(warn("probe " + std::string(probe.name)));
	for (const char *name : {"layer queue",
							 "layer network",
							 "other runs",
							 "cpus",
							 "soft idle_states",
							 "soft memory",
							 "isolation other_tasks",
							 "isolation timer_tick",
							 "isolation interrupts",
							 "isolation smt_sibling",
							 "isolation frequency",
							 "isolation idle_states",
							 "isolation rt_throttling",
							 "isolation hypervisor",
							 "isolation clock",
							 "isolation housekeeping",
							 "full partition",
							 "full interrupts",
							 "full leftovers",
							 "privileges",
							 "interrupts",
							 "clock",
							 "counters",
							 "threads"})
		checks.push_back(warn(name, std::string(name) + " " + many("found ", 20), many("do it ", 12) + "end."));
	checks.back().possible = Possible::NotHere;
	return checks;
}

const model::CpuNoise kNoisy{1, 500'000'000, 100, 13'000'000, 198'000, {}, ""};
const model::Quietness kLook{{kNoisy, {0, 500'000'000, 10, 100'000, 9'000, {}, ""}}, {{61, 63}}, {}};

// What a second look saw of the noisy one.
const std::vector<model::CpuNoise> kNamed = {{1,
											  500'000'000,
											  100,
											  160'000'000,
											  198'000,
											  {{"cc1plus", 50, 120'000'000, 4'000'000},
											   {"python3", 40, 35'000'000, 4'000'000},
											   {"timer interrupt", 120, 900'000, 9000}},
											  "cc1plus"}};

size_t columns(const std::string &text)
{
	return static_cast<size_t>(
		std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

TEST(DoctorsSummary, IsOneScreenWhateverIsWrong)
{
	for (const size_t width : {60, 100, 200}) {
		const auto lines = lines_of(summary_text(everything_wrong(), fit_for(kLook, kNamed, false), false, width));
		EXPECT_LE(lines.size(), width >= 100 ? 40u : 65u);
		for (const std::string &line : lines)
			EXPECT_LE(columns(line), width) << line;
	}
}

// The text without line feeds and indentation.
std::string unwrapped(const std::string &text)
{
	std::string all;
	for (const char c : text)
		if (const bool space = c == ' ' || c == '\n'; !space || (!all.empty() && all.back() != ' '))
			all += space ? ' ' : c;
	return all;
}

size_t count(const std::string &text, const std::string &of)
{
	size_t times = 0;
	for (size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1))
		++times;
	return times;
}

TEST(DoctorsSummary, CutsNoRemedyAndNoThreshold)
{
	const auto all = causes(everything_wrong());
	const auto all_fit = fit_for(kLook, kNamed, false);
	for (const size_t width : {60, 100}) {
		const std::string text = summary_text(everything_wrong(), all_fit, false, width), line = unwrapped(text);
		for (const Cause &cause : all)
			for (const Remedy &one : cause.remedies)
				EXPECT_NE(line.find(std::string(name(one.possible)) + " → " + one.text), std::string::npos) << text;
		EXPECT_EQ(count(line, "(yes: < 0.1 %, < 100 µs)"), 1u) << text;
		EXPECT_GT(count(text, " …\n"), 0u) << text;
	}
	EXPECT_EQ(summary_text(everything_wrong(), all_fit, false, 1000).find("…"), std::string::npos)
		<< "where there is room, all that was found is there";
}

TEST(FitFor, NamesWhatTookTheCpuAndItsRemedy)
{
	const model::CpuNoise taken{1, 500'000'000, 100, 160'000'000, 198'000, {}, ""};
	const auto all = fit_for({{taken}, {{61, 63}}, {}}, kNamed, false);
	ASSERT_EQ(all.size(), 3u);
	EXPECT_EQ(all[0].taken_by, "cc1plus 24 %, python3 7 %") << "the rest is below the threshold of medians";
	EXPECT_EQ(all[2].taken_by, "cc1plus 24 %, python3 7 %, timer interrupt 0.18 %");
	for (const size_t purpose : {0, 1})
		EXPECT_NE(all[purpose].remedy.find("end these tasks, or wait"), std::string::npos);
	EXPECT_EQ(all[2].remedy.find("end these tasks"), std::string::npos) << "that doesn't make it fit";
	EXPECT_NE(all[0].remedy.find("--sched fifo"), std::string::npos);
	EXPECT_EQ(all[0].possible, Possible::Now);
	EXPECT_NE(all[2].remedy.find("this kernel can't stop"), std::string::npos) << all[2].remedy;
	EXPECT_EQ(all[2].possible, Possible::NotHere) << "tails can't become yes";
	EXPECT_EQ(all[0].remedy.find("tick"), std::string::npos) << "medians don't mind it";
	const auto with_nohz = fit_for({{taken}, {{61, 63}}, {}}, kNamed, true);
	EXPECT_EQ(with_nohz[2].possible, Possible::AfterReboot) << "nohz_full= is read as the kernel boots";
	const auto not_looked = fit_for({{taken}, {{61, 63}}, {}}, {}, false);
	EXPECT_EQ(not_looked[0].taken_by + not_looked[0].remedy, "");
	const auto quiet = fit_for({{{1, 500'000'000, 1, 2000, 2000, {}, ""}}, {{61, 63}}, {}}, kNamed, false);
	EXPECT_EQ(quiet[2].taken_by + quiet[2].remedy, "") << "it is fit";
}

TEST(FitFor, TellsInTheSummaryOnlyWhatThePurposeBeforeHasNot)
{
	const model::CpuNoise taken{1, 500'000'000, 100, 160'000'000, 198'000, {}, ""};
	const std::string text = unwrapped(summary_text({}, fit_for({{taken}, {{61, 63}}, {}}, kNamed, false), false, 200));
	EXPECT_NE(text.find("(yes: < 5 %): cc1plus 24 %, python3 7 %"), std::string::npos) << text;
	EXPECT_EQ(count(text, "cc1plus"), 1u) << text;
	EXPECT_EQ(count(text, "end these tasks, or wait"), 1u) << text;
	EXPECT_NE(
		text.find("< 100 µs): also timer interrupt 0.18 % not here → the tick alone takes 0.18 %, and this kernel"),
		std::string::npos)
		<< text;
}

TEST(DoctorsSummary, ColourIsAllThatColourAdds)
{
	std::string coloured = summary_text(everything_wrong(), fit_for(kLook, kNamed, false), true, 100);
	EXPECT_NE(coloured.find("\033[33mwarn\033[0m"), std::string::npos);
	for (size_t at = coloured.find('\033'); at != std::string::npos; at = coloured.find('\033'))
		coloured.erase(at, coloured.find('m', at) + 1 - at);
	EXPECT_EQ(coloured, summary_text(everything_wrong(), fit_for(kLook, kNamed, false), false, 100));
}

TEST(Causes, HaveOneRemedyForManyChecks)
{
	const auto found = causes(everything_wrong());
	const auto cause = [&](const std::string &name) {
		const auto at = std::ranges::find(found, name, &Cause::name);
		return at == found.end() ? Cause{} : *at;
	};
	EXPECT_EQ(cause("probes").found.size(), capture::kProbes.size()) << "and no layer: they follow from these";
	EXPECT_EQ(cause("probes").found[0], capture::kProbes[0].name);
	EXPECT_EQ(cause("probes").remedies.size(), 1u);
	EXPECT_EQ(cause("shared CPUs").found.size(), 6u);
	EXPECT_EQ(cause("idle states").found.size(), 3u);
	EXPECT_EQ(cause("locked memory").found.size(), 1u);
	EXPECT_EQ(cause("--isolate full").found.size(), 3u);
	EXPECT_EQ(cause("clock").found.size(), 2u);
	size_t all = 0;
	for (const Cause &one : found)
		all += one.found.size();
	EXPECT_EQ(cause("probes").remedies[0].possible, Possible::NotHere);
	EXPECT_EQ(cause("tick").remedies[0].possible, Possible::Now);
	EXPECT_EQ(all, everything_wrong().size() - 3)
		<< "each check once, but for the kernel, which is fine, and two layers";
}

// What can be had now isn't hidden behind what can't.
TEST(Causes, TellWhatCanBeHadSoonerBesideTheFirstRemedy)
{
	Check tasks = warn("isolation other_tasks", "open to all", "boot with isolcpus="),
		  interrupts = warn("isolation interrupts", "some come", "run --isolate full");
	tasks.possible = Possible::NotHere;
	const std::string text = summary_text({tasks, interrupts, tasks}, {}, false, 100);
	EXPECT_NE(unwrapped(text).find("now → run --isolate full not here → boot with isolcpus="), std::string::npos)
		<< text;
	EXPECT_EQ(count(text, "→"), 2u) << text;
	const std::string other = summary_text({interrupts, tasks}, {}, false, 100);
	EXPECT_EQ(count(other, "→"), 1u) << other;
}

TEST(Causes, OfMissingRightsAreNotTheProbes)
{
	const auto found = causes({{"privileges", Verdict::Fail, "uid 1000", "no probe", "sudo"},
							   {"probe sched_switch", Verdict::Fail, "not tried", "nothing", "see privileges"},
							   {"layer runqueue", Verdict::Fail, "nothing", "nothing", "see"},
							   warn("a new check")});
	ASSERT_EQ(found.size(), 2u);
	EXPECT_EQ(found[0].name, "rights");
	EXPECT_EQ(found[0].verdict, Verdict::Fail);
	EXPECT_EQ(found[0].remedies[0].text, "sudo");
	EXPECT_EQ(found[1].name, "a new check") << "none is lost";
}

} // namespace
} // namespace icepath::doctor
