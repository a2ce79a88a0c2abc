// SPDX-License-Identifier: Apache-2.0
// Every transport with each of its waits in one run: each is measured or named as left out, and has exactly the layers
// that its mechanism requires or allows.
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "tests/end_to_end/measured_again.h"

namespace icepath::end_to_end {
namespace {

constexpr int kBytes = 64;

// A layer that a mechanism requires needn't be in each message.
bool has_enough(const nlohmann::json &cell) { return has_messages(cell) && cell["messages"]["complete"] >= 100; }

class EveryTransport : public testing::Test {
protected:
	static void SetUpTestSuite()
	{
		if (geteuid() != 0)
			return;
		folder = new Folder;
		json = new nlohmann::json;
		(*json)["cells"] = cells_with_enough(
			kAllByTwoThreads, 20, {"-w", "block,poll,spin", "--patterns", "pingpong", "-s", std::to_string(kBytes)},
			folder->path(), has_enough);
		if ((*json)["cells"].empty())
			return;
		(*json)["notices"] = read_json(folder->path() / "out0/run.json")["notices"];
		targets =
			new nlohmann::json(nlohmann::json::parse(run({icepath_program(), "list", "--json"}, folder->path()).out));
	}
	static void TearDownTestSuite()
	{
		delete folder;
		delete json;
		delete targets;
	}
	void SetUp() override
	{
		if (geteuid() != 0)
			GTEST_SKIP() << "needs root";
		ASSERT_FALSE((*json)["cells"].empty());
	}

	static std::set<std::string> layers_of(const nlohmann::json &cell)
	{
		std::set<std::string> layers;
		for (const auto &layer : cell["layers"])
			if (layer["mean_ns"].get<double>() > 0)
				layers.insert(layer["layer"]);
		return layers;
	}
	static bool uses_network(const std::string &target)
	{
		return target.find("tcp") != std::string::npos || target.find("udp") != std::string::npos || target == "vsock";
	}

	static inline Folder *folder = nullptr;
	static inline nlohmann::json *json = nullptr, *targets = nullptr;
};

TEST_F(EveryTransport, IsMeasuredUnderEachOfItsWaitsOrNamed)
{
	std::set<std::pair<std::string, std::string>> measured;
	for (const auto &cell : (*json)["cells"]) {
		measured.emplace(cell["target"].get<std::string>(), cell["wait"].get<std::string>());
		EXPECT_TRUE(cell["latency_ns"]["p50"].is_number()) << cell["target"];
		EXPECT_TRUE(cell["cpu_ns_per_message"]["receiver"]["user"].is_number()) << cell["target"];
	}
	const std::string notices = (*json)["notices"].dump();
	for (const auto &target : (*targets)["targets"]) {
		if (!goes_by_two_threads(target))
			continue;
		const std::string name = target["name"];
		const auto waits = target["waits"].get<std::set<std::string>>();
		for (const std::string wait : {"block", "poll", "spin"}) {
			if (!target["why_not"].get<std::string>().empty())
				EXPECT_NE(notices.find(name + " left out: "), std::string::npos) << name;
			else if (target["max_payload_bytes"] < kBytes)
				EXPECT_NE(notices.find(name + " can't carry " + std::to_string(kBytes)), std::string::npos) << name;
			else if (waits.count(wait))
				EXPECT_TRUE(measured.count({name, wait})) << name << " " << wait;
			else
				EXPECT_NE(notices.find(name + " can't wait by " + wait), std::string::npos) << name << " " << wait;
		}
	}
}

TEST_F(EveryTransport, HasTheLayersOfItsMechanismAndNoOthers)
{
	for (const auto &cell : (*json)["cells"]) {
		const std::string target = cell["target"], wait = cell["wait"];
		SCOPED_TRACE(target + " " + wait);
		const std::set<std::string> layers = layers_of(cell);
		// A kernel thread has its messages while the sender sleeps (relay.kernel) or goes on (network); a polling
		// sender makes a call only to wake that thread.
		const bool sent_by_thread = target == "io-uring/sqpoll";
		if (!sent_by_thread) {
			EXPECT_EQ(layers.count("network"), uses_network(target) ? 1u : 0u);
		}
		for (const char *relay : {"relay.user", "relay.kernel"})
			EXPECT_TRUE(sent_by_thread || !layers.count(relay)) << relay;
		EXPECT_TRUE(layers.count("sender.user") && layers.count("receiver.user"));
		if (wait == "spin") {
			for (const char *of_kernel : {"sender.kernel", "receiver.kernel", "wakeup"})
				EXPECT_FALSE(layers.count(of_kernel)) << of_kernel;
			EXPECT_TRUE(layers.count("propagation"));
		} else if ((target != "eventfd" && cell["kind"] == "transport") ||
				   wait ==
					   "block") { // its slot has the message before the call that announces it; a library may need none
			EXPECT_TRUE(layers.count("sender.kernel") || (sent_by_thread && wait == "poll"));
			EXPECT_TRUE(layers.count("receiver.kernel"));
		}
		// The acknowledgement with a message completes an earlier zero-copy send, which wakes the receiver first.
		if (wait == "block" && target != "tcp-zerocopy") {
			EXPECT_TRUE(layers.count("wakeup") && layers.count("runqueue"));
		}
	}
}

TEST_F(EveryTransport, HasAlmostOnlyWholePaths)
{
	for (const auto &cell : (*json)["cells"]) {
		const auto &messages = cell["messages"];
		EXPECT_GT(messages["probed"], 0) << cell["target"];
		EXPECT_GE(messages["complete"].get<double>(), 0.999 * messages["probed"].get<double>())
			<< cell["target"] << " " << cell["wait"] << " " << messages.dump();
		EXPECT_EQ(cell["capture"]["dropped"], 0) << cell["target"];
		EXPECT_EQ(cell["layers_sum_error_ns"], 0) << cell["target"];
	}
}

} // namespace
} // namespace icepath::end_to_end
