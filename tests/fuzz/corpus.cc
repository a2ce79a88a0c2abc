// SPDX-License-Identifier: Apache-2.0
// Generates the corpus of tests/fuzz: fuzz_corpus FOLDER. With a second folder, compares it with the generated one, and
// exits with 1 if they differ: `make fuzz-corpus` generates the one in the tree.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "icepath/plugin.h"
#include "profiler/calibrate/calibration.h"
#include "profiler/rundir/cell_json.h"
#include "profiler/rundir/container.h"
#include "profiler/rundir/head_json.h"
#include "profiler/rundir/json_text.h"
#include "profiler/rundir/window_json.h"
#include "profiler/worker/protocol.h"
#include "tests/fuzz/replies.h"
#include "tests/report/synthetic_run.h"
#include "tests/rundir/damage.h"
#include "tests/rundir/example_run.h"
#include "tests/symbols/small_program.h"

namespace icepath::fuzz {
namespace {

namespace fs = std::filesystem;

class Corpus {
public:
	explicit Corpus(const fs::path &folder) : folder_(folder) { fs::remove_all(folder); }

	void add(const std::string &target, const std::string &name, const std::string &bytes) const
	{
		fs::create_directories(folder_ / target);
		rundir::write_file(folder_ / target / name, bytes);
	}

private:
	fs::path folder_;
};

// One block with probes, one without and one with samples, of few messages.
std::string small_container()
{
	const rundir::TemporaryDirectory temporary;
	model::Head head = small_head();
	head.cells.resize(1);
	{
		rundir::Writer writer(temporary.path("run"), head);
		for (const uint32_t round : {0u, 1u, 6u}) {
			BlockPlan plan;
			plan.round = round;
			plan.probed = round != 0;
			plan.messages = 3;
			plan.delay_ns = [](uint64_t seq, size_t) { return seq % 2 * 100; };
			const model::Block block = make_block(head.cells[0], plan);
			writer.add(round == 6 ? with_samples(block) : block);
		}
		writer.finish({"", false, 1, {"a notice"}});
	}
	return rundir::unpacked(rundir::file_bytes(temporary.path("run/capture.icp")));
}

void add_json(const Corpus &corpus)
{
	const model::Block block = rundir::example_block(1, true);
	const auto add = [&](const char *name, char kind, const nlohmann::ordered_json &json) {
		corpus.add("run_json", name, kind + rundir::json_text(json));
	};
	model::Head head = rundir::example_head();
	head.host.nohz_full = true;
	head.cells[1].offers = {{model::Wait::Block, model::Wait::Spin}, 1u << ICEPATH_QOS_DEPTH, true};
	add("head", 'h', rundir::to_json(head));
	head.arms = {{"old", false, "/opt/old", "/opt/lib", "/opt/old.xml", {{"LEVEL", "1"}}}, {"old-again", true}};
	head.arms[0].loaded = {{head.cells[0].target, "/opt/lib/libx.so.1", "1.2", "0123456789abcdef"}};
	head.cells[0].arm = "old";
	add("head_with_arms", 'h', rundir::to_json(head));
	add("tail", 't', rundir::to_json(rundir::example_tail()));
	add("cell", 'c', rundir::to_json(head.cells[1]));
	add("window", 'w', rundir::to_json(*block.window, 1));
	nlohmann::ordered_json measurement = rundir::to_json(block);
	measurement["cell"] = 0; // the target's only cell
	add("measurement", 'm', measurement);
}

void add_calibration(const Corpus &corpus)
{
	const calibrate::Share near{0.5, 0.25, 0.75};
	calibrate::Calibration calibration;
	calibration.host = {"6.1.0", "#1 SMP", "Model One"};
	calibration.targets = {{"pipe", {{64, near, near}, {4096, near, near}}, ""}, {"mqueue", {}, "no such queue"}};
	corpus.add("calibration", "two_targets", rundir::json_text(calibrate::to_json(calibration)));
}

void add_machine_texts(const Corpus &corpus)
{
	const std::string mounts = "25 1 0:22 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n"
							   "30 25 0:26 /docker/1 /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n";
	const std::string interrupts = "           CPU0       CPU1\n  4:          7          0  IO-APIC  4-edge  ttyS0\n"
								   "HYP:        100        200  Hypervisor callback interrupts\nERR:          0\n";
	std::string all;
	for (const std::string &text : {std::string("0-1,3"),
									std::string("4:cpu,cpuacct:/docker/1/a\n0::/user.slice\n"),
									mounts,
									interrupts,
									std::string("0-3"),
									std::string("1"),
									std::string(" (null)"),
									std::string("0"),
									std::string("0-1"),
									std::string("512"),
									std::string("powersave"),
									std::string("170"),
									std::string("3"),
									std::string("0-3"),
									std::string("1"),
									std::string("isolated"),
									std::string("1"),
									std::string(""),
									std::string("0-1"),
									std::string("processor : 0\nflags : fpu hypervisor tsc\n"),
									std::string("950000"),
									std::string("1000000"),
									std::string("tsc")})
		all += text + '\0';
	corpus.add("machine_texts", "three_cpus", all);
}

void add_symbols(const Corpus &corpus)
{
	corpus.add("symbols", "kernel",
			   "kffffffff81000000 T first\nffffffff81000000 t __first\nffffffff81000100 D data\nffffffffc0000000 t "
			   "of_module\t[module]\n");
	corpus.add("symbols", "maps",
			   "m55d0c8a02000-55d0c8a05000 r-xp 00002000 fd:01 1234   /usr/bin/program\n7f0000000000-7f0000001000 rwxp "
			   "00000000 00:00 0 \n");
	corpus.add("symbols", "program", "p" + symbols::small_program());
}

void add_options(const Corpus &corpus)
{
	corpus.add(
		"options", "run",
		"run\n-t\npipe,tcp\n-s\n64,4k,1M\n--patterns\npingpong,max-rate\n--max-loss\n0.1%\n--max-p99\n2ms\n-d\n90s\n"
		"--qos\ndepth=1,8\n--responses\n1,10\n--cpus\n0,1");
	corpus.add("options", "export", "export\nrun\n-f\nhgrm,csv\n-o\nfolder");
	corpus.add("options", "selftest", "selftest\n--only\nwakeup\n--stretch\n2\n--tier\ntracepoint\n--json\nfile");
	corpus.add("options", "calibrate", "calibrate\n-o\nfile\n--cpu\n1");
}

void add_gates(const Corpus &corpus)
{
	corpus.add("gate_files", "gates",
			   "undecided = \"warn\"\n[[gate]]\nname = \"quick\"\ncells = [\"tcp * 64B *\", \"ud?\"]\n"
			   "expect = [\"p50 < 40us\", \"tail99(runqueue) < 30us\", \"lost == 0\"]\n"
			   "[[gate]]\ncells = '*'\nundecided = \"fail\"\n"
			   "expect = 'ratio(udp pingpong block processes 64B own qos=(depth=4)) < 0.9'\n");
	corpus.add("gate_files", "expectations",
			   "p99.9 <= 1.5 ms\nlost < 0.1%\nlayer(sender.kernel) < 9µs\nrate >= 90k/s\np50 slower < 3%\ncpu < 1e3ns");
}

template <typename T> std::string bytes_of(const T &value)
{
	return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

// The life of one cell's side 0, truncated after the last nonzero byte.
void add_requests(const Corpus &corpus)
{
	worker::Request request;
	std::memset(static_cast<void *>(&request), 0, sizeof(request)); // including padding
	request.plugin[0] = 1;
	std::string all;
	for (const worker::RequestKind kind :
		 {worker::RequestKind::Describe, worker::RequestKind::Open, worker::RequestKind::Connect,
		  worker::RequestKind::RunBlock, worker::RequestKind::LookAtSockets}) {
		request.kind = kind;
		request.index = kind == worker::RequestKind::Open ? 1 : 0; // the number of descriptors
		std::strcpy(request.open.target, "null");
		request.open.channels = request.open.sends = request.open.peers = request.open.wait = 1;
		request.open.payload_bytes = 64;
		request.open.max_messages = 20;
		request.open.levels.responses = request.block.levels.responses = 1;
		request.block.one_way = 1;
		request.block.count = 10;
		all += bytes_of(request);
	}
	corpus.add("worker_requests", "life", all.substr(0, all.find_last_not_of('\0') + 1));
}

void add_replies(const Corpus &corpus)
{
	Replies replies;
	std::memset(static_cast<void *>(&replies), 0, sizeof(replies)); // including padding
	replies.of_side[0].block.sends = replies.of_side[1].block.recvs = 12;
	for (uint8_t part = 0; part < 3; part++) {
		replies.part = part;
		replies.fds = part == 1 ? 2 : 0;
		replies.of_side[0].sockets = replies.fds;
		std::strcpy(replies.of_side[0].target.name, "pipe");
		const std::string bytes = bytes_of(replies);
		corpus.add("worker_replies", "part_" + std::to_string(part), bytes.substr(0, bytes.find_last_not_of('\0') + 1));
	}
}

// Prints each file that differs, or that only one of the folders has.
bool is_same(const fs::path &made, const fs::path &other)
{
	bool same = true;
	const auto compare = [&](const fs::path &one, const fs::path &two) {
		for (const auto &entry : fs::recursive_directory_iterator(one)) {
			const fs::path file = fs::relative(entry.path(), one);
			if (entry.is_directory() ||
				(fs::exists(two / file) && rundir::file_bytes(entry.path()) == rundir::file_bytes(two / file)))
				continue;
			std::printf("%s isn't what tests/fuzz/corpus.cc makes: run `make fuzz-corpus`\n", file.c_str());
			same = false;
		}
	};
	compare(made, other);
	compare(other, made);
	return same;
}

} // namespace
} // namespace icepath::fuzz

int main(int argc, char **argv)
{
	using namespace icepath::fuzz;
	if (argc < 2)
		return 2;
	const Corpus corpus(argv[1]);
	corpus.add("run_directory", "three_blocks", small_container());
	add_json(corpus);
	add_calibration(corpus);
	add_machine_texts(corpus);
	add_symbols(corpus);
	add_options(corpus);
	add_gates(corpus);
	add_requests(corpus);
	add_replies(corpus);
	corpus.add("helper_requests", "end_of_block", "\x06\x01\x02\x03");
	// CPUs 2 and 3, twice; a worker; what others have changed; put back.
	corpus.add("keeper_requests", "life",
			   std::string("\x01\x02\x02\x03\x00\x00\x00\x01\x02\x02\x03\x00\x00\x00\x02\x00\x00\x00\x00\x00\x01\x00"
						   "\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
						   36));
	// Four limits, of which one is raised; then no CPUs; what others have changed; put back.
	corpus.add("keeper_requests", "limits",
			   std::string("\x04\x04\x04\x01\x02\x03\x00\x01\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"
						   "\x00\x00\x00\x00\x00\x00",
						   28));
	return argc < 3 || is_same(argv[1], argv[2]) ? 0 : 1;
}
