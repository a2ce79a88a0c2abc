// SPDX-License-Identifier: Apache-2.0
// Findings in run.json: their ids are those of its schema, and they say what the run shows without a sentence.
#include "profiler/analysis/analyse.h"
#include "profiler/exports/findings_json.h"

#include <fstream>
#include <gtest/gtest.h>
#include <set>

#include "profiler/explain/notices.h"
#include "profiler/explain/remedies.h"
#include "profiler/explain/trust.h"
#include "tests/folders.h"
#include "tests/report/schema_check.h"
#include "tests/report/small_run_json.h"

namespace icepath::exports {
namespace {

using nlohmann::json;

json run_schema() { return json::parse(std::ifstream(test::in_source("docs/run-schema.json"))); }

std::set<std::string> texts_of(const json &list)
{
	std::set<std::string> texts;
	for (const json &one : list)
		if (one.is_string())
			texts.insert(one.get<std::string>());
	return texts;
}

template <size_t kSize> std::set<std::string> texts_of(const std::array<std::string_view, kSize> &names)
{
	return {names.begin(), names.end()};
}

// A consumer rests on what the schema lists, so neither has an id that the other lacks.
TEST(FindingsJson, HasTheIdsAndWordsOfItsSchema)
{
	const json listed = run_schema();
	std::set<std::string> ids, refusals;
	for (size_t i = 0; i < explain::kFindingIds; ++i) {
		const explain::FindingRow &row = row_of(static_cast<explain::FindingId>(i));
		(row.topic == explain::Topic::Explanation ? refusals : ids).insert(std::string(row.name));
	}
	EXPECT_EQ(ids.size() + refusals.size(), explain::kFindingIds) << "each has a name of its own";
	const json of_explain = json::parse(std::ifstream(test::in_source("docs/explain-schema.json")));
	EXPECT_EQ(texts_of(of_explain["$defs"]["refusal_id"]["enum"]), refusals);
	EXPECT_EQ(texts_of(listed["$defs"]["finding_id"]["enum"]), ids);
	const json &next = of_explain["$defs"]["next"]["items"]["properties"];
	EXPECT_EQ(texts_of(next["cause"]["enum"]), texts_of(explain::kRemedyNames));
	EXPECT_EQ(texts_of(next["ways"]["items"]["enum"]), texts_of(explain::kWayNames));
	EXPECT_EQ(texts_of(of_explain["$defs"]["cause"]["properties"]["origin"]["enum"]), texts_of(analysis::kOriginIds));
	std::set<std::string> mends = texts_of(explain::kMendNames);
	mends.erase("none"); // null
	EXPECT_EQ(texts_of(listed["$defs"]["remedy"]["enum"]), mends);
	const json &finding = listed["properties"]["findings"]["items"]["properties"];
	std::set<std::string> topics = texts_of(explain::kTopicNames);
	topics.erase("explanation");
	EXPECT_EQ(texts_of(finding["topic"]["enum"]), topics);
	EXPECT_EQ(texts_of(finding["severity"]["enum"]), texts_of(explain::kSeverityNames));
	std::set<std::string> facts;
	for (const auto &[name, unused] : finding["evidence"]["properties"].items())
		facts.insert(name);
	std::set<std::string> fact_names;
	for (const explain::FactRow &row : explain::kFacts)
		fact_names.insert(std::string(row.name));
	EXPECT_EQ(facts, fact_names);
	EXPECT_EQ(texts_of(listed["properties"]["trust"]["items"]["properties"]["grade"]["enum"]),
			  texts_of(explain::kGradeNames));
}

using FindingsOfARun = SmallRunJson;

TEST_F(FindingsOfARun, SayWhichCellAndByWhichFigures)
{
	write_small_run(run, true, kEnoughRounds);
	analysis::RunResult result = analysis::analyse(run);
	result.cells[1].messages.lost = 7;
	result.cells[1].messages.sent = 100;
	const json told = run_json(result);
	EXPECT_EQ(schema_complaints(run_schema(), told), std::vector<std::string>());
	const auto finding = [&](const std::string &id) {
		const auto at = std::ranges::find_if(told["findings"], [&](const json &one) { return one["id"] == id; });
		return at == told["findings"].end() ? json() : *at;
	};
	EXPECT_EQ(finding("lost_messages"), (json{{"id", "lost_messages"},
											  {"topic", "reading"},
											  {"cell", told["cells"][1]["key"]},
											  {"severity", "flaw"},
											  {"value", 7},
											  {"value_ci95", nullptr},
											  {"limit", nullptr},
											  {"evidence", {{"of", 100}, {"may_lose", 0}}},
											  {"remedy", nullptr},
											  {"needed_s", nullptr}}));
	EXPECT_EQ(finding("lost_where_none_may_be")["value"], 7);
	EXPECT_EQ(finding("nothing_lost"), json());
	EXPECT_EQ(told["trust"][3],
			  (json{{"topic", "completeness"}, {"grade", "flawed"}, {"remedy", "full_report"}, {"needed_s", nullptr}}));
	result.cells[1].cell.traits = {model::Trait::Lossy};
	EXPECT_EQ(run_json(result)["trust"][3]["grade"], "lost");
	EXPECT_EQ(explain::notices(result).front().severity, explain::Severity::Note) << "it may lose some";
}

TEST_F(FindingsOfARun, SayHowItEnded)
{
	write_small_run(run, true, kEnoughRounds);
	analysis::RunResult result = analysis::analyse(run);
	EXPECT_FALSE(explain::unfinished(result));
	result.tail->interrupted = true;
	EXPECT_EQ(run_json(result)["findings"][0]["id"], "run_interrupted");
	result.tail.reset();
	EXPECT_EQ(run_json(result)["findings"][0]["id"], "run_unfinished");
}

} // namespace
} // namespace icepath::exports
