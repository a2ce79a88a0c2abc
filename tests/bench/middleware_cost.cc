// SPDX-License-Identifier: Apache-2.0
// How fast icepath's cells of middleware are beside the libraries' own benchmarks, in a network of their own: contest.h.
//
//   bench-middleware [--rounds N | --short] [--cpus A,B] [--may-halt] [--json FILE]
#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "middleware_adapters/cyclonedds/udp_config.h"
#include "profiler/failure.h"
#include "profiler/privilege/own_space.h"
#include "profiler/run/describe.h"
#include "tests/bench/contest.h"

namespace icepath::bench {
namespace {

constexpr double kAim = 1.05;

std::vector<Contest> contests(CpuPair cpus, bool may_halt, bool in_one_state)
{
	const std::string config = plugin_kit::cyclone_by_udp(0);
	std::vector<Contest> all;
	for (const auto &[wait, mode, word] : {std::tuple(model::Wait::Epoll, DdsMode::Waitset, "waitset"),
										   std::tuple(model::Wait::Callback, DdsMode::Listener, "listener")}) {
		Contest one{"cyclonedds/udp", wait, 3, 5000, {}};
		one.rivals.push_back({"ddsperf", fmt::format("ddsperf -D 3 ping size 64 {0}, beside ddsperf pong {0}", word),
							  kAim, [=] { return ddsperf(cpus, mode, config); }});
		one.kept_awake = !may_halt;
		one.in_one_state = in_one_state;
		one.qos[ICEPATH_QOS_HISTORY] = {ICEPATH_KEEP_LAST}; // as ddsperf has it
		one.qos[ICEPATH_QOS_DEPTH] = {1};
		all.push_back(one);
	}
	return all;
}

// Discovery stays there. Throws Failure.
void enter_own_network()
{
	if (unshare(CLONE_NEWNET))
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("cannot make a network namespace: {}; root can", std::strerror(errno)));
	try {
		privilege::raise_loopback();
	} catch (const privilege::Refused &refused) {
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("cannot raise the loopback device: {}: {}", refused.refusal().what,
								  std::strerror(refused.refusal().error)));
	}
}

void bench(uint32_t rounds, CpuPair cpus, bool may_halt, const std::string &file)
{
	enter_own_network();
	std::vector<std::string> notices;
	const auto targets = run::describe_targets(notices);
	std::vector<Contest> all = contests(cpus, may_halt, rounds > 1);
	for (uint32_t round = 0; round < rounds; round++)
		for (Contest &contest : all)
			run_round(contest, round, targets, cpus);
	utsname kernel{};
	uname(&kernel);
	nlohmann::ordered_json json = {
		{"command", "make bench"},
		{"what",
		 "round trip p50 of a 64 B ping-pong, icepath's to that of the library's own benchmark, between the same two "
		 "CPUs, "
		 "with the same quality of service. icepath is measured before and after the other, and a round counts if both "
		 "took as long, by a factor of 1.3"},
		{"rounds", rounds},
		{"cpus", {cpus.initiator, cpus.responder}},
		{"kernel", kernel.release}};
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
	CLI::App app("icepath's cells of middleware beside the libraries' own benchmarks");
	uint32_t rounds = 20;
	std::string cpus, file;
	auto *of_rounds = app.add_option("--rounds", rounds)->check(CLI::Range(2, 1000));
	bool is_short = false, may_halt = false;
	app.add_flag("--short", is_short, "one round, which shows that all of it runs and measures little")
		->excludes(of_rounds);
	app.add_option("--cpus", cpus, "SENDER,RECEIVER; the best pair without it");
	app.add_flag("--may-halt", may_halt, "don't keep the CPUs awake");
	app.add_option("--json", file);
	CLI11_PARSE(app, argc, argv);
	if (is_short)
		rounds = 1;
	try {
		icepath::bench::bench(rounds, icepath::bench::pair_of(cpus), may_halt, file);
	} catch (const icepath::Failure &failure) {
		fmt::print(stderr, "bench: {}\n", failure.what());
		return static_cast<int>(failure.code());
	}
	return 0;
}
