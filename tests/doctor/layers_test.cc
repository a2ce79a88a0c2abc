// SPDX-License-Identifier: Apache-2.0
#include "profiler/doctor/trials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "profiler/model/layers.h"

namespace icepath::doctor {
namespace {

using capture::kProbes;
using capture::number_of;

// Each probe works with its first candidate.
capture::Selection all_work()
{
	capture::Selection tried;
	for (size_t i = 0; i < tried.size(); i++)
		tried[i] = {true, kProbes[i].candidates[0], ""};
	return tried;
}

Check check_of(const capture::Selection &tried, const std::string &layer)
{
	for (const Check &check : layer_checks(tried))
		if (check.name == "layer " + layer)
			return check;
	ADD_FAILURE() << "no layer " << layer;
	return {};
}

bool says(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

TEST(LayerChecks, EveryLayerNamesWhatItRestsOn)
{
	const auto checks = layer_checks(all_work());
	ASSERT_EQ(checks.size(), model::kLayerCount);
	for (size_t i = 0; i < checks.size(); i++) {
		EXPECT_EQ(checks[i].name, "layer " + std::string(model::kLayerNames[i]));
		EXPECT_EQ(checks[i].verdict, Verdict::Ok);
		EXPECT_TRUE(says(checks[i].found, "stamps") || says(checks[i].found, "tracepoint ")) << checks[i].name;
		EXPECT_EQ(checks[i].effect, "");
	}
	EXPECT_EQ(check_of(all_work(), "blocked").found.find("tracepoint sched_switch, page_fault_user (fault), "), 0u);
	EXPECT_TRUE(says(check_of(all_work(), "wakeup").found, "cpu_idle (idle_exit)"));
	EXPECT_TRUE(says(check_of(all_work(), "sender.kernel").found,
					 "; fentry skb_queue_tail (when a UNIX socket has it), pipe_write (when a pipe has it)"));
}

TEST(LayerChecks, EveryProbeStandsInTheLayersThatItNames)
{
	for (size_t i = 0; i < kProbes.size(); i++) {
		capture::Selection tried = all_work();
		tried[i] = {false, {}, "not in this kernel"};
		for (const capture::Use &use : std::span(kProbes[i].uses.all).first(kProbes[i].uses.count)) {
			const Check check = check_of(tried, std::string(name(use.layer)));
			EXPECT_NE(check.verdict, Verdict::Ok) << kProbes[i].name;
			EXPECT_TRUE(says(check.effect, std::string(kProbes[i].name))) << kProbes[i].name << ": " << check.effect;
		}
	}
}

TEST(LayerChecks, WhatIsMissingSaysWhatTellsItInstead)
{
	capture::Selection tried = all_work();
	tried[number_of("sk_data_ready")] = {true, kProbes[number_of("sk_data_ready")].candidates[2], ""};
	tried[number_of("skb_queue_tail")] = tried[number_of("cpu_idle")] = {false, {}, "not in this kernel"};
	const Check kernel = check_of(tried, "sender.kernel"), wakeup = check_of(tried, "wakeup");
	EXPECT_EQ(kernel.verdict, Verdict::Warn);
	EXPECT_TRUE(says(kernel.found, "kprobe sock_def_readable (when a socket is ready)")) << kernel.found;
	EXPECT_FALSE(says(kernel.found, "skb_queue_tail"));
	EXPECT_EQ(kernel.effect, "without skb_queue_tail (when a UNIX socket has it): shown by its announcement "
							 "(sk_data_ready), which comes later");
	EXPECT_EQ(wakeup.effect, "without cpu_idle (idle_exit): shown by nothing");
	EXPECT_EQ(check_of(tried, "blocked").verdict, Verdict::Ok);
	tried[number_of("sched_switch")] = {false, {}, "not in this kernel"};
	EXPECT_EQ(check_of(tried, "blocked").verdict, Verdict::Fail);
	EXPECT_EQ(check_of(tried, "blocked").found, "nothing shows it here");
}

} // namespace
} // namespace icepath::doctor
