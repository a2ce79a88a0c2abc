// SPDX-License-Identifier: Apache-2.0
#include "profiler/selftest/added_time.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "profiler/analysis/breakdown.h"
#include "profiler/path/shares.h"
#include "profiler/resolve/resolve.h"

namespace icepath::selftest {
namespace {

constexpr uint64_t kFewestPaths = 8; // in a block

uint64_t blamed_ns(const path::Path &path, size_t segment, const path::Observations &seen, const Injection &injection)
{
	uint64_t ns = 0;
	bool is_shared = false;
	for (const path::Share &share : path.shares) {
		if (share.segment != segment)
			continue;
		is_shared = true;
		if (path::culprit_name(share.who, seen.task_names) == injection.culprit)
			ns += share.ns;
	}
	const path::Segment &whole = path.segments[segment];
	if (is_shared || whole.culprit.kind == path::Culprit::Kind::None)
		return ns;
	return path::culprit_name(whole.culprit, seen.task_names) == injection.culprit ? whole.duration_ns() : 0;
}

} // namespace

BlockMeans means_of(const path::Observations &seen, const std::vector<path::Path> &paths, uint32_t sender,
					const Injection &injection)
{
	BlockMeans means;
	for (size_t i = 0; i < paths.size(); i++) {
		const path::Path &path = paths[i];
		if (seen.deliveries[i].sender != sender)
			continue;
		means.messages++;
		if (!path.complete())
			continue;
		means.complete++;
		means.latency_ns += static_cast<double>(path.recv_ns - path.send_ns);
		for (size_t s = 0; s < path.segments.size(); s++) {
			const path::Segment &segment = path.segments[s];
			means.layers_ns[static_cast<size_t>(segment.layer)][static_cast<size_t>(segment.part)] +=
				static_cast<double>(segment.duration_ns());
			if (lands_in(injection, segment.layer, segment.part))
				means.named_ns += static_cast<double>(blamed_ns(path, s, seen, injection));
		}
	}
	const double count = means.complete ? static_cast<double>(means.complete) : 1;
	means.latency_ns /= count;
	means.named_ns /= count;
	for (auto &parts : means.layers_ns)
		for (double &ns : parts)
			ns /= count;
	return means;
}

bool goes_by(const path::Path &path, const path::Delivery &delivery, const std::vector<RelayStamps> &relays)
{
	const path::Segment *first = nullptr, *last = nullptr; // in the relay's user mode
	for (const path::Segment &segment : path.segments) {
		if (segment.hop > 2 || (segment.hop == 0 && segment.thread != delivery.sender) ||
			(segment.hop == 2 && segment.thread != delivery.receiver))
			return false;
		if (segment.hop != 1)
			continue;
		if (first && segment.thread != first->thread)
			return false;
		if (segment.layer == model::Layer::RelayUser) {
			first = first ? first : &segment;
			last = &segment;
		}
	}
	const auto relay =
		std::ranges::find_if(relays, [&](const RelayStamps &one) { return first && one.tid == first->thread; });
	if (relay == relays.end())
		return false;
	return 1 == std::ranges::count_if(relay->stamps, [&](const RelayStamp &stamp) {
			   return stamp.taken_ns >= first->begin.at_ns && stamp.given_ns <= last->end.at_ns;
		   });
}

namespace {

class Pairs : public resolve::Visitor {
public:
	Pairs(const std::vector<const Injection *> &measured, std::vector<RelayStamps> relays)
		: measured_(measured), relays_(std::move(relays)), rounds_(measured.size())
	{}

	bool wants(const model::Block &block) override
	{
		return block.end != model::BlockEnd::Failed && block.cell / 2 < measured_.size();
	}

	void visit(const resolve::ResolvedBlock &resolved) override
	{
		const auto &[number, block, seen, paths] = resolved;
		const size_t which = block.cell / 2;
		BlockMeans means = means_of(seen, paths, block.sides[0].tid, *measured_[which]);
		if (measured_[which]->stamped_relay)
			for (size_t i = 0; i < paths.size(); i++)
				means.contradicted += paths[i].complete() && !goes_by(paths[i], seen.deliveries[i], relays_);
		rounds_[which][block.window->round][block.cell % 2] = means;
	}

	std::vector<std::vector<BlockPair>> take() const
	{
		std::vector<std::vector<BlockPair>> pairs(measured_.size());
		for (size_t which = 0; which < measured_.size(); which++)
			for (const auto &[round, both] : rounds_[which])
				if (both[0] && both[1] && both[0]->complete >= kFewestPaths && both[1]->complete >= kFewestPaths)
					pairs[which].push_back({*both[0], *both[1]});
		return pairs;
	}

private:
	const std::vector<const Injection *> &measured_;
	std::vector<RelayStamps> relays_;
	std::vector<std::map<uint32_t, std::array<std::optional<BlockMeans>, 2>>> rounds_; // by injection, then by round
};

} // namespace

std::vector<std::vector<BlockPair>> read_pairs(const std::string &run, const std::vector<const Injection *> &measured)
{
	Pairs pairs(measured, read_relay_stamps(run + "/" + kStampsFolder));
	resolve::resolve(run, pairs);
	return pairs.take();
}

std::vector<RelayStamps> read_relay_stamps(const std::string &folder)
{
	std::vector<RelayStamps> relays;
	std::error_code none;
	const auto file = std::make_unique<RelayFile>();
	for (const auto &entry : std::filesystem::directory_iterator(folder, none)) {
		std::ifstream stream(entry.path(), std::ios::binary);
		if (!stream.read(reinterpret_cast<char *>(file.get()), sizeof(RelayFile)))
			continue;
		RelayStamps &relay = relays.emplace_back();
		relay.tid = file->tid;
		for (const RelayStamp &stamp : file->stamps) {
			if (stamp.taken_ns == 0 || stamp.given_ns < stamp.taken_ns)
				break;
			relay.stamps.push_back(stamp);
		}
	}
	return relays;
}

} // namespace icepath::selftest
