// SPDX-License-Identifier: Apache-2.0
#include "profiler/exports/attached_files.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "profiler/exports/path_lines.h"
#include "profiler/failure.h"
#include "profiler/resolve/stream.h"

namespace icepath::exports {
namespace {

using Json = nlohmann::ordered_json;

std::string quoted(const std::string &text)
{
	return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string name_of(uint32_t tid, const path::Observations &seen)
{
	const auto thread = seen.threads.find(tid);
	return thread == seen.threads.end() ? "" : thread->second.name;
}

// Threads choose their names. Characters that would break a table are left out.
std::string cell_of(uint32_t tid, const path::Observations &seen)
{
	std::string name = name_of(tid, seen);
	std::erase_if(name, [](char c) { return c == ',' || c == ';' || c == '"' || c == '\t' || c == '\r' || c == '\n'; });
	const bool is_plain = !name.empty() && ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z'));
	return is_plain ? name : "'" + name;
}

class Files : public resolve::StreamVisitor {
public:
	Files(const std::shared_ptr<Folder> &folder, bool table, bool paths)
	{
		if (table) {
			table_ = std::make_unique<WrittenFile>(folder, "messages.csv");
			table_->add("what,identity,from_tid,from,to_tid,to,bytes,send_ns,recv_ns,latency_ns,path\n");
		}
		if (paths)
			paths_ = std::make_unique<WrittenFile>(folder, "paths.jsonl");
	}

	void message(const decode::CalledMessage &one, const path::Path &path, const path::Observations &seen) override
	{
		const bool known = decode::has_receiver(one.identity);
		const std::string_view identity = decode::kIdentityNames[static_cast<size_t>(one.identity)];
		add_row("message", identity, one.give.first, one.take.first, one.bytes, one.send_ns, one.recv_ns, known, path,
				seen);
		if (paths_ && known)
			paths_->add(fmt::format(R"({{"type":"message","identity":"{}","from":{},"to":{},"bytes":{},{}}})"
									"\n",
									identity, thread(one.give.first, seen), thread(one.take.first, seen), one.bytes,
									times(path, one.send_ns, one.recv_ns, seen)));
	}

	void request(const decode::Request &one, const path::Path &path, const path::Observations &seen) override
	{
		add_row("request", "", one.asked->give.first, one.asked->take.first, one.asked->bytes, one.send_ns(),
				one.recv_ns(), true, path, seen);
		if (!paths_)
			return;
		std::string nested;
		for (const decode::Request &inner : one.nested)
			nested += fmt::format(R"({}{{"send_ns":{},"recv_ns":{}}})", nested.empty() ? "" : ",", inner.send_ns(),
								  inner.recv_ns());
		paths_->add(fmt::format(R"({{"type":"request","client":{},"server":{},"nested":[{}],{}}})"
								"\n",
								thread(one.asked->give.first, seen), thread(one.asked->take.first, seen), nested,
								times(path, one.send_ns(), one.recv_ns(), seen)));
	}

	std::vector<std::string> done()
	{
		std::vector<std::string> paths;
		for (const auto &file : {table_.get(), paths_.get()})
			if (file) {
				file->done();
				paths.push_back(file->path());
			}
		return paths;
	}

private:
	static std::string thread(uint32_t tid, const path::Observations &seen)
	{
		return fmt::format(R"({{"tid":{},"thread":{}}})", tid, quoted(name_of(tid, seen)));
	}
	static std::string times(const path::Path &path, uint64_t send_ns, uint64_t recv_ns, const path::Observations &seen)
	{
		return fmt::format(R"("send_ns":{},"recv_ns":{},"reason":"{}","segments":{})", send_ns, recv_ns,
						   path::kReasonNames[static_cast<size_t>(path.reason)], segments_text(path, seen));
	}
	void add_row(std::string_view what, std::string_view identity, uint32_t from, uint32_t to, uint64_t bytes,
				 uint64_t send_ns, uint64_t recv_ns, bool known, const path::Path &path, const path::Observations &seen)
	{
		if (!table_)
			return;
		const std::string taken =
			known ? fmt::format("{},{},{},{},{},{}", to, cell_of(to, seen), bytes, send_ns, recv_ns, recv_ns - send_ns)
				  : fmt::format(",,{},{},,", bytes, send_ns);
		table_->add(fmt::format("{},{},{},{},{},{}\n", what, identity, from, cell_of(from, seen), taken,
								known ? path::kReasonNames[static_cast<size_t>(path.reason)] : ""));
	}

	std::unique_ptr<WrittenFile> table_, paths_;
};

Json or_null(const std::optional<uint64_t> &ns) { return ns ? Json(*ns) : Json(nullptr); }

Json json_of(const std::map<path::Reason, uint64_t> &reasons)
{
	Json json = Json::object();
	for (const auto &[reason, count] : reasons)
		json[path::kReasonNames[static_cast<size_t>(reason)]] = count;
	return json;
}

Json json_of(const analysis::Latencies &latencies)
{
	Json places = Json::array();
	for (const analysis::PlaceTime &one : latencies.places())
		places.push_back({{"program", one.place.program},
						  {"layer", model::name(one.place.layer)},
						  {"part", model::name(one.place.part)},
						  {"by", one.place.by.empty() ? Json(nullptr) : Json(one.place.by)},
						  {"mean_ns", one.mean_ns},
						  {"slowest_mean_ns", one.slow_ns}});
	return {{"count", latencies.count()},
			{"p50_ns", or_null(latencies.percentile_ns(0.5))},
			{"p90_ns", or_null(latencies.percentile_ns(0.9))},
			{"p99_ns", or_null(latencies.percentile_ns(0.99))},
			{"p99_9_ns", or_null(latencies.percentile_ns(0.999))},
			{"max_ns", latencies.count() == 0 ? Json(nullptr) : Json(latencies.longest_ns())},
			{"with_path", latencies.with_path()},
			{"mean_ns", latencies.with_path() == 0 ? Json(nullptr) : Json(latencies.mean_ns())},
			{"slowest", latencies.slow_count()},
			{"slowest_mean_ns", latencies.with_path() == 0 ? Json(nullptr) : Json(latencies.slow_ns())},
			{"places", places}};
}

Json json_of(const analysis::Direction &one)
{
	Json identity = Json::object();
	for (size_t i = 0; i < one.by_identity.size(); ++i)
		identity[decode::kIdentityNames[i]] = one.by_identity[i];
	return {{"messages", one.messages},
			{"bytes", one.bytes},
			{"identity", identity},
			{"without_path", json_of(one.without_path)},
			{"latency", json_of(one.latencies)}};
}

Json json_of(const analysis::Link &link)
{
	Json chains = Json::array();
	for (const auto &[chain, count] : link.requests.chains)
		chains.push_back({{"programs", chain}, {"requests", count}});
	return {{"client", link.client},
			{"server", link.server},
			{"channel", analysis::word_of(link.kind)},
			{"client_processes", link.clients},
			{"server_processes", link.servers},
			{"connections", link.connection_count()},
			{"to_server", json_of(link.to_server)},
			{"to_client", json_of(link.to_client)},
			{"requests",
			 {{"answered", link.requests.answered},
			  {"ambiguous", link.requests.ambiguous},
			  {"unanswered", link.requests.too_old},
			  {"without_path", json_of(link.requests.without_path)},
			  {"chains", chains},
			  {"latency", json_of(link.requests.latencies)}}}};
}

} // namespace

std::string attached_json_text(const analysis::AttachedResult &result)
{
	Json targets = Json::array(), links = Json::array(), unfollowed = Json::array();
	for (const model::Target &one : result.head.attached->targets)
		targets.push_back({{"process", one.process}, {"name", one.name}});
	for (const analysis::Link &one : result.links)
		links.push_back(json_of(one));
	if (result.tail && result.tail->detached)
		for (const model::UnfollowedCalls &one : result.tail->detached->unfollowed)
			unfollowed.push_back({{"what", one.what}, {"program", one.process_name}, {"calls", one.calls}});
	const Json json = {{"attach_schema", 1},
					   {"icepath",
						{{"version", result.head.icepath_version},
						 {"command_line", result.head.command_line},
						 {"started_utc", result.head.started_utc},
						 {"finished_utc", result.tail ? Json(result.tail->finished_utc) : Json(nullptr)},
						 {"interrupted", result.tail && result.tail->interrupted},
						 {"partial", !result.tail}}},
					   {"duration_s", static_cast<double>(result.end_ns - result.begin_ns) / 1e9},
					   {"targets", targets},
					   {"links", links},
					   {"unfollowed", unfollowed},
					   {"trust",
						{{"windows", result.windows},
						 {"records", result.records},
						 {"lost_records", result.lost_records},
						 {"not_taken_in_time", result.too_old},
						 {"on_their_way_at_end", result.on_their_way},
						 {"takes_without_giver", result.without_giver},
						 {"messages_without_link", result.without_link}}},
					   {"notices", result.tail ? result.tail->notices : std::vector<std::string>{}}};
	return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> export_attached(const std::string &run, const std::vector<ExportFormat> &formats,
										 const std::shared_ptr<Folder> &folder)
{
	for (const ExportFormat format : formats)
		if (format != ExportFormat::Csv && format != ExportFormat::Paths)
			throw Failure(ExitCode::Usage,
						  fmt::format("{} is a run of icepath attach, which can be exported as csv and "
									  "paths, not as {}",
									  run, kExportFormatNames[static_cast<size_t>(format)]));
	const auto has = [&](ExportFormat format) { return std::ranges::find(formats, format) != formats.end(); };
	Files files(folder, has(ExportFormat::Csv), has(ExportFormat::Paths));
	analysis::analyse_attached(run, &files);
	return files.done();
}

} // namespace icepath::exports
