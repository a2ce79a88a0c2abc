// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/links.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <numeric>
#include <utility>

#include "profiler/path/shares.h"
#include "profiler/resolve/stream.h"
#include "profiler/rundir/container.h"

namespace icepath::analysis {
namespace {

// Eight classes an octave.
uint32_t class_of(uint64_t ns)
{
	const auto octave = static_cast<uint32_t>(std::bit_width(ns | 8) - 1);
	return octave * 8 + static_cast<uint32_t>((ns >> (octave - 3)) & 7);
}

uint32_t process_of(uint32_t tid, const path::Observations &seen)
{
	const auto thread = seen.threads.find(tid);
	return thread == seen.threads.end() || thread->second.process == 0 ? tid : thread->second.process;
}

std::map<Place, uint64_t> places_of(const path::Path &path, const path::Observations &seen)
{
	std::map<Place, uint64_t> places;
	auto share = path.shares.begin();
	for (uint32_t i = 0; i < path.segments.size(); ++i) {
		const path::Segment &segment = path.segments[i];
		Place place{program_of(segment.thread, seen), segment.layer, segment.part, {}};
		uint64_t left_ns = segment.duration_ns();
		for (; share != path.shares.end() && share->segment == i; ++share) {
			place.by = culprit_of(share->who, seen);
			places[place] += share->ns;
			left_ns -= share->ns;
		}
		place.by = segment.culprit.kind == path::Culprit::Kind::None ? "" : culprit_of(segment.culprit, seen);
		if (left_ns != 0)
			places[place] += left_ns;
	}
	return places;
}

std::string chain_text(const decode::Request &request, const path::Observations &seen)
{
	std::string text = program_of(request.asked->take.first, seen), inner;
	std::set<std::string> asked;
	for (const decode::Request &one : request.nested)
		if (const std::string its = chain_text(one, seen); asked.insert(its).second)
			inner += (inner.empty() ? "" : " + ") + its;
	return inner.empty() ? text : text + " → " + inner;
}

using LinkKey = std::tuple<std::string, std::string, model::StreamKind>;

void sort(std::vector<Link> &links)
{
	std::ranges::stable_sort(links, std::ranges::greater{}, [](const Link &link) {
		return std::pair{link.to_server.messages + link.to_client.messages, link.requests.answered};
	});
}

template <class Key, class Value> void add_to(std::map<Key, Value> &sums, const std::map<Key, Value> &more)
{
	for (const auto &[key, value] : more)
		sums[key] += value;
}

void add_to(std::set<uint32_t> &processes, const std::set<uint32_t> &more)
{
	for (const uint32_t process : more)
		if (processes.size() < kMostProcesses)
			processes.insert(process);
}

// Connections are known at the end only.
std::optional<model::Tail> tail_of(const std::string &run)
{
	rundir::Reader reader(run, rundir::Contents::WithoutRecords);
	while (reader.next()) {
	}
	return reader.tail();
}

} // namespace

class AttachedFigures::Sums : public resolve::StreamVisitor {
public:
	Sums(resolve::StreamVisitor *also, LinkVisitor *of_links) : also_(also), of_links_(of_links) {}
	void know(resolve::Stream *stream) { stream_ = stream; }

	void message(const decode::CalledMessage &message, const path::Path &path, const path::Observations &seen) override
	{
		if (also_)
			also_->message(message, path, seen);
		const bool from_server = stream_->roles().serves(message.given_to);
		const uint32_t giver = message.give.first, taker = message.take.first;
		const uint64_t serving_end = from_server ? message.given_to : message.out_of;
		// What nobody is known to have taken belongs to the connection's other messages.
		Link *link =
			decode::has_receiver(message.identity)
				? &link_of(from_server ? taker : giver, from_server ? giver : taker, serving_end, message.stream, seen)
				: link_at(serving_end);
		if (!link) {
			Waiting &some = waiting_[serving_end];
			(from_server ? some.to_client : some.to_server)[static_cast<size_t>(message.identity)]++;
			return;
		}
		Direction &direction = from_server ? link->to_client : link->to_server;
		direction.messages++;
		direction.bytes += message.bytes;
		direction.by_identity[static_cast<size_t>(message.identity)]++;
		if (!decode::has_receiver(message.identity))
			return;
		const uint64_t ns = message.recv_ns - message.send_ns;
		direction.latencies.add(ns);
		if (path.complete())
			direction.latencies.add_places(ns, places_of(path, seen));
		else
			direction.without_path[path.reason]++;
		if (of_links_)
			of_links_->add(*link, {false, !from_server, giver, message.send_ns, message.recv_ns}, path, seen);
	}

