// SPDX-License-Identifier: Apache-2.0
// What the capture costs: a blocking 64 B ping-pong over a UNIX socket, both sides on one CPU, with nothing attached, with
// icepath's capture as `run` uses it, with bpftrace and with perf record storing time and task of the same events. All
// four take turns in one go, and every figure is a ratio of a segment to the bare ones around it.
//
//   bench-capture-cost [--rounds N] [--cpu N] [--json FILE]
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cpuset/topology.h"
#include "profiler/failure.h"
#include "profiler/run/live_cell.h"
#include "profiler/stats/paired_blocks.h"
#include "tests/bench/external_tracer.h"
#include "tests/bench/round_trips.h"
#include "tests/bench/told_ratio.h"

namespace icepath::bench {
namespace {

constexpr uint32_t kTrips = 2000, kBlocksPerSegment = 6;

class Bench {
public:
	Bench(uint32_t cpu, const std::string &script) : cpu_(cpu), script_(script), helper_(as_oneself())
	{
		enter_tracing_namespace(); // after the helper was forked: it needs none
		std::vector<std::string> notices;
		const auto targets = run::describe_targets(notices);
		auto loaded = helper_.load({cpu}, 1u << 16);
		slots_ = run::SlotsView(std::move(loaded.slots), loaded.slot_bytes, loaded.slot_count, {cpu});
		cell_ = open_ping_pong(targets, "uds-stream", rundir::Wait::Block, {cpu, cpu}, 0, kTrips + 64, slots_, helper_);
	}

	double bare() { return segment(false); }

	double with_icepath()
	{
		helper_.attach(capture::needed_by(cell_->cell()));
		const double result = segment(true);
		helper_.attach(0);
		return result;
	}

	double with_bpftrace()
	{
		const auto tracer = start_bpftrace(script_, cell_->tids());
		return segment_under(*tracer);
	}

	double with_perf_of_tasks()
	{
		return segment_under(*start_perf_record({"-p", fmt::format("{},{}", cell_->tids()[0], cell_->tids()[1])}));
	}
	double with_perf_of_cpu() { return segment_under(*start_perf_record({"-C", std::to_string(cpu_)})); }

