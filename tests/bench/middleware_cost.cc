// SPDX-License-Identifier: Apache-2.0
// How fast icepath's cells of middleware are beside the libraries' own benchmarks: contest.h, own_benchmarks.h.
//
//   bench-middleware [--rounds N | --short] [--only LIBRARY|TARGET,...] [--iceperf FOLDER] [--latency-test PROGRAM]
//                    [--zenoh-examples FOLDER] [--cpus A,B] [--may-halt] [--json FILE]
#include <fmt/format.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "middleware_adapters/cyclonedds/udp_config.h"
#include "profiler/failure.h"
#include "profiler/run/describe.h"
#include "tests/bench/contest.h"
#include "tests/bench/own_benchmarks.h"

namespace icepath::bench {
namespace {

constexpr double kAim = 1.05;

struct Options {
	uint32_t rounds = 20;
	std::vector<std::string> only; // libraries, or targets of theirs; empty: all
	std::string iceperf; // folder; empty: it isn't compared with
	std::string latency_test; // program; likewise
	std::string zenoh_examples; // folder; likewise
	bool may_halt = false;
	std::string file;
};

void keep_last(Contest &contest)
{
	contest.qos[ICEPATH_QOS_HISTORY] = {ICEPATH_KEEP_LAST};
	contest.qos[ICEPATH_QOS_DEPTH] = {1};
}

void add_cyclonedds(std::vector<Contest> &all, const Place &place)
{
	const std::string config = plugin_kit::cyclone_by_udp(0);
	for (const auto &[wait, mode, word] : {std::tuple(model::Wait::Epoll, DdsMode::Waitset, "waitset"),
										   std::tuple(model::Wait::Callback, DdsMode::Listener, "listener")}) {
		Contest one{"cyclonedds/udp", wait, 3, 5000, {}};
		one.rivals.push_back({"ddsperf", fmt::format("ddsperf -D 3 ping size 64 {0}, beside ddsperf pong {0}", word),
							  kAim, [=] { return ddsperf(place, mode, config); }});
		keep_last(one);
		all.push_back(one);
	}
}

void add_iceoryx(std::vector<Contest> &all, const Place &place, const std::string &folder)
{
	Contest one{"iceoryx", model::Wait::Spin, 4, 20000, {}};
	one.bytes = kIceperfBytes;
	one.of_means = true;
	one.rivals.push_back({"iceperf",
						  "iceperf-bench-leader -b latency -t iceoryx-cpp-api -n 20000, its row of 1 kB, beside "
						  "iceperf-bench-follower",
						  kAim, [=] { return iceperf(place, folder); }});
	one.qos[ICEPATH_QOS_RELIABILITY] = {ICEPATH_BEST_EFFORT}; // a full queue drops messages, as its own does
	one.qos[ICEPATH_QOS_DEPTH] = {1};
	all.push_back(one);
}

void add_fastdds(std::vector<Contest> &all, const Place &place, const std::string &program)
{
	for (const auto &[target, transport, word] : {std::tuple("fastdds/udp", FastTransport::Udp, "off"),
												  std::tuple("fastdds/shm", FastTransport::SharedMemory, "on")}) {
		Contest one{target, model::Wait::Callback, 3, 5000, {}};
		one.rivals.push_back(
			{"LatencyTest",
			 fmt::format("LatencyTest publisher --reliability=reliable --samples=20000 --shared_memory={} "
						 "--data_sharing=off, beside LatencyTest subscriber",
						 word),
			 kAim, [=] { return latency_test(place, transport, program); }});
		keep_last(one);
		all.push_back(one);
	}
}

void add_zenoh(std::vector<Contest> &all, const Place &place, const std::string &folder)
{
	for (const auto &[target, express, word] :
		 {std::tuple("zenoh/tcp", false, " --no-express"), std::tuple("zenoh/tcp-express", true, "")})
		for (const model::Wait wait : {model::Wait::Callback, model::Wait::Block}) {
			Contest one{target, wait, 3, 5000, {}};
			one.rivals.push_back({"z_ping", fmt::format("z_ping{0} -n 20000 64, beside z_pong{0}", word), kAim,
								  [=] { return z_ping(place, express, folder); }});
			all.push_back(one);
		}
}

std::vector<Contest> contests(const Place &place, const Options &options)
{
	const auto is_of = [](const std::string &target, const std::string &library) {
		return target == library || target.starts_with(library + "/");
	};
	const auto wanted = [&](const char *library) {
		return options.only.empty() ||
			   std::ranges::any_of(options.only, [&](const std::string &one) { return is_of(one, library); });
	};
	std::vector<Contest> all;
	if (wanted("cyclonedds"))
		add_cyclonedds(all, place);
	if (wanted("iceoryx") && !options.iceperf.empty())
		add_iceoryx(all, place, options.iceperf);
	if (wanted("fastdds") && !options.latency_test.empty())
		add_fastdds(all, place, options.latency_test);
	if (wanted("zenoh") && !options.zenoh_examples.empty())
		add_zenoh(all, place, options.zenoh_examples);
	if (!options.only.empty())
		std::erase_if(all, [&](const Contest &contest) {
			return std::ranges::none_of(options.only,
										[&](const std::string &one) { return is_of(contest.target, one); });
		});
	if (all.empty())
		throw Failure(ExitCode::Usage, "nothing to compare: iceoryx takes --iceperf, fastdds --latency-test, zenoh "
									   "--zenoh-examples");
	for (Contest &one : all) {
		one.kept_awake = !options.may_halt;
		one.in_one_state = options.rounds > 1;
	}
	return all;
}

// Those of the rivals' programs, which may lie where the space has folders of its own.
std::vector<std::string> folders_of(const Options &options)
{
	std::vector<std::string> folders;
	for (const std::string &folder : {options.iceperf, options.zenoh_examples})
		if (!folder.empty())
			folders.push_back(folder);
	if (!options.latency_test.empty())
		folders.push_back(std::filesystem::path(options.latency_test).parent_path());
	return folders;
}

void bench(const Options &options, CpuPair cpus)
{
	std::vector<std::string> notices;
	const auto targets = run::describe_targets(notices);
	const run::MiddlewareSpace space(folders_of(options)); // of the rivals
	run::Middleware middleware; // of icepath's cells
	std::vector<Contest> all = contests({space, cpus}, options);
	for (uint32_t round = 0; round < options.rounds; round++)
		for (Contest &contest : all)
			run_round(contest, round, targets, cpus, &middleware);
	utsname kernel{};
	uname(&kernel);
	nlohmann::ordered_json json = {
		{"command", "make bench"},
		{"what",
		 "round trip of a ping-pong, p50 or mean, icepath's to that of the library's own benchmark, between the same "
		 "two CPUs, with the same quality of service. icepath is measured before and after the other, and a round "
		 "counts if both took as long, by a factor of 1.3"},
		{"rounds", options.rounds},
		{"cpus", {cpus.initiator, cpus.responder}},
		{"kernel", kernel.release}};
	for (const Contest &contest : all)
		for (const Rival &rival : contest.rivals)
			json["comparisons"].push_back(describe(contest, rival));
	if (!options.file.empty())
		std::ofstream(options.file) << json.dump(2) << "\n";
}

} // namespace
} // namespace icepath::bench