	void request(const decode::Request &request, const path::Path &path, const path::Observations &seen) override
	{
		if (also_)
			also_->request(request, path, seen);
		Link &link = link_of(request.asked->give.first, request.asked->take.first, request.asked->out_of,
							 request.asked->stream, seen);
		Requests &requests = link.requests;
		const uint64_t ns = request.recv_ns() - request.send_ns();
		requests.answered++;
		requests.latencies.add(ns);
		requests.chains[program_of(request.asked->give.first, seen) + " → " + chain_text(request, seen)]++;
		if (path.complete())
			requests.latencies.add_places(ns, places_of(path, seen));
		else
			requests.without_path[path.reason]++;
		if (of_links_)
			of_links_->add(link, {true, true, request.asked->give.first, request.send_ns(), request.recv_ns()}, path,
						   seen);
	}

	void over(uint64_t object) override
	{
		if (also_)
			also_->over(object);
		over_.push_back(object);
	}

	// After each window: books what belongs to a link, and forgets connections that are over.
	void settle()
	{
		for (const auto &[object, some] : stream_->take_unpaired()) {
			waiting_[object].unpaired.ambiguous += some.ambiguous;
			waiting_[object].unpaired.too_old += some.too_old;
		}
		std::erase_if(waiting_, [&](const auto &one) {
			Link *link = link_at(one.first);
			if (link)
				book(one.second, *link);
			return link != nullptr;
		});
		for (const uint64_t object : std::exchange(over_, {})) {
			if (const auto left = waiting_.extract(object))
				without_link_ += left.mapped().messages();
			if (const auto end = ends_.extract(object))
				for (const LinkKey &key : end.mapped())
					link_of(key).over.insert(object);
		}
	}

	// No taker is known any more.
	void finish()
	{
		settle();
		for (const auto &[object, left] : std::exchange(waiting_, {}))
			without_link_ += left.messages();
	}

	uint64_t take_without_link() { return std::exchange(without_link_, 0); }

	// By the number of messages, since the last time.
	std::vector<Link> take()
	{
		std::vector<Link> links;
		for (auto &[key, link] : links_)
			links.push_back(std::move(link));
		links_.clear();
		sort(links);
		return links;
	}

private:
	// Of a connection that no known taker was seen at.
	struct Waiting {
		using ByIdentity = std::array<uint64_t, 4>;
		ByIdentity to_server{}, to_client{};
		decode::Unpaired unpaired;
		static uint64_t sum(const ByIdentity &some) { return std::accumulate(some.begin(), some.end(), uint64_t{0}); }
		uint64_t messages() const { return sum(to_server) + sum(to_client); }
	};
	static void book(const Waiting &some, Link &link)
	{
		link.requests.ambiguous += some.unpaired.ambiguous;
		link.requests.too_old += some.unpaired.too_old;
		for (const auto &[direction, waited] :
			 {std::pair{&link.to_server, &some.to_server}, {&link.to_client, &some.to_client}}) {
			direction->messages += Waiting::sum(*waited);
			std::ranges::transform(direction->by_identity, *waited, direction->by_identity.begin(), std::plus());
		}
	}
	Link &link_of(uint32_t client, uint32_t server, uint64_t serving_end, model::StreamKind stream,
				  const path::Observations &seen)
	{
		const LinkKey key{program_of(client, seen), program_of(server, seen), stream};
		Link &link = link_of(key);
		add_to(link.clients, {process_of(client, seen)});
		add_to(link.servers, {process_of(server, seen)});
		link.connections.insert(serving_end);
		std::vector<LinkKey> &its = ends_[serving_end];
		std::erase(its, key);
		its.push_back(key);
		return link;
	}
	Link &link_of(const LinkKey &key)
	{
		Link &link = links_[key];
		std::tie(link.client, link.server, link.kind) = key;
		return link;
	}
	// nullptr: no taker was known there so far.
	Link *link_at(uint64_t serving_end)
	{
		const auto end = ends_.find(serving_end);
		return end == ends_.end() ? nullptr : &link_of(end->second.back());
	}