	// What one probe hit costs, from the kernel's own accounting, which adds a few tens of ns of its own to each; and how
	// many of them, and records, a round trip takes.
	nlohmann::ordered_json floor()
	{
		const int enabled = bpf_enable_stats(BPF_STATS_RUN_TIME);
		if (enabled < 0)
			throw Failure(ExitCode::MachineCannot, "the kernel doesn't account for BPF run time (BPF_ENABLE_STATS)");
		const auto before = run_times();
		helper_.attach(capture::needed_by(cell_->cell()));
		rundir::Block block = run_block(true);
		helper_.attach(0);
		const auto after = run_times();
		close(enabled);
		uint64_t records = 0;
		for (const rundir::SlotCapture &slot : block.slots)
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
	rundir::Block run_block(bool probed)
	{
		run::BlockWish wish;
		wish.number = ++blocks_;
		wish.count = kTrips;
		wish.duration_ns = 2'000'000'000;
		wish.probed = probed;
		return run::run_alone(*cell_, wish, slots_, &helper_);
	}

	double segment_under(const ExternalTracer &tracer)
	{
		constexpr int kMostBlocks = 1000;
		for (int i = 0; !tracer.recording(); i++) {
			if (i == kMostBlocks)
				throw Failure(ExitCode::MachineCannot,
							  "bpftrace records nothing (is it installed, is tracefs mounted?)");
			run_block(false);
		}
		return segment(false);
	}

	double segment(bool probed)
	{
		std::vector<double> blocks;
		for (uint32_t i = 0; i < kBlocksPerSegment; i++)
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

	uint32_t cpu_;
	std::string script_;
	privilege::Helper helper_;
	run::SlotsView slots_;
	std::unique_ptr<run::LiveCell> cell_;
	uint64_t blocks_ = 0;
};

struct Variant {
	std::string name;
	double (Bench::*measure)();
	std::vector<std::pair<double, double>>
		pairs; // the mean of the bare segments before and after, and the one in between
};

// A ratio of pairs; throws where none is usable, because the tracer seemed to cost nothing at all.
stats::Effect ratio_of(const std::vector<std::pair<double, double>> &pairs)
{
	const auto ratio = stats::paired_ratio(pairs);
	if (!ratio)
		throw Failure(ExitCode::Invalid,
					  "no pair of blocks shows a cost: the machine is too noisy, give more --rounds");
	return *ratio;
}

void bench(uint32_t rounds, uint32_t cpu, const std::string &script, const std::string &file)
{
	Bench bench(cpu, script);
	stay_off(cpu); // what is compared is what tracing costs the traced, not who shares its CPU
	std::vector<Variant> variants = {{"icepath", &Bench::with_icepath, {}},
									 {"bpftrace", &Bench::with_bpftrace, {}},
									 {"perf record -p", &Bench::with_perf_of_tasks, {}},
									 {"perf record -C", &Bench::with_perf_of_cpu, {}}};
	std::vector<double> bare_ns;
	bench.bare(); // warm
	for (uint32_t round = 0; round < rounds; round++) {
		for (Variant &variant : variants) {
			const double before = bench.bare();
			const double with = (bench.*variant.measure)();
			const double after = bench.bare();
			variant.pairs.emplace_back((before + after) / 2, with);
			bare_ns.push_back(before);
			fmt::print(stderr, "round {} {}: {:.2f} us bare, {:.2f} us with\n", round + 1, variant.name, before / 1e3,
					   with / 1e3);
		}
	}
	const nlohmann::ordered_json floor = bench.floor();
	nlohmann::ordered_json json = {
		{"command", "make bench"},
		{"what", "round trip p50 of a blocking 64 B uds-stream ping-pong on one CPU; ratio to nothing attached"},
		{"rounds", rounds},
		{"blocks_per_segment", kBlocksPerSegment},
		{"round_trips_per_block", kTrips},
		{"bare_round_trip_ns", median(bare_ns)}};
	for (const Variant &variant : variants) {
		const stats::Effect ratio = ratio_of(variant.pairs);
		json["ratio_to_bare"][variant.name] = as_json(ratio);
		fmt::print("{:<15} x {} of the bare round trip\n", variant.name, as_text(ratio));
	}
	for (const auto &[other, aim] : {std::pair{size_t{1}, 1.0 / 3}, {size_t{2}, 1.0 / 6}, {size_t{3}, 1.0 / 6}}) {
		// The share of each round against nothing: a mean that keeps rounds in which noise made icepath's cost negative.
		std::vector<std::pair<double, double>> added;
		for (size_t i = 0; i < rounds; i++)
			added.emplace_back(0.0, (variants[0].pairs[i].second / variants[0].pairs[i].first - 1) /
										(variants[other].pairs[i].second / variants[other].pairs[i].first - 1));
		const stats::Effect share = *stats::paired_difference(added);
		auto &entry = json["icepath_adds_of_what_is_added_by"][variants[other].name];
		entry = as_json(share);
		entry["aim"] = aim;
		fmt::print("icepath adds {} of what {} adds (aim: at most {:.3f})\n", as_text(share), variants[other].name,
				   aim);
	}
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
	CLI::App app("what icepath's capture costs, beside bpftrace and perf");
	uint32_t rounds = 10;
	uint32_t cpu = icepath::cpuset::read_permission().affinity.back();
	std::string script = "tools/record.bt", file;
	app.add_option("--rounds", rounds)->check(CLI::Range(2, 1000));
	app.add_option("--cpu", cpu);
	app.add_option("--script", script);
	app.add_option("--json", file);
	CLI11_PARSE(app, argc, argv);
	try {
		icepath::bench::bench(rounds, cpu, script, file);
	} catch (const icepath::Failure &failure) {
		fmt::print(stderr, "bench: {}\n", failure.what());
		return static_cast<int>(failure.code());
	}
	return 0;
}
