// SPDX-License-Identifier: Apache-2.0
// icepath as it reads workers' replies and memory: a resulting block can be stored and read again, and implausible
// replies are WorkerFailed. The input is Replies (replies.h), with which two workers answer unchanged.
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "profiler/privilege/root_helper.h"
#include "profiler/run/describe.h"
#include "profiler/run/endpoints.h"
#include "profiler/rundir/json_text.h"
#include "profiler/rundir/window_json.h"
#include "tests/fuzz/replies.h"
#include "tests/run/alone.h"

namespace {

using namespace icepath;
using fuzz::Replies, fuzz::kRoom;

void must(bool holds)
{
	if (!holds)
		std::abort();
}

Replies *shared_replies()
{
	const int fd = memfd_create("icepath-fuzz", 0); // the workers inherit it
	must(fd >= 0 && ftruncate(fd, sizeof(Replies)) == 0);
	setenv(fuzz::kRepliesVariable, std::to_string(fd).c_str(), 1);
	return new (mmap(nullptr, sizeof(Replies), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) Replies;
}

model::Cell one_way_cell()
{
	model::Cell cell;
	cell.target = "fuzz";
	cell.pattern = model::Pattern::OneWay;
	cell.graph =
		model::star(1, std::vector(2, static_cast<uint32_t>(sched_getcpu())), model::Between::Processes, false);
	return cell;
}

privilege::Identity self()
{
	privilege::Identity user;
	user.uid = getuid();
	user.was_root = true; // pinning one's own child needs no root
	return user;
}

// Once for all inputs, first, because processes take long to start.
struct Workers {
	Replies *replies = shared_replies(); // honest ones while the cell is made
	privilege::Helper helper{self()};
	model::Cell cell = one_way_cell();
	run::LiveCell live{cell, "plug-in", 0, kRoom, privilege::SlotsView(), helper};
	std::vector<std::unique_ptr<run::Worker>> sides;
	Fd memory{memfd_create("icepath-fuzz-cell", MFD_CLOEXEC)};
	uint64_t blocks = 0;

	Workers()
	{
		for (const char *what : {"sender", "receiver"})
			sides.push_back(std::make_unique<run::Worker>(run::worker_program(), what));
		must(ftruncate(memory.get(), worker::cell_memory_bytes(kRoom, 1)) == 0);
	}
};

void open_endpoints(Workers &workers)
{
	run::Endpoints endpoints(workers.cell, workers.sides, {workers.memory.get()});
	endpoints.open("plug-in", kRoom);
	for (const uint32_t end : {0u, 1u})
		must(endpoints.sockets(0, end).size() <= 2 * channel::kMaxFds);
}

void run_block(Workers &workers)
{
	run::BlockWish wish;
	wish.number = ++workers.blocks;
	wish.warm_up = 2;
	wish.count = 10;
	wish.duration_ns = 50'000'000;
	const model::Block block = run::run_alone(workers.live, wish, privilege::SlotsView(), nullptr);
	must(block.flows.size() == 1 && block.sides.size() == 2);
	must(block.flows[0].sends.size() <= kRoom && block.flows[0].recvs.size() <= kRoom);
	const std::string stored = rundir::json_text(rundir::to_json(block));
	const model::Block read = rundir::block_from_json(rundir::parse_json(stored), {workers.cell}).block;
	must(read.failure == block.failure || block.end == model::BlockEnd::Failed);
	rundir::window_from_json(rundir::parse_json(rundir::json_text(rundir::to_json(*block.window, 1))));
}

void describe(const Replies &replies)
{
	const targets::Target target = run::target_of("plug-in", replies.of_side[0].target);
	constexpr size_t kEscape = 4; // bytes that a byte becomes at most: \xFF
	must(target.name.size() <= kEscape * sizeof(worker::TargetReply::name) &&
		 target.why_not.size() <= kEscape * sizeof(worker::TargetReply::why_not));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static Workers workers;
	Replies &replies = *workers.replies;
	std::memset(static_cast<void *>(&replies), 0, sizeof(replies));
	std::memcpy(static_cast<void *>(&replies), data, std::min(size, sizeof(replies)));
	try {
		switch (replies.part % 3) {
		case 0:
			run_block(workers);
			break;
		case 1:
			open_endpoints(workers);
			break;
		default:
			describe(replies);
		}
	} catch (const run::WorkerFailed &) {
	}
	return 0;
}
