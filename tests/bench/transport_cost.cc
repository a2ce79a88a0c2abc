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
#include <nlohmann/json.hpp>

#include "icepath/plugin.h"
#include "profiler/failure.h"
#include "profiler/run/describe.h"
#include "tests/bench/bare_ping_pong.h"
#include "tests/bench/contest.h"

namespace icepath::bench {
namespace {

constexpr double kRingAim = 1.3, kSocketAim = 1.05;

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
	// How often a wake meets a halted CPU depends on how soon the next message follows, which isn't the transport's
	// doing.
	for (size_t i = 0, once = all.size(); i < once; i++)
		if (all[i].wait == model::Wait::Block) {
			all.push_back(all[i]);
			all.back().kept_awake = true;
		}
	return all;
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
		icepath::bench::bench(rounds, icepath::bench::pair_of(cpus), only, may_halt_only, file);
	} catch (const icepath::Failure &failure) {
		fmt::print(stderr, "bench: {}\n", failure.what());
		return static_cast<int>(failure.code());
	}
	return 0;
}
