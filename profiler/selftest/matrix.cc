// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace icepath::selftest {
namespace {

constexpr size_t kFewestPairs = 6; // with fewer, medians have no interval

double layer_ns(const BlockMeans &means, size_t layer)
{
	return std::reduce(means.layers_ns[layer].begin(), means.layers_ns[layer].end());
}

double in_place_ns(const BlockMeans &means, size_t layer, const Injection &injection)
{
	double sum = 0;
	for (size_t part = 0; part < model::kPartCount; part++)
		if (lands_in(injection, static_cast<model::Layer>(layer), static_cast<model::Part>(part)))
			sum += means.layers_ns[layer][part];
	return sum;
}

double all_in_place_ns(const BlockMeans &means, const Injection &injection)
{
	double sum = 0;
	for (size_t layer = 0; layer < model::kLayerCount; layer++)
		sum += in_place_ns(means, layer, injection);
	return sum;
}

double added_ns(const BlockPair &pair) { return pair.with.latency_ns - pair.without.latency_ns; }

// A share, by `of`, of the time that each pair added: the median over pairs, so that a disturbed block doesn't decide.
stats::Middle share_of(const std::vector<BlockPair> &pairs, const std::function<double(const BlockMeans &)> &of)
{
	std::vector<double> shares;
	for (const BlockPair &pair : pairs)
		if (added_ns(pair) != 0)
			shares.push_back((of(pair.with) - of(pair.without)) / added_ns(pair));
	return shares.empty() ? stats::Middle{} : stats::middle_of(shares);
}

bool is_below(const stats::Middle &share, double limit) { return share.interval && share.interval->high < limit; }
bool is_above(const stats::Middle &share, double limit) { return share.interval && share.interval->low > limit; }

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

void judge(Row &row)
{
	bool is_off = false, is_proved = false;
	const auto add = [&](const std::string &what, bool proved) {
		row.why += (row.why.empty() ? "" : "; ") + what;
		is_off = true;
		is_proved |= proved;
	};
	if (row.in_place->median < kLeastInPlace)
		add(fmt::format("{} of it in {}", percent(row.in_place->median), text_of(row.injection->lands)),
			is_below(*row.in_place, kLeastInPlace));
	for (size_t layer = 0; layer < model::kLayerCount; layer++)
		if (row.elsewhere[layer]->median > kMostElsewhere)
			add(fmt::format("{} in {}{}", percent(row.elsewhere[layer]->median),
							model::name(static_cast<model::Layer>(layer)),
							row.elsewhere[layer]->median < row.layers[layer]->median ? " besides" : ""),
				is_above(*row.elsewhere[layer], kMostElsewhere));
	row.verdict = is_proved ? Verdict::Strays : is_off ? Verdict::Undecided : Verdict::Lands;
}

// The verdict of a row with figures.
void decide(Row &row)
{
	if (row.contradicted.value_or(0) > 0) {
		row.verdict = Verdict::Strays;
		row.why = fmt::format("{} complete paths that the relay's own stamps contradict", *row.contradicted);
	} else if (row.pairs < kFewestPairs) {
		row.why = fmt::format("{} pairs of blocks are too few: measure longer (-d)", row.pairs);
	} else if (!is_above(*row.added_ns, 0)) {
		const char *why_nothing = row.injection->why_nothing;
		row.why = fmt::format("it added nothing significant{}{}", *why_nothing ? ": " : "", why_nothing);
		if (*why_nothing)
			row.verdict = Verdict::NotInjected;
	} else if (row.known < kLeastKnown) {
		row.why = fmt::format("only {} of the affected messages have a complete path", percent(row.known));
	} else {
		judge(row);
	}
}

} // namespace

Row row_of(const Injection &injection, const std::vector<BlockPair> &pairs)
{
	Row row;
	row.injection = &injection;
	row.pairs = pairs.size();
	if (pairs.empty()) {
		row.why = "no pair of blocks has enough complete paths";
		return row;
	}
	std::vector<double> added;
	uint64_t complete = 0, messages = 0, contradicted = 0;
	double landed = 0, named = 0;
	for (const BlockPair &pair : pairs) {
		added.push_back(added_ns(pair));
		complete += pair.with.complete;
		messages += pair.with.messages;
		contradicted += pair.without.contradicted + pair.with.contradicted;
		landed += all_in_place_ns(pair.with, injection);
		named += pair.with.named_ns;
	}
	row.added_ns = stats::middle_of(added);
	row.known = static_cast<double>(complete) / static_cast<double>(messages);
	row.in_place = share_of(pairs, [&](const BlockMeans &means) { return all_in_place_ns(means, injection); });
	for (size_t layer = 0; layer < model::kLayerCount; layer++) {
		row.layers[layer] = share_of(pairs, [&](const BlockMeans &means) { return layer_ns(means, layer); });
		row.elsewhere[layer] = share_of(pairs, [&](const BlockMeans &means) {
			return layer_ns(means, layer) - in_place_ns(means, layer, injection);
		});
	}
	if (*injection.culprit && landed > 0)
		row.named = named / landed;
	if (injection.stamped_relay)
		row.contradicted = contradicted;
	decide(row);
	return row;
}

namespace {

Row without_figures(const Injection &injection, Verdict verdict, const std::string &why)
{
	Row row;
	row.injection = &injection;
	row.verdict = verdict;
	row.why = why;
	return row;
}

} // namespace

Row not_injected(const Injection &injection, const std::string &why)
{
	return without_figures(injection, Verdict::NotInjected, why);
}

Row not_judged(const Injection &injection, const std::string &why)
{
	return without_figures(injection, Verdict::NotJudged, why);
}

ExitCode exit_code(const std::vector<Row> &matrix)
{
	const auto are = [&](Verdict verdict) { return std::ranges::count(matrix, verdict, &Row::verdict); };
	if (are(Verdict::Strays) + are(Verdict::Undecided) > 0)
		return ExitCode::TargetMissed;
	return are(Verdict::Lands) > 0 ? ExitCode::Ok : ExitCode::MachineCannot;
}

} // namespace icepath::selftest
