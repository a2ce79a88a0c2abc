// SPDX-License-Identifier: Apache-2.0
// How fast icepath's transports are beside others' tools and beside the least that a round trip can be: ping-pongs of
// 64 B between the same two CPUs, with the same wait, in turns. A round has a segment of each; icepath's comes first in
// one round and last in the next.
//
//   bench-transports [--rounds N | --short] [--cpus A,B] [--only TARGET,...] [--may-halt-only] [--json FILE]
#include <fmt/format.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "cpuset/choose.h"
#include "cpuset/kept_awake.h"
#include "icepath/plugin.h"
#include "profiler/failure.h"
#include "profiler/run/describe.h"
#include "tests/bench/bare_ping_pong.h"
#include "tests/bench/ratio.h"
#include "tests/bench/rivals.h"

namespace icepath::bench {
namespace {

constexpr double kRingAim = 1.3, kSocketAim = 1.05;

struct Rival {
	std::string name, what;
	double aim;
	std::function<RivalReport()> measure;
	std::string version{};
	std::vector<std::pair<double, double>> pairs{}; // round trips of the rival and of icepath, ns
};

// A cell of icepath and what it is measured against.
struct Contest {
	std::string target;
	model::Wait wait;
	uint32_t blocks, trips; // of a segment, beside a first block that warms up; of a block
	std::vector<Rival> rivals;
	bool kept_awake = false; // cpuset::KeptAwake, for icepath and its rivals alike
};

RivalReport report_of(const std::vector<double> &trips_ns) { return {median(trips_ns), trips_ns.size(), ""}; }

std::vector<Contest> contests(CpuPair cpus)
{
	constexpr uint32_t kRingTrips = 100'000, kSocketTrips = 15'000;
	const auto line = [=](Stamps stamps, Carries carries) {
		return [=] { return report_of(cache_line_trips_ns(cpus, kRingTrips, stamps, carries)); };
	};
	std::vector<Contest> all;
	all.push_back({"shm-ring",
				   model::Wait::Spin,
				   5,
				   kRingTrips / 5,
				   {{"line", "a bare cache-line ping-pong, the clock read once for 500 trips", kRingAim,
					 line(Stamps::None, Carries::Number)},
					{"line, stamped around", "the same, the clock read before and after each trip", kRingAim,
					 line(Stamps::AroundTrip, Carries::Number)},
					{"line, stamped alike", "the same, the clock read wherever icepath and shm-ring read it", kRingAim,
					 line(Stamps::AsIcepath, Carries::Number)},
					{"line and message, stamped alike", "the same, with 64 B copied into a second line and out of it",
					 kRingAim, line(Stamps::AsIcepath, Carries::Message)}}});
	all.push_back(
		{"uds-stream",
		 model::Wait::Block,
		 3,
		 kSocketTrips / 3,
		 {{"fio", "fio's net engine, protocol=unix, pingpong=1", kSocketAim, [=] { return fio_over_uds(cpus); }},
		  {"send and recv", "two processes that do nothing else, the clock read around each trip", kSocketAim,
		   [=] { return report_of(uds_trips_ns(cpus, kSocketTrips)); }}}});
	all.push_back(
		{"tcp", model::Wait::Block, 3, kSocketTrips / 3, {{"sockperf", "sockperf ping-pong --tcp", kSocketAim, [=] {
															   return sockperf_over_tcp(cpus);
														   }}}});
	all.push_back({"udp", model::Wait::Block, 3, kSocketTrips / 3, {{"sockperf", "sockperf ping-pong", kSocketAim, [=] {
																		 return sockperf_over_udp(cpus);
																	 }}}});
	// How often a wake meets a halted CPU depends on how soon the next message follows, which isn't the transport's doing.
	for (size_t i = 0, once = all.size(); i < once; i++)
		if (all[i].wait == model::Wait::Block) {
			all.push_back(all[i]);
			all.back().kept_awake = true;
		}
	return all;
}

// A segment of icepath: the median of all blocks of a new cell but the first. Where the shared memory of two sides lies
// makes a tenth of a spinning round trip, so that it has to change from round to round, as it does for the rivals.
double segment(const Contest &contest, const std::vector<targets::Target> &targets, CpuPair cpus)
{
	constexpr uint64_t kMostNs = 2'000'000'000;
	privilege::Helper helper(as_oneself());
	const auto cell =
		open_ping_pong(targets, contest.target, contest.wait, cpus, 0, contest.trips + run::kWarmUp, {}, helper);
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
	return median(std::move(trips));
}

void measure(Rival &rival, double &trip_ns)
{
	const RivalReport report = rival.measure();
	rival.version = report.version;
	trip_ns = report.round_trip_ns;
}

void run_round(Contest &contest, uint32_t round, const std::vector<targets::Target> &targets, CpuPair cpus)
{
	std::vector<double> rivals(contest.rivals.size());
	double own = 0;
	std::optional<cpuset::KeptAwake> awake;
	if (contest.kept_awake && (!awake.emplace().works() || awake->hold()))
		throw Failure(ExitCode::MachineCannot,
					  "cannot keep the CPUs awake by /dev/cpu_dma_latency: root can, where the "
					  "kernel has cpuidle; --may-halt-only leaves these comparisons out");
	if (round % 2 == 0) {
		own = segment(contest, targets, cpus);
		for (size_t i = 0; i < rivals.size(); i++)
			measure(contest.rivals[i], rivals[i]);
	} else {
		for (size_t i = rivals.size(); i-- > 0;)
			measure(contest.rivals[i], rivals[i]);
		own = segment(contest, targets, cpus);
	}
	for (size_t i = 0; i < rivals.size(); i++) {
		contest.rivals[i].pairs.emplace_back(rivals[i], own);
		fmt::print(stderr, "round {} {}{}: {:.2f} us, {} {:.2f} us\n", round + 1, contest.target,
				   contest.kept_awake ? ", kept awake" : "", own / 1e3, contest.rivals[i].name, rivals[i] / 1e3);
	}
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

nlohmann::ordered_json describe(const Contest &contest, const Rival &rival)
{
	const auto ratio = stats::paired_ratio(without_order(rival.pairs));
	if (!ratio)
		throw Failure(ExitCode::Invalid, contest.target + ": no round measured anything");
	std::vector<double> own, others;
	for (const auto &[theirs, ours] : rival.pairs) {
		own.push_back(ours);
		others.push_back(theirs);
	}
	nlohmann::ordered_json json = {{"target", contest.target},
								   {"wait", name(contest.wait)},
								   {"cpus_kept_awake", contest.kept_awake},
								   {"rival", rival.name},
								   {"rival_is", rival.what}};
	if (!rival.version.empty())
		json["rival_version"] = rival.version;
	json.update(as_json(*ratio));
	json["aim"] = rival.aim;
	json["verdict"] = verdict(*ratio, rival.aim);
	json["icepath_round_trip_ns"] = median(own);
	json["rival_round_trip_ns"] = median(others);
	fmt::print("{:<10} {:<10} {} of {} (aim: at most {}): {}\n", contest.target, contest.kept_awake ? "kept awake" : "",
			   as_text(*ratio), rival.name, rival.aim, verdict(*ratio, rival.aim));
	return json;
}

double clock_read_ns()
{
	constexpr uint32_t kReads = 1'000'000;
	const uint64_t begin_ns = icepath_now_ns();
	for (uint32_t i = 0; i < kReads; i++)
		icepath_now_ns();
	return static_cast<double>(icepath_now_ns() - begin_ns) / kReads;
}

// Leaves one of those that come twice.
void shorten(std::vector<Contest> &all)
{
	const auto kept_awake = [](const Contest &contest) { return contest.kept_awake; };
	if (const auto first = std::ranges::find_if(all, kept_awake); first != all.end())
		all.erase(std::remove_if(first + 1, all.end(), kept_awake), all.end());
}

void bench(uint32_t rounds, CpuPair cpus, const std::vector<std::string> &only, bool may_halt_only,
		   const std::string &file)
{
	std::vector<std::string> notices;
	const auto targets = run::describe_targets(notices);
	std::vector<Contest> all = contests(cpus);
	std::erase_if(all, [&](const Contest &contest) {
		return (may_halt_only && contest.kept_awake) ||
			   (!only.empty() && std::find(only.begin(), only.end(), contest.target) == only.end());
	});
	if (rounds == 1)
		shorten(all);
	for (const Contest &contest : all)
		if (contest.wait == model::Wait::Spin && cpus.initiator == cpus.responder)
			throw Failure(ExitCode::Usage,
						  contest.target + " spins and needs two CPUs: on one, leave it out with --only");
	if (all.empty())
		throw Failure(ExitCode::Usage, "--only names no target that is compared: shm-ring, uds-stream, tcp, udp are");
	for (uint32_t round = 0; round < rounds; round++)
		for (Contest &contest : all)
			run_round(contest, round, targets, cpus);
	utsname kernel{};
	uname(&kernel);
	nlohmann::ordered_json json = {
		{"command", "make bench"},
		{"what", "round trip p50 of a 64 B ping-pong, icepath's to the rival's, between the same two CPUs in turns"},
		{"rounds", rounds},
		{"cpus", {cpus.initiator, cpus.responder}},
		{"kernel", kernel.release},
		{"clock_read_ns", clock_read_ns()}};
	for (const Contest &contest : all)
		for (const Rival &rival : contest.rivals)
			json["comparisons"].push_back(describe(contest, rival));
	if (!file.empty())
		std::ofstream(file) << json.dump(2) << "\n";
}

CpuPair cpu_pair(const std::string &option)
{
	const cpuset::Machine machine = cpuset::read_machine(cpuset::read_permission());
	const cpuset::Choice choice = option.empty() ? cpuset::choose_pair(machine) : cpuset::given_cpus(machine, option);
	return {choice.sender, choice.receiver};
}

} // namespace
} // namespace icepath::bench

int main(int argc, char **argv)
{
	CLI::App app("icepath's transports beside others' tools");
	uint32_t rounds = 20;
	std::string cpus, file;
	std::vector<std::string> only;
	auto *of_rounds = app.add_option("--rounds", rounds)->check(CLI::Range(2, 1000));
	bool is_short = false;
	app.add_flag("--short", is_short, "one round, which shows that all of it runs and measures little")
		->excludes(of_rounds);
	app.add_option("--cpus", cpus, "SENDER,RECEIVER; the best pair without it");
	app.add_option("--only", only, "targets, as shm-ring,udp")->delimiter(',');
	bool may_halt_only = false;
	app.add_flag("--may-halt-only", may_halt_only, "leave out what keeps the CPUs awake");
	app.add_option("--json", file);
	CLI11_PARSE(app, argc, argv);
	if (is_short)
		rounds = 1;
	try {
		icepath::bench::bench(rounds, icepath::bench::cpu_pair(cpus), only, may_halt_only, file);
	} catch (const icepath::Failure &failure) {
		fmt::print(stderr, "bench: {}\n", failure.what());
		return static_cast<int>(failure.code());
	}
	return 0;
}