	resolve::StreamVisitor *also_;
	LinkVisitor *of_links_;
	resolve::Stream *stream_ = nullptr;
	std::map<LinkKey, Link> links_;
	// By the object of the serving end, the latest last: another program may have taken over a connection.
	std::map<uint64_t, std::vector<LinkKey>> ends_;
	std::map<uint64_t, Waiting> waiting_; // likewise
	std::vector<uint64_t> over_; // since the last window
	uint64_t without_link_ = 0;
};

void Latencies::add_places(uint64_t ns, const std::map<Place, uint64_t> &places)
{
	with_path_++;
	Class &its = classes_[class_of(ns)];
	its.count++;
	its.ns += ns;
	for (const auto &[place, time_ns] : places)
		its.places[place] += time_ns;
}

void Latencies::add(const Latencies &more)
{
	histogram_.add(more.histogram_);
	with_path_ += more.with_path_;
	for (const auto &[number, its] : more.classes_) {
		Class &sum = classes_[number];
		sum.count += its.count;
		sum.ns += its.ns;
		add_to(sum.places, its.places);
	}
}

void Direction::add(const Direction &more)
{
	messages += more.messages;
	bytes += more.bytes;
	std::ranges::transform(by_identity, more.by_identity, by_identity.begin(), std::plus());
	add_to(without_path, more.without_path);
	latencies.add(more.latencies);
}

void Requests::add(const Requests &more)
{
	answered += more.answered;
	ambiguous += more.ambiguous;
	too_old += more.too_old;
	add_to(without_path, more.without_path);
	add_to(chains, more.chains);
	latencies.add(more.latencies);
}

void Link::add(const Link &more)
{
	add_to(clients, more.clients);
	add_to(servers, more.servers);
	connections.insert(more.connections.begin(), more.connections.end());
	earlier_connections += more.earlier_connections;
	for (const uint64_t one : more.over)
		earlier_connections += connections.erase(one);
	to_server.add(more.to_server);
	to_client.add(more.to_client);
	requests.add(more.requests);
}

void AttachedResult::add(const AttachedResult &more)
{
	if (windows == 0)
		begin_ns = more.begin_ns;
	if (more.windows != 0)
		end_ns = more.end_ns;
	windows += more.windows;
	records += more.records;
	lost_records += more.lost_records;
	too_old += more.too_old;
	on_their_way += more.on_their_way;
	without_giver += more.without_giver;
	without_link += more.without_link;
	for (const Link &link : more.links) {
		const auto same = std::ranges::find_if(links, [&](const Link &its) { return its.is_like(link); });
		if (same == links.end())
			links.push_back(link);
		else
			same->add(link);
	}
	sort(links);
}

std::optional<uint64_t> Latencies::percentile_ns(double share) const
{
	const auto beyond = static_cast<double>(count()) * (1 - share);
	if (beyond < 10 - 1e-9) // as stats::supported()
		return std::nullopt;
	const auto [low, high] = around(share);
	return low + (high - low + 1) / 2; // as HdrHistogram::middle_at()
}

std::pair<uint64_t, uint64_t> Latencies::around(double share) const
{
	const auto rank = static_cast<uint64_t>(std::ceil(static_cast<double>(count()) * share));
	uint64_t sum = 0;
	size_t i = 0;
	for (; i + 1 < histogram_.counts().size(); ++i)
		if ((sum += histogram_.counts()[i]) >= rank)
			break;
	return {stats::HdrHistogram::lowest_at(i), stats::HdrHistogram::highest_at(i)};
}

uint32_t Latencies::first_slow() const
{
	uint64_t sum = 0;
	for (auto one = classes_.rbegin(); one != classes_.rend(); ++one)
		if ((sum += one->second.count) * 100 >= with_path_)
			return one->first;
	return 0;
}

uint64_t Latencies::slow_count() const
{
	uint64_t sum = 0;
	for (auto one = classes_.lower_bound(first_slow()); one != classes_.end(); ++one)
		sum += one->second.count;
	return sum;
}

double Latencies::slow_ns() const
{
	uint64_t ns = 0;
	for (auto one = classes_.lower_bound(first_slow()); one != classes_.end(); ++one)
		ns += one->second.ns;
	return slow_count() == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(slow_count());
}

double Latencies::mean_ns() const
{
	uint64_t ns = 0;
	for (const auto &[number, its] : classes_)
		ns += its.ns;
	return with_path_ == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(with_path_);
}

std::vector<PlaceTime> Latencies::places() const
{
	std::map<Place, std::pair<uint64_t, uint64_t>> sums; // of all, and of the slowest
	const uint32_t slow = first_slow();
	for (const auto &[number, its] : classes_)
		for (const auto &[place, ns] : its.places) {
			auto &[all_ns, slow_ns] = sums[place];
			all_ns += ns;
			slow_ns += number >= slow ? ns : 0;
		}
	std::vector<PlaceTime> places;
	const auto all = static_cast<double>(with_path_), few = static_cast<double>(slow_count());
	for (const auto &[place, sum] : sums)
		places.push_back({place, static_cast<double>(sum.first) / all, static_cast<double>(sum.second) / few});
	std::ranges::stable_sort(places, std::ranges::greater{},
							 [](const PlaceTime &one) { return std::pair(one.slow_ns - one.mean_ns, one.mean_ns); });
	return places;
}

std::string program_of(uint32_t tid, const path::Observations &seen)
{
	const auto thread = seen.threads.find(tid);
	if (thread == seen.threads.end())
		return "another process";
	const auto first = seen.threads.find(thread->second.process);
	return first == seen.threads.end() ? thread->second.name : first->second.name;
}

std::string culprit_of(const path::Culprit &culprit, const path::Observations &seen)
{
	if (culprit.kind == path::Culprit::Kind::Task && seen.threads.contains(culprit.id))
		return program_of(culprit.id, seen);
	return path::culprit_name(culprit, seen.task_names);
}

const char *word_of(model::StreamKind kind)
{
	constexpr const char *kWords[] = {"unix-stream", "tcp", "pipe", "fifo"};
	return kWords[static_cast<size_t>(kind)];
}

const char *arrow_of(model::StreamKind kind)
{
	return kind == model::StreamKind::Pipe || kind == model::StreamKind::Fifo ? "→" : "↔";
}

AttachedFigures::AttachedFigures(resolve::StreamVisitor *also, LinkVisitor *of_links)
	: sums_(std::make_unique<Sums>(also, of_links)),
	  stream_(std::make_unique<resolve::Stream>(std::vector<model::Connection>{}, *sums_)), of_links_(of_links)
{
	sums_->know(stream_.get());
}

AttachedFigures::~AttachedFigures() = default;

void AttachedFigures::know(const std::vector<model::Connection> &connections) { stream_->know(connections); }

void AttachedFigures::add(const model::Window &window)
{
	if (std::exchange(in_window_, true) && of_links_)
		of_links_->end_window();
	if (part_.windows++ == 0)
		part_.begin_ns = window.begin.monotonic_ns;
	part_.end_ns = window.finish.monotonic_ns;
	for (const model::SlotCapture &slot : window.slots)
		part_.records += slot.records.size();
	stream_->add(window);
	sums_->settle();
}

void AttachedFigures::finish()
{
	stream_->finish();
	sums_->finish();
	if (in_window_ && of_links_)
		of_links_->end_window();
}

AttachedResult AttachedFigures::take()
{
	const resolve::LeftOpen &left = stream_->left_open();
	AttachedResult taken = std::exchange(part_, {});
	const auto since = [](uint64_t now, uint64_t &told) { return now - std::exchange(told, now); };
	taken.links = sums_->take();
	taken.without_link = sums_->take_without_link();
	taken.lost_records = since(stream_->lost_records(), told_.lost_records);
	taken.too_old = since(left.too_old, told_.too_old);
	taken.on_their_way = left.at_end; // counted as it finishes
	taken.without_giver = since(left.without_giver, told_.without_giver);
	return taken;
}

AttachedResult analyse_attached(const std::string &run, resolve::StreamVisitor *also, LinkVisitor *of_links)
{
	const std::optional<model::Tail> tail = tail_of(run);
	AttachedFigures figures(also, of_links);
	if (tail && tail->detached)
		figures.know(tail->detached->connections);
	rundir::Reader reader(run);
	AttachedResult result;
	while (const auto read = reader.next()) {
		figures.add(*read->window);
		result.add(figures.take());
	}
	figures.finish();
	result.add(figures.take());
	result.head = reader.head();
	result.tail = tail;
	return result;
}

} // namespace icepath::analysis
