// SPDX-License-Identifier: Apache-2.0
// What the capture costs: a blocking 64 B ping-pong over a UNIX socket, both sides on one CPU, with nothing attached,
// with icepath's capture as `run` uses it, and with other tracers, each in the forms that its users know
// (tracer_kinds()). All take turns in one go, and every figure is a ratio of a segment to the bare ones around it.
//
//   bench-capture-cost [--rounds N | --short] [--cpu N] [--json FILE]
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "cpuset/topology.h"
#include "profiler/failure.h"
#include "profiler/run/describe.h"
#include "profiler/run/live_cell.h"
#include "profiler/stats/paired_blocks.h"
#include "tests/bench/child_program.h"
#include "tests/bench/external_tracer.h"
#include "tests/bench/ratio.h"
#include "tests/bench/round_trips.h"
#include "tests/run/alone.h"

namespace icepath::bench {
namespace {

constexpr uint32_t kTrips = 2000;

struct Extent {
	uint32_t rounds, blocks_per_segment;
};

class Bench {
public:
	Bench(uint32_t cpu, uint32_t blocks_per_segment)
		: cpu_(cpu), blocks_per_segment_(blocks_per_segment), helper_(as_oneself())
	{
		enter_tracing_namespace(); // after the helper was forked: it needs none
		std::vector<std::string> notices;
		const auto targets = run::describe_targets(notices);
		auto loaded = helper_.load({cpu}, 1u << 16);
		slots_ = privilege::SlotsView(loaded, {cpu});
		cell_ = open_ping_pong(targets, {"uds-stream"}, {cpu, cpu}, 0, kTrips + 64, slots_, helper_);
	}

	double bare() { return segment(false); }

	double with_icepath()
	{
		helper_.attach(capture::needed_by(cell_->cell()));
		const double result = segment(true);
		helper_.attach(0);
		return result;
	}

	double with(const TracerKind &kind)
	{
		const std::unique_ptr<ExternalTracer> tracer = kind.start(kind.command, traced());
		return segment_under(*tracer, kind.name);
	}

	Traced traced() const { return {cell_->tids(), cpu_}; }

	// What one probe hit costs, from the kernel's own accounting, which adds a few tens of ns of its own to each; and
	// how many of them, and records, a round trip takes.
	nlohmann::ordered_json floor()
	{
		const int enabled = bpf_enable_stats(BPF_STATS_RUN_TIME);
		if (enabled < 0)
			throw Failure(ExitCode::MachineCannot, "the kernel doesn't account for BPF run time (BPF_ENABLE_STATS)");
		const auto before = run_times();
		helper_.attach(capture::needed_by(cell_->cell()));
		model::Block block = run_block(true);
		helper_.attach(0);
		const auto after = run_times();
		close(enabled);
		uint64_t records = 0;
		for (const model::SlotCapture &slot : block.window->slots)
			records += slot.position;
		const auto trips = static_cast<double>(block.flows[1].recvs.size());
		double hits = 0, ns = 0;
		nlohmann::ordered_json probes = nlohmann::ordered_json::object();
		for (const auto &[tracepoint, cost] : after) {
			const auto earlier = before.find(tracepoint);
			const RunTime none, &then = earlier == before.end() ? none : earlier->second;
			const auto probe_hits = static_cast<double>(cost.hits - then.hits),
					   probe_ns = static_cast<double>(cost.ns - then.ns);
			if (probe_hits == 0)
				continue;
			probes[tracepoint] = {{"hits_per_round_trip", probe_hits / trips}, {"ns_per_hit", probe_ns / probe_hits}};
			hits += probe_hits;
			ns += probe_ns;
		}
		return {{"probe_hits_per_round_trip", hits / trips},
				{"ns_per_probe_hit", ns / hits},
				{"records_per_round_trip", static_cast<double>(records) / trips},
				{"floor_ns_per_round_trip", ns / trips},
				{"probes", probes}};
	}

private:
	model::Block run_block(bool probed)
	{
		run::BlockWish wish;
		wish.number = ++blocks_;
		wish.count = kTrips;
		wish.duration_ns = 2'000'000'000;
		wish.probed = probed;
		return run::run_alone(*cell_, wish, slots_, &helper_);
	}

