// SPDX-License-Identifier: Apache-2.0
#include "tests/rundir/example_run.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace icepath::rundir {

TemporaryDirectory::TemporaryDirectory()
{
	std::string name = std::filesystem::temp_directory_path() / "icepath-test-XXXXXX";
	if (mkdtemp(name.data()) == nullptr)
		throw std::runtime_error("no temporary directory");
	directory_ = name;
}

TemporaryDirectory::~TemporaryDirectory()
{
	std::error_code ignored;
	std::filesystem::remove_all(directory_, ignored);
}

model::Head example_head()
{
	model::Head head;
	head.icepath_version = "0.1.0";
	head.command_line = "icepath run --budget 5";
	head.started_utc = "2026-01-02T03:04:05Z";
	head.host.kernel = "6.1.0";
	head.host.cpus_online = 4;
	head.host.hypervisor = false;
	head.host.mitigations = {{"retbleed", "Vulnerable"}};
	head.isolation.sender_cpu = 2;
	head.isolation.why = "CPUs 2 and 3";
	head.isolation.level = model::IsolationLevel::Full;
	head.isolation.steps = {{"pinning", model::IsolationState::AlreadySo, "each side has its CPU", ""}};
	head.isolation.items = {{"clock", true, "tsc", "", ""}};
	head.probes = {{"runqueue", "sched_switch", "tracepoint"}, {"network", "no device", "none"}};
	model::Cell cell;
	cell.target = "uds-stream";
	cell.pattern = model::Pattern::OneWay;
	cell.wait = model::Wait::Epoll;
	cell.payload_bytes = 4096;
	cell.rate_hz = 12500.5;
	cell.mechanisms = {model::Mechanism::Socket, model::Mechanism::Bell};
	cell.traits = {model::Trait::CanLoan, model::Trait::Turns};
	cell.graph = model::star(1, {2, 3}, model::Between::Threads, false);
	cell.levels.idle_channels = 4;
	cell.levels.sender_user_ns = 1000;
	cell.levels.receiver_busy_ns = 2000;
	cell.qos[ICEPATH_QOS_DEPTH] = 5;
	cell.granted[ICEPATH_QOS_HISTORY] = ICEPATH_KEEP_LAST;
	cell.granted[ICEPATH_QOS_DEADLINE] = ICEPATH_QOS_INFINITE;
	cell.idle_states = model::IdleStates::Held;
	cell.limits = {0.125, 2'000'000};
	cell.calibrated = {0.25, 0.75};
	cell.kind = model::kAdapter;
	cell.library = "library 1.2";
	head.cells = {model::Cell(), cell};
	head.cells[0].target = "pipe";
	head.budget_s = 5.25;
	head.wakes = {{2, 21'000, 35'000}, {3, 1'200, 2'000}};
	head.wakes_held = {{2, 1'900, 2'500}, {3, 1'100, 1'300}};
	head.noise = {{2,
				   200'000'000,
				   3,
				   40'000,
				   21'000,
				   {{"timer interrupt", 2, 19'000, 12'000}, {"unknown", 1, 21'000, 21'000}},
				   "unknown"}};
	head.noise_before = {{2, 200'000'000, 51, 400'000, 31'000, {}, ""}};
	head.attached = model::Attached{{{41, "client", 900}}};
	return head;
}

model::Head head_with_arms()
{
	model::Head head = example_head();
	head.arms = {{.name = "old",
				  .plugins = "/builds/old/lib",
				  .library_path = "/builds/old",
				  .config = "/builds/small buffers.xml",
				  .environment = {{"THREADS", "2"}, {"LEVEL", ""}},
				  .loaded = {{"pipe", "/builds/old/lib/pipe.so", "", "0123abcd"},
							 {"uds-stream", "/builds/old/libuds.so.1", "1.2", ""}}},
				 {.name = "old-again", .is_control = true},
				 {.name = "new"}};
	head.cells[0].arm = "old";
	head.cells[1].arm = "old-again";
	return head;
}

