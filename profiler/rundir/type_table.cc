// SPDX-License-Identifier: Apache-2.0
#include "profiler/rundir/type_table.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <fmt/format.h>
#include <stdexcept>

#include "ebpf/records.h"
#include "profiler/model/stamps.h"
#include "profiler/rundir/json_field.h"

namespace icepath::rundir {

using Json = nlohmann::ordered_json;

#define FIELD(type, member)                                                                                            \
	{                                                                                                                  \
		{"name", #member}, {"offset", offsetof(type, member)}, { "bytes", sizeof(type::member) }                       \
	}
#define UNION_FIELD(arm, member)                                                                                       \
	{                                                                                                                  \
		{"name", #arm "." #member}, {"offset", offsetof(icepath_record, arm.member)},                                  \
		{                                                                                                              \
			"bytes", sizeof(icepath_record::arm.member)                                                                \
		}                                                                                                              \
	}

Json type_table()
{
	const Json record = {FIELD(icepath_record, type),
						 FIELD(icepath_record, version),
						 FIELD(icepath_record, bytes),
						 FIELD(icepath_record, context),
						 FIELD(icepath_record, seq),
						 FIELD(icepath_record, tid),
						 FIELD(icepath_record, cpu),
						 FIELD(icepath_record, flags),
						 FIELD(icepath_record, end_ns),
						 UNION_FIELD(off, out_ns),
						 UNION_FIELD(off, waking_ns),
						 UNION_FIELD(off, wakeup_ns),
						 UNION_FIELD(off, waker_tid),
						 UNION_FIELD(off, ipi_after_ns),
						 UNION_FIELD(off, idle_after_ns),
						 UNION_FIELD(off, out_cpu),
						 UNION_FIELD(off, reason),
						 UNION_FIELD(off, waker_vector),
						 UNION_FIELD(run, in_ns),
						 UNION_FIELD(run, comm),
						 UNION_FIELD(interrupt, begin_ns),
						 UNION_FIELD(interrupt, vector),
						 UNION_FIELD(interrupt, kind),
						 UNION_FIELD(interrupt, timer),
						 UNION_FIELD(interrupt, sockets),
						 UNION_FIELD(interrupt, packets),
						 UNION_FIELD(interrupt, run_packets),
						 UNION_FIELD(socket, socket),
						 UNION_FIELD(socket, stream_end),
						 UNION_FIELD(socket, bytes),
						 UNION_FIELD(socket, has_stream_end),
						 UNION_FIELD(socket, woken_tid),
						 UNION_FIELD(call, begin_ns),
						 UNION_FIELD(call, object),
						 UNION_FIELD(call, result),
						 UNION_FIELD(call, number),
						 UNION_FIELD(call, kind),
						 UNION_FIELD(call, operation),
						 UNION_FIELD(call, object_kind),
						 UNION_FIELD(call, position),
						 UNION_FIELD(thread, comm),
						 UNION_FIELD(thread, tgid),
						 UNION_FIELD(thread, start_ns),
						 UNION_FIELD(loss, begin_ns),
						 UNION_FIELD(loss, count),
						 UNION_FIELD(sample, planned_ns),
						 UNION_FIELD(sample, user_address),
						 UNION_FIELD(sample, tgid),
						 UNION_FIELD(sample, stack)};
	const Json send = {FIELD(model::SendStamp, seq),        FIELD(model::SendStamp, intended_ns),
					   FIELD(model::SendStamp, send_ns),    FIELD(model::SendStamp, call_ns),
					   FIELD(model::SendStamp, publish_ns), FIELD(model::SendStamp, return_ns),
					   FIELD(model::SendStamp, attempts),   FIELD(model::SendStamp, flags)};
	const Json recv = {FIELD(model::RecvStamp, seq),
					   FIELD(model::RecvStamp, ask_ns),
					   FIELD(model::RecvStamp, wait_return_ns),
					   FIELD(model::RecvStamp, take_call_ns),
					   FIELD(model::RecvStamp, take_return_ns),
					   FIELD(model::RecvStamp, observe_ns),
					   FIELD(model::RecvStamp, recv_ns),
					   FIELD(model::RecvStamp, attempts),
					   FIELD(model::RecvStamp, flags)};
	return {{"byte_order", std::endian::native == std::endian::little ? "little" : "big"},
			{"types",
			 {{"icepath_record",
			   {{"bytes", sizeof(icepath_record)}, {"version", ICEPATH_RECORD_VERSION}, {"fields", record}}},
			  {"SendStamp", {{"bytes", sizeof(model::SendStamp)}, {"fields", send}}},
			  {"RecvStamp", {{"bytes", sizeof(model::RecvStamp)}, {"fields", recv}}}}}};
}

#undef FIELD
#undef UNION_FIELD

namespace {

// Once reserved and zero, which means "not known", or in record types that weren't written then, or written at the same
// place without being listed.
constexpr std::string_view kAddedLater[] = {
	"socket.woken_tid",      "call.begin_ns",  "call.object",       "call.result",
	"call.number",           "call.kind",      "thread.comm",       "thread.tgid",
	"sample.planned_ns",     "sample.stack",   "interrupt.sockets", "interrupt.packets",
	"interrupt.run_packets", "call.operation", "call.object_kind",  "thread.start_ns",
	"loss.begin_ns",         "loss.count",     "call.position",     "sample.user_address",
	"sample.tgid",           "interrupt.timer"};

void check_type(const std::string &name, const Json &ours, const Json &theirs)
{
	if (unsigned_field(theirs, "bytes", UINT32_MAX) != ours.at("bytes"))
		throw std::runtime_error(fmt::format("its {} has another size than this icepath's", name));
	const Json &fields = array_field(theirs, "fields", 4096);
	for (const Json &field : ours.at("fields")) {
		bool there = false, same = false;
		for (const Json &other : fields) {
			const bool named = text_field(other, "name") == text_field(field, "name");
			there = there || named;
			same = same || (named && unsigned_field(other, "offset", UINT32_MAX) == field.at("offset") &&
							unsigned_field(other, "bytes", UINT32_MAX) == field.at("bytes"));
		}
		same = same || (!there && std::ranges::count(kAddedLater, field.at("name").get<std::string>()) > 0);
		if (!same)
			throw std::runtime_error(
				fmt::format("its {} has no {} where this icepath reads it", name, field.at("name").get<std::string>()));
	}
}

} // namespace

void check_type_table(const Json &table)
{
	const Json ours = type_table();
	if (text_field(table, "byte_order") != text_field(ours, "byte_order"))
		throw std::runtime_error("a machine of the other byte order wrote it");
	const Json &types = object_field(table, "types");
	for (const auto &[name, type] : ours.at("types").items())
		check_type(name, type, object_field(types, name.c_str()));
}

} // namespace icepath::rundir
