// SPDX-License-Identifier: Apache-2.0
// Quality of service as a user requests it: the resulting cells, and what the libraries report as granted.
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <string>

#include "tests/end_to_end/command.h"

namespace icepath::end_to_end {
namespace {

TEST(QualityOfService, IsAFactorAndToldAsItWasGranted)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	const Outcome outcome = run({icepath_program(), "run", "-t", "fastdds/udp,cyclonedds/udp,pipe", "--qos",
								 "reliability=reliable,best-effort", "--qos", "depth=3", "--qos", "lifespan=700ms",
								 "-s", "64", "--patterns", "pingpong", "-d", "4", "-o", "out"},
								folder.path());
	ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
	const auto json = read_json(folder.path() / "out/run.json");
	std::set<std::string> cells;
	for (const auto &cell : json["cells"]) {
		const auto &asked = cell["qos"]["asked"], &granted = cell["qos"]["granted"];
		SCOPED_TRACE(cell["target"].get<std::string>() + " " + asked.dump() + " " + granted.dump());
		EXPECT_GT(cell["messages"]["received"], 0);
		cells.insert(cell["target"].get<std::string>() + " " +
					 (asked["reliability"].is_null() ? "-" : asked["reliability"].get<std::string>()));
		if (cell["target"] == "pipe") {
			for (const auto &qos : {asked, granted})
				EXPECT_TRUE(std::ranges::all_of(qos, [](const auto &value) { return value.is_null(); }));
			continue;
		}
		for (const auto &[policy, value] : asked.items())
			if (!value.is_null()) {
				EXPECT_EQ(granted[policy], value) << policy;
			}
		EXPECT_EQ(asked["history"], "keep-last") << "whose depth is asked for";
		EXPECT_EQ(asked["depth"], 3);
		EXPECT_EQ(asked["lifespan_ns"], "700000000");
		EXPECT_EQ(granted["durability"], "volatile") << "what wasn't asked for is told as well";
		EXPECT_EQ(granted["deadline_ns"], "infinite");
	}
	EXPECT_EQ(cells, (std::set<std::string>{"pipe -", "fastdds/udp reliable", "fastdds/udp best-effort",
											"cyclonedds/udp reliable", "cyclonedds/udp best-effort"}));
	EXPECT_NE(outcome.out.find("fastdds/udp best-effort keep-last depth 3 lifespan 700ms"), std::string::npos)
		<< outcome.out;
	const Outcome all = run({icepath_program(), "report", "-v", "out"}, folder.path());
	EXPECT_NE(all.out.find("quality of service that was granted"), std::string::npos) << all.out;
	EXPECT_EQ(all.out.find("wasn't granted"), std::string::npos);
	EXPECT_NE(all.out.find("pipe has no reliability: measured without it"), std::string::npos);
}

} // namespace
} // namespace icepath::end_to_end
