// SPDX-License-Identifier: Apache-2.0
#include "tests/path/scene.h"

#include <algorithm>
#include <fmt/format.h>

namespace icepath::path {

Mark at(uint64_t ns) { return {ns, {}, Provenance::Exact}; }

Scene::Scene()
{
	add_thread(kSender, kSenderCpu);
	add_thread(kReceiver, kReceiverCpu);
	add_transfer(kSender, kReceiver);
	delivery = {1, kSender, kReceiver, at(0), at(0)};
	seen.end_ns = 1'000'000;
}

Thread &Scene::add_thread(uint32_t tid, uint16_t cpu)
{
	Thread &thread = seen.threads[tid];
	thread.tid = tid;
	thread.first_cpu = cpu;
	return thread;
}

Transfer &Scene::add_transfer(uint32_t from, uint32_t to)
{
	Transfer transfer;
	transfer.message = 1;
	transfer.from = from;
	transfer.to = to;
	return seen.transfers.emplace_back(transfer);
}

OffCpu &Scene::sleep(uint32_t tid, uint64_t out, uint64_t waking, uint64_t wakeup, uint64_t in, uint32_t waker)
{
	OffCpu off;
	off.out_ns = out;
	off.in_ns = in;
	off.waking_ns = waking;
	off.wakeup_ns = wakeup;
	off.waker_tid = waker;
	off.out_cpu = off.in_cpu = thread(tid).first_cpu;
	off.record = next_record_++;
	return thread(tid).off.emplace_back(off);
}

void Scene::call(uint32_t tid, uint64_t begin, uint64_t end)
{
	thread(tid).calls.push_back({begin, end, Call::Kind::Untold, {Evidence::Source::Record, next_record_++}});
}

OffCpu &Scene::preempt(uint32_t tid, uint64_t out, uint64_t in)
{
	OffCpu &off = sleep(tid, out, 0, 0, in, 0);
	off.preempted = true;
	return off;
}

void Scene::foreign_run(uint16_t cpu, uint64_t in, uint64_t out, uint32_t tid)
{
	seen.cpus[cpu].runs.push_back({in, out, tid, next_record_++});
}

uint32_t Scene::interrupt(uint16_t cpu, uint64_t begin, uint64_t end, uint8_t kind, uint32_t vector)
{
	seen.cpus[cpu].interrupts.push_back({begin, end, kind, vector, next_record_});
	return next_record_++;
}

std::string Scene::text() const { return text_of(path()); }

namespace {

std::string name_of(const Culprit &who)
{
	switch (who.kind) {
	case Culprit::Kind::None:
		return "nobody";
	case Culprit::Kind::Task:
		return fmt::format("{}", who.id);
	case Culprit::Kind::Interrupt:
		return fmt::format("irq {}.{}", who.interrupt, who.id);
	case Culprit::Kind::IdleCpu:
		return "idle";
	case Culprit::Kind::Throttled:
		return "throttled";
	case Culprit::Kind::Unknown:
		return "unknown";
	}
	return "?";
}

} // namespace

std::string shares_of(const Path &path)
{
	std::string text;
	uint32_t last = UINT32_MAX;
	for (const Share &one : path.shares) {
		if (one.segment != last) {
			const Segment &segment = path.segments.at(one.segment);
			text += fmt::format("{}{}", text.empty() ? "" : " | ", name(segment.layer));
			if (segment.part != Part::None)
				text += fmt::format("/{}", name(segment.part));
			text += ":";
		}
		text += fmt::format("{} {} {}", one.segment == last ? "," : "", name_of(one.who), one.ns);
		last = one.segment;
	}
	return text;
}

std::string text_of(const Path &path)
{
	if (!path.complete())
		return std::string(kReasonNames[static_cast<size_t>(path.reason)]);
	std::string text;
	for (const Segment &segment : path.segments) {
		text += fmt::format("{}{}:{}", text.empty() ? "" : " | ", segment.hop, name(segment.layer));
		if (segment.part != Part::None)
			text += fmt::format("/{}", name(segment.part));
		text += fmt::format(" {}", segment.duration_ns());
		if (segment.culprit.kind == Culprit::Kind::Task)
			text += fmt::format(" by {}", segment.culprit.id);
		if (segment.culprit.kind == Culprit::Kind::Interrupt)
			text += fmt::format(" by irq {}.{}", segment.culprit.interrupt, segment.culprit.id);
		if (segment.culprit.kind > Culprit::Kind::Interrupt)
			text += fmt::format(" by {}", name_of(segment.culprit));
		if (is_inferred(segment.end.provenance))
			text += "~";
		if (segment.end.provenance == Provenance::Paired)
			text += "'";
	}
	return text;
}

} // namespace icepath::path