	double segment_under(ExternalTracer &tracer, const std::string &name)
	{
		constexpr std::chrono::milliseconds kLookEvery(20), kMost(30'000);
		for (auto waited = kLookEvery; !tracer.recording(); waited += kLookEvery) {
			if (waited > kMost)
				throw Failure(ExitCode::MachineCannot, name + " doesn't begin to record");
			std::this_thread::sleep_for(kLookEvery);
		}
		const double result = segment(false);
		const uint64_t trips = uint64_t{blocks_per_segment_} * kTrips, events = tracer.end();
		if (events < trips) // it would seem to cost nothing
			throw Failure(ExitCode::Invalid,
						  fmt::format("{} tells of {} events in {} round trips", name, events, trips));
		return result;
	}

	double segment(bool probed)
	{
		std::vector<double> blocks;
		for (uint32_t i = 0; i < blocks_per_segment_; i++)
			blocks.push_back(median(round_trips_ns(run_block(probed))));
		return median(blocks);
	}

	struct RunTime {
		uint64_t ns = 0, hits = 0;
	};

	// Of every program of capture.bpf.c that is loaded, by tracepoint.
	static std::map<std::string, RunTime> run_times()
	{
		std::map<std::string, RunTime> times;
		for (__u32 id = 0; bpf_prog_get_next_id(id, &id) == 0;) {
			const Fd program(bpf_prog_get_fd_by_id(id));
			bpf_prog_info info{};
			__u32 size = sizeof(info);
			if (!program || bpf_obj_get_info_by_fd(program.get(), &info, &size))
				continue;
			const auto loaded =
				std::find_if(capture::kProbes.begin(), capture::kProbes.end(), [&](const capture::Probe &probe) {
					const std::string name = program_name(program.get(), info);
					return std::ranges::any_of(probe.candidates, [&](const capture::Candidate &candidate) {
						return candidate.program == name;
					});
				});
			if (loaded != capture::kProbes.end())
				times[std::string(loaded->name)] = {info.run_time_ns, info.run_cnt};
		}
		return times;
	}

	// The kernel cuts a program's name at 15 characters; its BTF has the function's whole name.
	static std::string program_name(int program, const bpf_prog_info &info)
	{
		bpf_func_info function{};
		bpf_prog_info again{};
		again.nr_func_info = 1;
		again.func_info_rec_size = sizeof(function);
		again.func_info = reinterpret_cast<uintptr_t>(&function);
		__u32 size = sizeof(again);
		if (info.btf_id == 0 || bpf_obj_get_info_by_fd(program, &again, &size))
			return info.name;
		btf *types = btf__load_from_kernel_by_id(info.btf_id);
		const btf_type *type = types ? btf__type_by_id(types, function.type_id) : nullptr;
		const std::string name = type ? btf__name_by_offset(types, type->name_off) : info.name;
		btf__free(types);
		return name;
	}

	uint32_t cpu_, blocks_per_segment_;
	privilege::Helper helper_;
	privilege::SlotsView slots_;
	std::unique_ptr<run::LiveCell> cell_;
	uint64_t blocks_ = 0;
};

// The mean of the bare segments before and after, and the one in between.
using Pairs = std::vector<std::pair<double, double>>;

struct Contender {
	TracerKind kind;
	std::string version, cannot_run;
	Pairs pairs;
};

// A ratio of pairs; throws where none is usable, because the tracer seemed to cost nothing at all.
stats::Effect ratio_of(const Pairs &pairs)
{
	const auto ratio = paired_ratio(without_order(pairs));
	if (!ratio)
		throw Failure(ExitCode::Invalid,
					  "no pair of blocks shows a cost: the machine is too noisy, give more --rounds");
	return *ratio;
}

std::string version_of(const TracerKind &kind)
{
	constexpr int kMostMs = 10000;
	if (kind.version_command.empty())
		return "";
	const std::string told = run_to_end(kind.version_command, {}, kMostMs).output;
	const size_t word = told.find_first_not_of(" \n");
	return word == std::string::npos ? "" : told.substr(word, told.find('\n', word) - word);
}

void run_round(uint32_t round, Bench &bench, Pairs &icepath, std::vector<Contender> &contenders)
{
	const auto take_turn = [&](const std::string &name, Pairs &pairs, const std::function<double()> &measure) {
		const double before = bench.bare(), with = measure(), after = bench.bare();
		pairs.emplace_back((before + after) / 2, with);
		fmt::print(stderr, "round {} {}: {:.2f} us bare, {:.2f} us with\n", round + 1, name, before / 1e3, with / 1e3);
	};
	take_turn("icepath", icepath, [&] { return bench.with_icepath(); });
	for (Contender &contender : contenders) {
		if (!contender.cannot_run.empty())
			continue;
		try {
			take_turn(contender.kind.name, contender.pairs, [&] { return bench.with(contender.kind); });
		} catch (const Failure &failure) {
			if (!contender.pairs.empty())
				throw;
			contender.cannot_run = failure.what();
			fmt::print(stderr, "{} can't run here: {}\n", contender.kind.name, failure.what());
		}
	}
}

// What icepath adds as a share of what a rival adds, in each round against nothing: a mean that keeps rounds in which
// noise made icepath's cost negative.
stats::Effect share_of(const Pairs &icepath, const Pairs &rival)
{
	Pairs added;
	for (size_t i = 0; i < icepath.size(); i++)
		added.emplace_back(0.0, (icepath[i].second / icepath[i].first - 1) / (rival[i].second / rival[i].first - 1));
	return *stats::paired_difference(without_order(added));
}

void describe(const Contender &contender, const Pairs &icepath, nlohmann::ordered_json &json)
{
	const TracerKind &kind = contender.kind;
	auto &rival = json["rivals"][kind.name];
	rival = {{"records", kind.records}};
	if (!kind.command.empty())
		rival["command"] = fmt::format("{}", fmt::join(kind.command, " "));
	if (!contender.version.empty())
		rival["version"] = contender.version;
	if (!contender.cannot_run.empty()) {
		rival["cannot_run"] = contender.cannot_run;
		fmt::print("{:<34} can't run here: {}\n", kind.name, contender.cannot_run);
		return;
	}
	const stats::Effect ratio = ratio_of(contender.pairs), share = share_of(icepath, contender.pairs);
	json["ratio_to_bare"][kind.name] = as_json(ratio);
	auto &entry = json["icepath_adds_of_what_is_added_by"][kind.name];
	entry = as_json(share);
	if (kind.aim)
		entry["aim"] = *kind.aim;
	fmt::print("{:<34} x {} of the bare round trip; icepath adds {} of what it adds{}\n", kind.name, as_text(ratio),
			   as_text(share), kind.aim ? fmt::format(" (aim: at most {:.3f})", *kind.aim) : "");
}

void bench(const Extent &extent, uint32_t cpu, const std::string &scripts, const std::string &file)
{
	Bench bench(cpu, extent.blocks_per_segment);
	stay_off(cpu); // what is compared is what tracing costs the traced, not who shares its CPU
	Pairs icepath;
	std::vector<Contender> contenders;
	for (TracerKind &kind : tracer_kinds(scripts, bench.traced())) {
		std::string version = version_of(kind);
		contenders.push_back({std::move(kind), std::move(version), "", {}});
	}
	bench.bare(); // warm
	for (uint32_t round = 0; round < extent.rounds; round++)
		run_round(round, bench, icepath, contenders);
	std::vector<double> bare_ns;
	for (const auto &[bare, with] : icepath)
		bare_ns.push_back(bare);
	const nlohmann::ordered_json floor = bench.floor();
	utsname kernel{};
	uname(&kernel);
	const stats::Effect own = ratio_of(icepath);
	nlohmann::ordered_json json = {
		{"command", "make bench"},
		{"what", "round trip p50 of a blocking 64 B uds-stream ping-pong on one CPU; ratio to nothing attached"},
		{"kernel", kernel.release},
		{"rounds", extent.rounds},
		{"blocks_per_segment", extent.blocks_per_segment},
		{"round_trips_per_block", kTrips},
		{"bare_round_trip_ns", median(bare_ns)},
		{"ratio_to_bare", {{"icepath", as_json(own)}}}};
	fmt::print("{:<34} x {} of the bare round trip\n", "icepath", as_text(own));
	for (const Contender &contender : contenders)
		describe(contender, icepath, json);
	json["floor"] = floor;
	fmt::print("floor: {:.1f} probe hits of {:.0f} ns and {:.1f} records a round trip: {:.0f} ns\n",
			   floor["probe_hits_per_round_trip"].get<double>(), floor["ns_per_probe_hit"].get<double>(),
			   floor["records_per_round_trip"].get<double>(), floor["floor_ns_per_round_trip"].get<double>());
	if (!file.empty())
		std::ofstream(file) << json.dump(2) << "\n";
}

} // namespace
} // namespace icepath::bench

int main(int argc, char **argv)
{
	CLI::App app("what icepath's capture costs, beside bpftrace, perf and trace-cmd");
	icepath::bench::Extent extent{10, 6};
	uint32_t cpu = icepath::cpuset::read_permission().affinity.back();
	std::string scripts = "tools", file;
	auto *rounds = app.add_option("--rounds", extent.rounds)->check(CLI::Range(2, 1000));
	bool is_short = false;
	app.add_flag("--short", is_short, "one round, which shows that all of it runs and measures little")
		->excludes(rounds);
	app.add_option("--cpu", cpu);
	app.add_option("--scripts", scripts, "the folder of tools/*.bt");
	app.add_option("--json", file);
	CLI11_PARSE(app, argc, argv);
	if (is_short)
		extent = {1, 2};
	try {
		icepath::bench::bench(extent, cpu, scripts, file);
	} catch (const icepath::Failure &failure) {
		fmt::print(stderr, "bench: {}\n", failure.what());
		return static_cast<int>(failure.code());
	}
	return 0;
}
