// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cpuset/choose.h"
#include "cpuset/kept_awake.h"
#include "profiler/failure.h"
#include "tests/bench/ratio.h"
#include "tests/run/alone.h"

namespace icepath::bench {
namespace {

// A segment of icepath: the median, or mean, of all blocks of a new cell but the first. Where the shared memory of two
// sides lies makes a tenth of a spinning round trip, so that it has to change from round to round, as it does for the
// rivals.
double segment(const Contest &contest, const std::vector<targets::Target> &targets, CpuPair cpus,
			   run::Middleware *middleware)
{
	constexpr uint64_t kMostNs = 2'000'000'000;
	privilege::Helper helper(as_oneself());
	const auto cell = open_ping_pong(targets, {contest.target, contest.wait, contest.qos, contest.bytes}, cpus, 0,
									 contest.trips + run::kWarmUp, {}, helper, middleware);
	std::vector<double> trips;
	for (uint32_t i = 0; i <= contest.blocks; i++) {
		run::BlockWish wish;
		wish.number = i + 1;
		wish.count = contest.trips;
		wish.duration_ns = kMostNs;
		const std::vector<double> more = round_trips_ns(run::run_alone(*cell, wish, {}, nullptr));
		if (i > 0)
			trips.insert(trips.end(), more.begin(), more.end());
	}
	return contest.of_means ? mean(trips) : median(std::move(trips));
}

void measure(Rival &rival, double &trip_ns)
{
	const RivalReport report = rival.measure();
	rival.version = report.version;
	trip_ns = report.round_trip_ns;
}

// Whether the aim is reached, as far as the interval can tell.
std::string verdict(const stats::Effect &ratio, double aim)
{
	if (!ratio.interval)
		return "too few rounds";
	if (ratio.interval->high <= aim)
		return "reached";
	return ratio.interval->low > aim ? "missed" : "open";
}

} // namespace

void run_round(Contest &contest, uint32_t round, const std::vector<targets::Target> &targets, CpuPair cpus,
			   run::Middleware *middleware)
{
	std::vector<double> rivals(contest.rivals.size());
	double own = 0;
	std::optional<cpuset::KeptAwake> awake;
	if (contest.kept_awake && (!awake.emplace().works() || awake->hold()))
		throw Failure(ExitCode::MachineCannot,
					  "cannot keep the CPUs awake by /dev/cpu_dma_latency: root can, where the "
					  "kernel has cpuidle; --help tells how to do without");
	bool counts = true;
	if (contest.in_one_state || round % 2 == 0) {
		own = segment(contest, targets, cpus, middleware);
		for (size_t i = 0; i < rivals.size(); i++)
			measure(contest.rivals[i], rivals[i]);
	} else {
		for (size_t i = rivals.size(); i-- > 0;)
			measure(contest.rivals[i], rivals[i]);
		own = segment(contest, targets, cpus, middleware);
	}
	if (contest.in_one_state) {
		const double again = segment(contest, targets, cpus, middleware);
		counts = std::max(own, again) <= kSameState * std::min(own, again);
		own = std::sqrt(own * again);
	}
	contest.left_out += !counts;
	for (size_t i = 0; i < rivals.size(); i++) {
		if (counts)
			contest.rivals[i].pairs.emplace_back(rivals[i], own);
		fmt::print(stderr, "round {} {} {}{}: {:.2f} us, {} {:.2f} us{}\n", round + 1, contest.target,
				   name(contest.wait), contest.kept_awake ? ", kept awake" : "", own / 1e3, contest.rivals[i].name,
				   rivals[i] / 1e3, counts ? "" : ": left out");
	}
}

nlohmann::ordered_json describe(const Contest &contest, const Rival &rival)
{
	const auto ratio = paired_ratio(without_order(rival.pairs));
	if (!ratio)
		throw Failure(ExitCode::Invalid, contest.target + ": no round measured anything");
	std::vector<double> own, others;
	for (const auto &[theirs, ours] : rival.pairs) {
		own.push_back(ours);
		others.push_back(theirs);
	}
	nlohmann::ordered_json json = {{"target", contest.target},
								   {"wait", name(contest.wait)},
								   {"bytes", contest.bytes},
								   {"of", contest.of_means ? "means" : "medians"},
								   {"cpus_kept_awake", contest.kept_awake},
								   {"rival", rival.name},
								   {"rival_is", rival.what}};
	if (!rival.version.empty())
		json["rival_version"] = rival.version;
	json.update(as_json(*ratio));
	if (contest.in_one_state)
		json["rounds_left_out"] = contest.left_out;
	json["aim"] = rival.aim;
	json["verdict"] = verdict(*ratio, rival.aim);
	json["icepath_round_trip_ns"] = median(own);
	json["rival_round_trip_ns"] = median(others);
	fmt::print("{:<17} {:<8} {:<10} {} of {} (aim: at most {}): {}\n", contest.target, name(contest.wait),
			   contest.kept_awake ? "kept awake" : "", as_text(*ratio), rival.name, rival.aim,
			   verdict(*ratio, rival.aim));
	return json;
}

CpuPair pair_of(const std::string &cpus)
{
	const cpuset::Machine machine = cpuset::read_machine(cpuset::read_permission());
	const cpuset::Choice choice = cpus.empty() ? cpuset::choose_pair(machine) : cpuset::given_cpus(machine, cpus);
	return {choice.sender, choice.receiver};
}

} // namespace icepath::bench