int main(int argc, char **argv)
{
	CLI::App app("icepath's cells of middleware beside the libraries' own benchmarks");
	icepath::bench::Options options;
	std::string cpus;
	auto *of_rounds = app.add_option("--rounds", options.rounds)->check(CLI::Range(2, 1000));
	bool is_short = false;
	app.add_flag("--short", is_short, "one round, which shows that all of it runs and measures little")
		->excludes(of_rounds);
	app.add_option("--only", options.only,
				   "libraries (cyclonedds, iceoryx, fastdds, zenoh), or targets of theirs (fastdds/shm)")
		->delimiter(',');
	app.add_option("--iceperf", options.iceperf,
				   "iceoryx's benchmark: the folder of iceperf-bench-leader and iceperf-bench-follower; not compared "
				   "without it")
		->check(CLI::ExistingDirectory);
	app.add_option("--latency-test", options.latency_test, "Fast DDS's benchmark: the program LatencyTest; likewise")
		->check(CLI::ExistingFile);
	app.add_option("--zenoh-examples", options.zenoh_examples,
				   "Zenoh's benchmark: the folder of z_ping and z_pong; likewise")
		->check(CLI::ExistingDirectory);
	app.add_option("--cpus", cpus, "SENDER,RECEIVER; the best pair without it");
	app.add_flag("--may-halt", options.may_halt, "don't keep the CPUs awake");
	app.add_option("--json", options.file);
	CLI11_PARSE(app, argc, argv);
	if (is_short)
		options.rounds = 1;
	for (std::string *path : {&options.iceperf, &options.latency_test, &options.zenoh_examples})
		if (!path->empty())
			*path = std::filesystem::canonical(*path);
	try {
		icepath::bench::bench(options, icepath::bench::pair_of(cpus));
	} catch (const icepath::Failure &failure) {
		fmt::print(stderr, "bench: {}\n", failure.what());
		return static_cast<int>(failure.code());
	}
	return 0;
}
