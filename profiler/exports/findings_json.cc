// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/findings_json.h"

#include <cmath>

#include "profiler/explain/notices.h"
#include "profiler/explain/trust.h"

namespace icepath::exports {
namespace {

using Json = nlohmann::ordered_json;

// Whole numbers without a decimal point.
Json figure_json(double value)
{
	constexpr double kExact = 9e15;
	return value == std::floor(value) && std::abs(value) < kExact ? Json(static_cast<int64_t>(value)) : Json(value);
}

Json figure_or_null(const std::optional<double> &value) { return value ? figure_json(*value) : Json(nullptr); }

template <size_t kSize, class Enum> std::string_view name_in(const std::array<std::string_view, kSize> &names, Enum one)
{
	return names.at(static_cast<size_t>(one));
}

Json mend_json(explain::Mend mend)
{
	return mend == explain::Mend::None ? Json(nullptr) : Json(name_in(explain::kMendNames, mend));
}

} // namespace

Json finding_json(const explain::Finding &finding, const std::vector<std::string> &keys)
{
	const explain::FindingRow &row = row_of(finding.id);
	Json evidence = Json::object();
	for (const explain::Evidence &one : finding.evidence)
		evidence[std::string(name_of(one.fact))] = std::holds_alternative<double>(one.is)
													   ? figure_json(std::get<double>(one.is))
													   : Json(std::get<std::string>(one.is));
	return {{"id", row.name},
			{"topic", name_in(explain::kTopicNames, row.topic)},
			{"cell", finding.cell ? Json(keys.at(*finding.cell)) : Json(nullptr)},
			{"severity", name_in(explain::kSeverityNames, finding.severity)},
			{"value", figure_or_null(finding.value)},
			{"value_ci95", finding.interval ? Json{finding.interval->low, finding.interval->high} : Json(nullptr)},
			{"limit", figure_or_null(finding.limit)},
			{"evidence", evidence},
			{"remedy", mend_json(finding.mend)},
			{"needed_s", finding.needed_s ? Json(*finding.needed_s) : Json(nullptr)}};
}

Json findings_json(const analysis::RunResult &result, const std::vector<std::string> &keys)
{
	Json json = Json::array();
	if (const auto why = explain::unfinished(result))
		json.push_back(finding_json(*why, keys));
	for (const explain::Finding &finding : explain::notices(result))
		json.push_back(finding_json(finding, keys));
	for (const explain::Trust &trust : explain::trust_in(result))
		for (const explain::Finding &finding : trust.findings)
			json.push_back(finding_json(finding, keys));
	for (const explain::Finding &finding : explain::fitness_findings(result))
		json.push_back(finding_json(finding, keys));
	return json;
}

Json trust_json(const analysis::RunResult &result)
{
	Json json = Json::array();
	for (const explain::Trust &trust : explain::trust_in(result))
		json.push_back({{"topic", name_in(explain::kTopicNames, trust.topic)},
						{"grade", name_of(trust.grade)},
						{"remedy", mend_json(trust.mend)},
						{"needed_s", trust.needed_s ? Json(*trust.needed_s) : Json(nullptr)}});
	return json;
}

} // namespace icepath::exports
