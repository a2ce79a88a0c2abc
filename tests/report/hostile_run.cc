// SPDX-License-Identifier: Apache-2.0
#include "tests/report/hostile_run.h"

#include <cstring>

#include "profiler/rundir/container.h"
#include "tests/model/own_window.h"
#include "tests/report/synthetic_run.h"

namespace icepath {
namespace {

model::Head hostile_head(const std::string &name)
{
	model::Head head = small_head();
	head.icepath_version = head.command_line = head.started_utc = name;
	head.host.hostname = head.host.kernel = head.host.cpu_model = head.host.clocksource = name;
	head.isolation.why = name;
	head.isolation.items->at(0) = {name, false, name, name, name};
	for (model::ProbeUse &use : head.probes)
		use = {name, name, name};
	for (model::Cell &cell : head.cells)
		cell.target = cell.kind = cell.library = name;
	return head;
}

void rename(char (&comm)[16], const std::string &name, size_t from)
{
	const std::string part = name.size() > from ? name.substr(from, sizeof comm) : "\xff\x9b[\xe2\x80";
	std::memset(comm, 0, sizeof comm);
	std::memcpy(comm, part.data(), part.size());
}

void rename_tasks(model::Window &window, const std::string &name)
{
	for (model::WindowThread &thread : window.threads)
		thread.name = name;
	size_t from = 0;
	for (model::SlotCapture &slot : window.slots)
		for (icepath_record &record : slot.records)
			if (record.type == ICEPATH_RECORD_FOREIGN_RUN) {
				record.tid += static_cast<uint32_t>(from); // each tid has one name
				rename(record.run.comm, name, from++ % (name.size() + 1));
			}
}

} // namespace

void write_hostile_run(const std::string &directory, const std::string &name)
{
	const model::Head head = hostile_head(name);
	rundir::Writer writer(directory, head);
	for (uint32_t round = 0; round < 8; ++round)
		for (uint32_t cell = 0; cell < 2; ++cell) {
			BlockPlan plan;
			plan.cell = cell;
			plan.round = round;
			plan.probed = round % 4 == 1 || round % 4 == 2;
			plan.messages = 300;
			plan.delay_ns = [](uint64_t seq, size_t) -> uint64_t { return seq % 3 == 0 ? 20'000 : 0; };
			model::Block block = make_block(head.cells[cell], plan);
			rename_tasks(own_window(block), name);
			if (round == 7) {
				block.end = model::BlockEnd::Failed;
				block.failure = name;
			}
			writer.add(block);
		}
	model::Tail tail;
	tail.finished_utc = name;
	tail.rounds = 8;
	tail.notices = {name, "cell " + name + " failed"};
	tail.untraced_interrupts = {{name, name, 5}, {name, "", 5}};
	tail.failed_openings = {1, 0};
	writer.finish(tail);
}

} // namespace icepath
