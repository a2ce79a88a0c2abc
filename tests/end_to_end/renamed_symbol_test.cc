// SPDX-License-Identifier: Apache-2.0
// Breaks a probe's attachment on purpose: in a copy of the program, the BPF object names a symbol that no kernel has.
// If a later candidate works, it is used; otherwise the boundary is inferred. The run reports it and is complete.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "profiler/capture/selection.h"
#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string one_line(const std::string &text)
{
	std::istringstream words(text);
	std::string line, word;
	while (words >> word)
		line += (line.empty() ? "" : " ") + word;
	return line;
}

class RenamedSymbol : public testing::Test {
protected:
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
	}

	// Makes a copy of icepath and its neighbours, whose BPF objects have another last letter in this section's name.
	void break_section(const std::string &section)
	{
		const fs::path bin = fs::path(icepath_program()).parent_path();
		EXPECT_EQ(chmod(folder.path().c_str(), 0755), 0); // root loads no plug-in that others can change
		fs::create_directories(folder.path() / "lib");
		fs::create_directories(folder.path() / "bin");
		fs::copy(bin / "../lib/icepath", folder.path() / "lib/icepath");
		fs::copy_file(bin / "icepath-worker", folder.path() / "bin/icepath-worker");
		for (const char *program : {"icepath", "icepath-helper"}) {
			std::ifstream whole(bin / program, std::ios::binary);
			std::string bytes(std::istreambuf_iterator<char>(whole), {});
			size_t renamed = 0;
			for (size_t at = 0; (at = bytes.find(section + '\0', at)) != std::string::npos;
				 at += section.size(), renamed++)
				bytes[at + section.size() - 1] = 'X';
			ASSERT_GT(renamed, 0u) << section << " in " << program;
			const fs::path copy = folder.path() / "bin" / program;
			std::ofstream(copy, std::ios::binary) << bytes;
			EXPECT_EQ(chmod(copy.c_str(), 0755), 0);
		}
	}
	fs::path broken() const { return folder.path() / "bin/icepath"; }

	// A short run over UNIX sockets with the broken copy. Each path is complete, whatever its boundaries rest on.
	void run_broken(const std::vector<std::string> &more = {})
	{
		std::vector<std::string> line = {
			broken(), "run", "-t", "uds-seqpacket",        "-w", "block,poll", "--patterns", "pingpong",
			"-s",     "64",  "-d", functions ? "14" : "3", "-m", "200",        "-o",         "out"};
		line.insert(line.end(), more.begin(), more.end());
		const Outcome outcome = run(line, folder.path(), 120s);
		ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
		report = one_line(run({icepath_program(), "report", "-v", "out"}, folder.path()).out);
		json = read_json(folder.path() / "out/run.json");
		ASSERT_EQ(json["cells"].size(), 2u);
		for (const auto &cell : json["cells"]) {
			const double probed = cell["messages"]["probed"];
			EXPECT_GE(probed, 1) << cell["wait"] << outcome.err;
			EXPECT_GE(cell["messages"]["complete"].get<double>(), 0.99 * probed) << cell["messages"];
			EXPECT_EQ(cell["layers_sum_error_ns"], 0);
		}
		EXPECT_EQ(told("runqueue, preempted, blocked")["tier"], "tracepoint") << "what isn't broken is as ever";
	}

	// What these layers rest on, according to run.json; in the full report as well.
	nlohmann::json told(const std::string &layers) const
	{
		for (const auto &probe : json["probes"])
			if (probe["layer"] == layers) {
				EXPECT_NE(report.find(layers), std::string::npos) << report;
				EXPECT_NE(report.find(probe["probe"].get<std::string>()), std::string::npos) << probe << report;
				return probe;
			}
		ADD_FAILURE() << "no " << layers << " in " << json["probes"];
		return {};
	}
	static bool says(const nlohmann::json &told, const std::string &part)
	{
		return told["probe"].get<std::string>().find(part) != std::string::npos;
	}

	// By wait: the part of the sender's kernel layer whose end is inferred.
	double inferred(const std::string &wait) const
	{
		double most = 0;
		for (const auto &cell : json["cells"])
			for (const auto &layer : cell["layers"])
				if (cell["wait"] == wait && layer["layer"] == "sender.kernel")
					most = std::max(most, layer["provenance"]["inferred"].get<double>());
		return most;
	}

	static constexpr const char *kReady = "sender.kernel, relay.kernel, network, queue (when a socket is ready)";
	static constexpr const char *kQueued = "sender.kernel, queue, propagation (when a UNIX socket has it)";
	const bool functions = geteuid() == 0 && std::ranges::any_of(capture::select_probes(), [](const auto &trial) {
							   return trial.works && trial.candidate.tier == capture::Tier::Fentry;
						   });
	const Folder folder;
	nlohmann::json json;
	std::string report;
};

TEST_F(RenamedSymbol, OfATracepointGivesWayToAFunction)
{
	break_section("?tp_btf/sk_data_ready");
	run_broken();
	const auto ready = told(kReady);
	EXPECT_TRUE(says(ready, "tracepoint sk_data_ready: not in this kernel")) << ready;
	if (functions) {
		EXPECT_EQ(ready["tier"], "fentry") << ready;
		EXPECT_TRUE(says(ready, "sock_def_readable (")) << ready;
		EXPECT_LT(inferred("poll"), 0.05);
		return;
	}
	EXPECT_EQ(ready["tier"], "none") << ready;
	EXPECT_TRUE(says(ready,
					 "the waking, if the receiver slept, or else inferred: after the sending call began, and no later "
					 "than it or the taking call came back, without sk_data_ready ("))
		<< ready;
	EXPECT_GT(inferred("poll"), 0.5);
}

TEST_F(RenamedSymbol, OfAFunctionGivesWayToTheNextTier)
{
	break_section("?fentry/skb_queue_tail");
	run_broken();
	const auto queued = told(kQueued);
	EXPECT_TRUE(says(queued, "fentry skb_queue_tail: not in this kernel")) << queued;
	EXPECT_EQ(queued["tier"], functions ? "kprobe" : "none") << queued;
	EXPECT_TRUE(
		says(queued, functions ? "skb_queue_tail (" : "its announcement (sk_data_ready), which comes later, without"))
		<< queued;
}

// It loads, because a kprobe's symbol is looked up only on attachment.
TEST_F(RenamedSymbol, OfAKprobeIsFoundWhenItIsAttached)
{
	break_section("?kprobe/skb_queue_tail");
	run_broken({"--tier", "kprobe"});
	const auto queued = told(kQueued), ready = told(kReady);
	EXPECT_EQ(queued["tier"], "none") << queued;
	EXPECT_TRUE(says(queued, "its announcement (sk_data_ready), which comes later, without skb_queue_tail ("))
		<< queued;
	const bool has_kprobes = fs::exists("/sys/bus/event_source/devices/kprobe");
	EXPECT_TRUE(says(queued, has_kprobes
								 ? "attaching: No such file or directory"
								 : "this kernel allows no kprobe (the kernel was built without CONFIG_KPROBE_EVENTS)"))
		<< queued;
	EXPECT_EQ(ready["tier"], functions ? "kprobe" : "tracepoint") << ready;
}

} // namespace
} // namespace icepath::end_to_end
