// SPDX-License-Identifier: Apache-2.0
// The doctor's output on this kernel, for each kind of probe: it shows what each layer of a breakdown rests on.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "profiler/capture/selection.h"
#include "profiler/model/layers.h"
#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;

class Doctor : public testing::TestWithParam<capture::Tier> {};

TEST_P(Doctor, NamesForEachLayerTheProbeItRestsOn)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const std::string tier(name(GetParam()));
	const capture::Selection selection = capture::select_probes(GetParam());
	const Folder folder;
	const Outcome json = run({icepath_program(), "doctor", "--json", "--tier", tier}, folder.path(), 120s),
				  text = run({icepath_program(), "doctor", "-v", "--tier", tier}, folder.path(), 120s);
	ASSERT_EQ(json.exit_code, 0) << json.err;
	std::map<std::string, nlohmann::json> layers;
	const nlohmann::json told = nlohmann::json::parse(json.out);
	for (const auto &check : told["checks"])
		if (const std::string label = check["name"]; label.starts_with("layer "))
			layers[label.substr(6)] = check;
	for (size_t number = 0; number < model::kLayerCount; number++) {
		const std::string_view layer = model::kLayerNames[number];
		const auto &check = layers[std::string(layer)];
		ASSERT_TRUE(check.is_object()) << layer;
		const std::string found = check["found"], effect = check["effect"];
		EXPECT_NE(text.out.find(found), std::string::npos) << layer;
		EXPECT_NE(text.out.find(effect), std::string::npos) << layer;
		EXPECT_TRUE(found.find("stamps") != std::string::npos || found.find("tracepoint ") != std::string::npos)
			<< found;
		// Each probe of the layer, by the candidate used, or by what replaces it.
		for (size_t i = 0; i < capture::kProbes.size(); i++) {
			const capture::Probe &probe = capture::kProbes[i];
			if (!probe.uses.of(static_cast<model::Layer>(number)))
				continue;
			const capture::Trial &trial = selection[i];
			if (trial.works) {
				// Tiers stand in their order, each with its probes.
				const size_t at = found.find(std::string(name(trial.candidate.tier)) + " ");
				ASSERT_NE(at, std::string::npos) << probe.name << ": " << found;
				const std::string of_tier = found.substr(at, found.find("; ", at) - at);
				EXPECT_NE(of_tier.find(trial.candidate.target), std::string::npos) << probe.name << ": " << found;
			} else {
				EXPECT_NE(effect.find(probe.name), std::string::npos) << probe.name << ": " << effect;
				EXPECT_NE(effect.find(probe.instead), std::string::npos) << probe.name << ": " << effect;
			}
		}
	}
}

TEST(DoctorsAnswer, IsOnOneScreenAndEverythingStandsInTheLongText)
{
	const Folder folder;
	const Outcome brief = run({icepath_program(), "doctor"}, folder.path(), 120s);
	EXPECT_LE(std::ranges::count(brief.out, '\n'), 40) << brief.out;
	EXPECT_EQ(brief.out.find("effect:"), std::string::npos);
	for (const char *purpose : {"medians", "ranks", "tails"})
		EXPECT_NE(brief.out.find(purpose), std::string::npos) << brief.out;
	const nlohmann::json told =
		nlohmann::json::parse(run({icepath_program(), "doctor", "--json"}, folder.path(), 120s).out);
	EXPECT_EQ(told["fit_for"].size(), 3u);
	for (const auto &one : told["fit_for"])
		EXPECT_TRUE(one["fit"].is_boolean()) << one.dump();
	EXPECT_NE(run({icepath_program(), "doctor", "--verbose"}, folder.path(), 120s).out.find("effect:"),
			  std::string::npos);
}

// sudo, pkexec and doas each name the invoking user in a variable of their own.
TEST(DoctorsUser, IsKnownHoweverRootWasGot)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const auto found = [&](const std::string &variable) {
		const Outcome outcome = run({"/usr/bin/env", "-u", "SUDO_UID", "-u", "PKEXEC_UID", "-u", "DOAS_USER", variable,
									 icepath_program(), "doctor", "--json"},
									folder.path(), 120s);
		const nlohmann::json told = nlohmann::json::parse(outcome.out);
		for (const auto &check : told["checks"])
			if (check["name"] == "privileges")
				return check["found"].get<std::string>();
		return outcome.err;
	};
	EXPECT_EQ(found("NOBODY=nobody"), "root, without an invoking user");
	for (const char *variable : {"SUDO_UID=65534", "PKEXEC_UID=65534", "DOAS_USER=nobody"})
		EXPECT_EQ(found(variable), "uid 0 with CAP_BPF and CAP_PERFMON") << variable;
}

INSTANTIATE_TEST_SUITE_P(All, Doctor,
						 testing::Values(capture::Tier::Tracepoint, capture::Tier::Fentry, capture::Tier::Kprobe),
						 [](const auto &which) { return std::string(name(which.param)); });

} // namespace
} // namespace icepath::end_to_end