model::Block example_block(uint32_t round, bool probed)
{
	model::Block block;
	const auto window = std::make_shared<model::Window>();
	block.window = window;
	block.cell = 1;
	window->round = round;
	block.opening = round / 2 + 1;
	window->probed = probed;
	block.confirms = probed;
	if (probed)
		block.rate_hz = 10'507.5;
	block.end = model::BlockEnd::Failed;
	block.failure = "the receiver died";
	window->begin = {1000, UINT64_MAX};
	window->finish = {9000, 1700000000000000000u};
	for (uint32_t i = 0; i < 2; ++i) {
		model::BlockSide &side = block.sides.emplace_back();
		side.tid = 100 + i;
		side.usage = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
		side.marker_begin_ns = 11;
		side.marker_end_ns = 12;
	}
	block.sides[0].counters.migrations = {0, 3, 0, 0};
	block.sides[0].counters.cycles = {2, 0, 0, 0};
	block.flows = {{UINT64_MAX, 7, {}, {}}};
	block.flows[0].sends = {{0, 1, 2, 3, 4, 5, 6, model::kStampWarmUp, 0}, {1, 11, 12, 13, 14, 15, 16, 0, 0}};
	block.flows[0].recvs = {{1, 2, 3, 4, 5, 6, 7, 8, model::kStampBadPayload}};
	window->skipped = {{1100, 1200, 4}, {1300, 1400, 5}};
	block.daemon_cpu_ns = 4711;
	block.sockets.emplace();
	block.sockets->groups = {{.side = 1,
							  .domain = 2,
							  .type = 1,
							  .protocol = 6,
							  .count = 2,
							  .send_buffer = {4096, 8192},
							  .receive_buffer = {1024, 2048},
							  .buffers_set = model::kReceiveBufferSet,
							  .no_delay = 1,
							  .congestion = {'b', 'b', 'r'},
							  .dropped = 5,
							  .retransmitted = 6}};
	block.sockets->loopback_mtu = 65'536;
	block.sockets->counts.emplace().tcp_timeouts = 7;
	window->steal_ns = 20'000'000;
	window->own_cpu_ns = 12'345;
	window->threads = {{100, 2, "uds-stream sender"}, {101, 3, "uds-stream receiver"}, {300, 3, "tcp receiver"}};
	window->begins_midway = probed;
	window->ends_midway = !probed;
	if (!probed)
		return block;
	window->sample_period_ns = 250'000;
	window->functions = {"entry_SYSCALL_64", "tcp_sendmsg", "libc.so.6!send"};
	window->stacks = {{0, 1}, {2}};
	icepath_record record{};
	record.type = ICEPATH_RECORD_FOREIGN_RUN;
	record.bytes = 64;
	record.seq = 1;
	record.end_ns = 5000;
	window->others = {{77, "nng/ipc's nng:task", {3}}, {78, "daemon mosquitto", {1, 2}}};
	window->slots.resize(2);
	window->slots[0] = {.cpu = 3, .first = 2, .position = 7, .capacity = 2, .records = {record, record}};
	window->slots[1] = {.cpu = -1, .position = 0, .capacity = 2, .records = {}};
	return block;
}

model::Tail example_tail()
{
	return {"2026-01-02T03:05:00Z",
			true,
			4,
			{"cell pipe failed: no room", "lost 3"},
			{{2, 20'000, 30'000}},
			model::Steal{40'000'000, 9'000'000'000},
			{{"HYP", "Hypervisor callback interrupts", 7}},
			{{2, 3, {{1000, 51}, {251'000'000, 340}}}, {2, 4}},
			{0, 3},
			model::Detached{{{model::StreamKind::Tcp,
							  {{{7, 41, "client", model::EndRole::Connected}, {8, 0, "", model::EndRole::Accepted}}},
							  true}},
							{{"eventfd", "client", 12}}}};
}

std::string file_bytes(const std::string &path)
{
	std::ifstream in(path, std::ios::binary);
	std::ostringstream text;
	text << in.rdbuf();
	return text.str();
}

void write_file(const std::string &path, const std::string &bytes)
{
	std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

} // namespace icepath::rundir
