// SPDX-License-Identifier: Apache-2.0
// An independent witness: bpftrace counts the same tracepoints between the workers' marker system calls, in the same
// blocks. The capture must have the same counts, and the same intervals.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "profiler/model/graph.h"
#include "tests/end_to_end/command.h"
#include "tests/end_to_end/resolved_run.h"
#include "tests/folders.h"

namespace icepath::end_to_end {
namespace {

using namespace std::chrono_literals;
using Key = std::pair<uint32_t, uint64_t>; // tid, and when its block began, in ns
using Counts = std::map<std::string, std::map<Key, uint64_t>>; // by the map's name
using Histogram = std::map<int, uint64_t>; // log2 of nanoseconds -> count

int bucket_of(uint64_t ns) { return static_cast<int>(std::bit_width(ns)) - 1; }

struct Testimony {
	Counts counts;
	std::map<std::string, std::map<Key, Histogram>> intervals; // likewise
};

// "tid,instant"
Key key_of(const std::string &text)
{
	return {static_cast<uint32_t>(std::stoul(text)), std::stoull(text.substr(text.find(',') + 1))};
}

Testimony read_testimony(const std::filesystem::path &file)
{
	Testimony testimony;
	std::ifstream stream(file);
	for (std::string line; std::getline(stream, line);) {
		if (!line.starts_with("{"))
			continue;
		const auto json = nlohmann::json::parse(line);
		if (json["type"] == "map") {
			for (const auto &[name, values] : json["data"].items())
				for (const auto &[key, count] : values.items())
					if (key.find(',') != std::string::npos)
						testimony.counts[name][key_of(key)] = count;
		} else if (json["type"] == "hist") {
			for (const auto &[name, values] : json["data"].items())
				for (const auto &[key, buckets] : values.items())
					for (const auto &bucket : buckets)
						if (bucket.contains("min") && bucket["min"].get<int64_t>() > 0)
							testimony.intervals[name][key_of(key)][bucket_of(bucket["min"].get<uint64_t>())] +=
								bucket["count"].get<uint64_t>();
		}
	}
	return testimony;
}

std::string text_of(const std::filesystem::path &file)
{
	std::ostringstream text;
	text << std::ifstream(file).rdbuf();
	return text.str();
}

uint64_t total_of(const Histogram &histogram)
{
	uint64_t total = 0;
	for (const auto &[bucket, count] : histogram)
		total += count;
	return total;
}

int median_bucket(const Histogram &histogram)
{
	const uint64_t total = total_of(histogram);
	uint64_t so_far = 0;
	for (const auto &[bucket, count] : histogram)
		if ((so_far += count) * 2 >= total)
			return bucket;
	return -1;
}

// bpftrace needs tracefs; the host's mounts stay as they are.
std::vector<std::string> with_tracefs(const std::string &command)
{
	return {"unshare", "-m", "sh", "-c",
			"mount -t debugfs none /sys/kernel/debug 2>/dev/null; mount -t tracefs none /sys/kernel/tracing "
			"2>/dev/null; exec " +
				command};
}

// What the kernel didn't give a process's programs, as it came while another one ran on that CPU: an interrupt that
// wakes a thread, for example. Kernels before 6.7 count none of a tracepoint's.
uint64_t missed_by_programs_of(pid_t pid)
{
	uint64_t missed = 0;
	for (const auto &file : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fdinfo")) {
		std::ifstream lines(file.path());
		for (std::string line; std::getline(lines, line);)
			if (constexpr std::string_view kMisses = "recursion_misses:"; line.starts_with(kMisses))
				missed += std::stoull(line.substr(kMisses.size()));
	}
	return missed;
}

struct Window {
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;
};

// The markers lie between the worker's own stamps of them and the first and last stamp of its loop: an event in between
// may be on either side of a marker.
Window outer(const model::BlockSide &worker) { return {worker.marker_begin_ns, worker.marker_end_ns}; }

Window inner(const model::Block &block, const model::Cell &cell, size_t side)
{
	Window window;
	const std::vector<model::Flow> &flows = cell.graph.flows;
	for (size_t i = 0; i < flows.size(); i++) {
		if (flows[i].from == side)
			for (const model::SendStamp &send : block.flows[i].sends)
				window = {std::min(window.begin_ns, send.send_ns), std::max(window.end_ns, send.return_ns)};
		if (flows[i].to == side)
			for (const model::RecvStamp &recv : block.flows[i].recvs)
				window = {std::min(window.begin_ns, recv.ask_ns), std::max(window.end_ns, recv.recv_ns)};
	}
	return window;
}

// By the witness, which saw the worker's first marker after the worker's own stamp of it; {} if it saw none.
std::optional<Key> key_of(const model::BlockSide &worker, const Testimony &bpftrace)
{
	const auto begun = bpftrace.counts.find("@begun");
	if (begun == bpftrace.counts.end())
		return {};
	const auto found = begun->second.lower_bound({worker.tid, worker.marker_begin_ns});
	if (found == begun->second.end() || found->first > Key{worker.tid, worker.marker_end_ns})
		return {};
	return found->first;
}

// The capture's records of a worker in a window of its block.
void count_block(const resolve::ResolvedBlock &resolved, size_t side, const Key &key, const Window &window,
				 Testimony &capture)
{
	const model::BlockSide &worker = resolved.block.sides[side];
	const auto inside = [&](uint64_t at_ns) { return at_ns >= window.begin_ns && at_ns <= window.end_ns; };
	const auto count = [&](const char *name, bool one) { capture.counts[name][key] += one; };
	for (const char *name : {"@switches_in", "@switches_out", "@wakings", "@wakeups", "@data_readies"})
		capture.counts[name][key];
	for (const model::SlotCapture &slot : resolved.block.window->slots) {
		for (const icepath_record &record : slot.records) {
			if (record.tid != worker.tid)
				continue;
			const bool off = record.type == ICEPATH_RECORD_OFF_CPU, wake = record.type == ICEPATH_RECORD_WAKE;
			if (off) {
				// What the kernel hid from sched_switch, it also hid from the witness.
				const bool by_switch = (record.flags & ICEPATH_FLAG_IN_LATE) == 0;
				count("@switches_in", by_switch && inside(record.end_ns));
				count("@switches_out", inside(record.off.out_ns));
				if (by_switch && inside(record.off.wakeup_ns) && inside(record.end_ns))
					capture.intervals["@wakeup_to_switch"][key][bucket_of(record.end_ns - record.off.wakeup_ns)]++;
			}
			if (off || wake) {
				count("@wakings", record.off.waking_ns != 0 && inside(record.off.waking_ns));
				count("@wakeups", record.off.wakeup_ns != 0 && inside(record.off.wakeup_ns));
				if (record.off.waking_ns && record.off.wakeup_ns && inside(record.off.waking_ns))
					capture
						.intervals["@waking_to_wakeup"][key][bucket_of(record.off.wakeup_ns - record.off.waking_ns)]++;
			}
			count("@data_readies", record.type == ICEPATH_RECORD_DATA_READY && inside(record.end_ns));
		}
	}
}

constexpr int kFewest = 4; // probed blocks

TEST(Witness, BpftraceCountsTheSameAndSeesTheSameIntervals)
{
	if (geteuid() != 0)
		GTEST_SKIP() << "needs root";
	const Folder folder;
	Running witness(with_tracefs("env BPFTRACE_MAP_KEYS_MAX=65536 bpftrace -f json -o witness.json '" +
								 test::in_source("tools/witness.bt") + "'"),
					folder.path());
	const auto testimony_file = folder.path() / "witness.json";
	const auto says = [&](const char *what) { return text_of(testimony_file).find(what) != std::string::npos; };
	for (int i = 0; i < 12000 && !says("witness: ready"); i++)
		std::this_thread::sleep_for(10ms);
	ASSERT_TRUE(says("witness: ready")) << witness.err_so_far();
	// An emulated machine needs more time for the same number of blocks.
	ResolvedRun seen;
	for (int seconds = 6; seconds <= 96; seconds *= 4) {
		const std::string out = "out" + std::to_string(seconds);
		const Outcome outcome = run({icepath_program(), "run", "-t", "uds-stream", "-s", "64", "--patterns", "pingpong",
									 "-d", std::to_string(seconds), "-m", "300", "-o", out},
									folder.path(), 200s);
		ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
		seen = read_resolved(folder.path() / out);
		if (std::ranges::count_if(
				seen.blocks, [](const resolve::ResolvedBlock &one) { return one.block.window->probed; }) >= kFewest)
			break;
	}
	const uint64_t missed = missed_by_programs_of(witness.pid());
	witness.signal(SIGINT);
	witness.wait(30s);

	const Testimony bpftrace = read_testimony(testimony_file);
	Testimony capture, at_least;
	int blocks = 0;
	for (const resolve::ResolvedBlock &resolved : seen.blocks) {
		if (!resolved.block.window->probed)
			continue;
		blocks++;
		for (size_t side = 0; side < 2; side++) {
			const std::optional<Key> key = key_of(resolved.block.sides[side], bpftrace);
			ASSERT_TRUE(key) << "the witness saw no block of thread " << resolved.block.sides[side].tid << " in "
							 << text_of(testimony_file);
			count_block(resolved, side, *key, outer(resolved.block.sides[side]), capture);
			count_block(resolved, side, *key, inner(resolved.block, seen.head.cells[0], side), at_least);
		}
	}
	ASSERT_GE(blocks, kFewest);
	uint64_t compared = 0, counts = 0, sharp = 0, short_of = 0;
	std::string which;
	for (const auto &[name, by_block] : capture.counts) {
		ASSERT_TRUE(bpftrace.counts.contains(name)) << name << ", " << witness.err_so_far() << text_of(testimony_file);
		for (const auto &[key, count] : by_block) {
			const auto &theirs = bpftrace.counts.at(name);
			const auto found = theirs.find(key);
			const uint64_t witnessed = found == theirs.end() ? 0 : found->second;
			const uint64_t fewest = at_least.counts.at(name).at(key);
			EXPECT_LE(witnessed, count) << name << " of thread " << key.first << " in the block of " << key.second;
			if (witnessed < fewest) {
				short_of += fewest - witnessed;
				which += std::string(name) + " of thread " + std::to_string(key.first) + " in the block of " +
						 std::to_string(key.second) + ", ";
			}
			compared += count;
			counts++;
			sharp += fewest == count;
		}
	}
	EXPECT_LE(short_of, missed) << which << "which the kernel doesn't say that it hid";
	EXPECT_GT(compared, 1000u);
	EXPECT_GE(sharp * 10, counts * 9) << "where nothing lies next to a marker, the two are equal";
	// Of a few intervals, one that lies next to a marker may be all that one of the two has.
	constexpr uint64_t kEnough = 20;
	uint64_t medians = 0;
	for (const auto &[name, by_block] : capture.intervals)
		for (const auto &[key, histogram] : by_block) {
			if (total_of(histogram) < kEnough)
				continue;
			const auto theirs = bpftrace.intervals.find(name);
			ASSERT_TRUE(theirs != bpftrace.intervals.end() && theirs->second.contains(key))
				<< name << " of thread " << key.first << " in the block of " << key.second << ", "
				<< text_of(testimony_file);
			EXPECT_LE(std::abs(median_bucket(histogram) - median_bucket(theirs->second.at(key))), 1)
				<< name << " of thread " << key.first << " in the block of " << key.second;
			medians++;
		}
	EXPECT_GE(medians, 2u * kFewest);
}

} // namespace
} // namespace icepath::end_to_end
