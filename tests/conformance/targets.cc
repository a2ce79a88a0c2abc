// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <set>
#include <stdexcept>

namespace icepath::test {
namespace {

// A byte stream's messages have no limit: the suite stops here.
constexpr uint64_t kLargestTested = 4 * 1024 * 1024;

std::vector<std::string> plugin_names()
{
	std::vector<std::string> names;
	const std::filesystem::path folder = std::filesystem::path(plugin_path("x")).parent_path();
	for (const auto &entry : std::filesystem::directory_iterator(folder)) {
		const std::string file = entry.path().filename();
		if (file.starts_with("icepath-") && file.ends_with(".so"))
			names.push_back(file.substr(8, file.size() - 8 - 3));
	}
	if (const char *only = std::getenv("ICEPATH_CONFORMANCE_PLUGIN"))
		std::erase_if(names, [&](const std::string &name) { return name != only; });
	if (names.empty())
		throw std::runtime_error("no plug-in to test in " + folder.string());
	std::sort(names.begin(), names.end());
	return names;
}

// Messages shorter than a payload's head test copying, not waiting.
constexpr uint64_t kWholeHead = sizeof(worker::PayloadHead);
constexpr uint64_t kSizes[] = {1, 7, 16, 64, 4096, 65536};

std::set<uint64_t> sizes_of(const worker::TargetReply &told)
{
	std::set<uint64_t> sizes(std::begin(kSizes), std::end(kSizes));
	sizes.insert(std::min(told.max_payload_bytes, kLargestTested));
	if (const uint64_t part = told.max_part_bytes; part > 1)
		sizes.insert({part, part + 1, 2 * part - 1});
	sizes.erase(sizes.upper_bound(told.max_payload_bytes), sizes.end());
	return sizes;
}

std::set<uint64_t> sizes_beyond(const worker::TargetReply &told)
{
	std::set<uint64_t> sizes(std::begin(kSizes), std::end(kSizes));
	sizes.insert(told.max_payload_bytes + 1);
	sizes.erase(sizes.begin(), sizes.upper_bound(told.max_payload_bytes));
	return sizes;
}

template <class Sizes> std::vector<Case> every_case(Sizes sizes)
{
	std::vector<Case> all;
	for (const TargetUnderTest &target : all_targets()) {
		if (target.told.why_not[0])
			continue;
		for (const model::Wait each : model::kWaits) {
			const icepath_wait wait = targets::bit_of(each);
			for (const bool one_way : {false, true})
				for (const uint64_t size : sizes(target.told))
					if ((target.told.waits & wait) && (size >= kWholeHead || wait == target.some_wait()))
						all.push_back({target.plugin, target.told.name, target.told, wait, one_way, size});
		}
	}
	return all;
}

} // namespace

const std::vector<TargetUnderTest> &all_targets()
{
	static const std::vector<TargetUnderTest> targets = [] {
		std::vector<TargetUnderTest> found;
		for (const std::string &name : plugin_names()) {
			WorkerUnderTest describer;
			worker::Request request{};
			request.kind = worker::RequestKind::Describe;
			plugin_path(name).copy(request.plugin, sizeof(request.plugin) - 1);
			for (;; request.index++) {
				const worker::Reply reply = describer.ask(request);
				if (reply.status != worker::ReplyStatus::Done)
					throw std::runtime_error(reply.message);
				if (reply.target.name[0] == 0)
					break;
				found.push_back({name, reply.target});
			}
		}
		return found;
	}();
	return targets;
}

model::Wait wait_of(icepath_wait wait) { return *std::ranges::find(model::kWaits, wait, targets::bit_of); }

PairPlan Case::plan() const
{
	PairPlan plan;
	plan.plugin = plugin;
	plan.target = target;
	plan.wait = wait;
	plan.one_way = one_way;
	plan.payload_bytes = payload_bytes;
	plan.threads = is_within_process();
	return plan;
}

bool is_lossy(const std::string &target)
{
	return std::ranges::any_of(all_targets(), [&](const TargetUnderTest &one) {
		return one.told.name == target && (one.told.capabilities & ICEPATH_IS_LOSSY) != 0;
	});
}

// Each message of a ping-pong with Nagle's algorithm takes 44 ms each way, one of 4 MiB goes in hundreds of parts, and
// each part or message by polling takes a scheduler's turn, beside other tests.
uint32_t Case::messages() const
{
	if (goes_in_turns())
		return 3;
	if (payload_bytes > 65536 || target.ends_with("-nagle"))
		return 8;
	return wait == ICEPATH_WAIT_POLL && !one_way ? 40 : 150;
}

uint32_t Case::warm_up() const { return goes_in_turns() ? 1 : 5; }

bool Case::goes_in_turns() const { return wait == ICEPATH_WAIT_POLL && payload_bytes > 65536; }

double Case::rate_hz() const { return payload_bytes > 4096 ? 1000 : 10'000; }

std::string Case::test_name() const
{
	std::string words =
		fmt::format("{}_{}_{}_{}", target, name(wait_of(wait)), one_way ? "oneway" : "pingpong", payload_bytes);
	std::replace_if(words.begin(), words.end(), [](char c) { return c == '-' || c == '/'; }, '_');
	return words;
}

void PrintTo(const Case &each, std::ostream *out) { *out << each.test_name(); }
void PrintTo(const TargetUnderTest &each, std::ostream *out) { *out << each.told.name; }

const std::vector<Case> &all_cases()
{
	static const std::vector<Case> cases = every_case(sizes_of);
	return cases;
}

std::vector<Case> cases_beyond() { return every_case(sizes_beyond); }

std::vector<Case> cases_of_size(uint64_t bytes)
{
	std::vector<Case> some;
	for (const Case &each : all_cases())
		if (each.payload_bytes == std::min(bytes, each.told.max_payload_bytes))
			some.push_back(each);
	return some;
}

} // namespace icepath::test
