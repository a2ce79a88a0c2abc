// SPDX-License-Identifier: Apache-2.0
#include "profiler/noise/gaps.h"

#include <algorithm>
#include <map>
#include <string>

#include "icepath/plugin.h"
#include "profiler/path/interference.h"
#include "profiler/path/shares.h"

namespace icepath::noise {
namespace {

constexpr const char *kUnknown = "unknown";

// By name; without those of which nothing is left.
std::map<std::string, uint64_t> parts_of(const Gap &gap, const path::Observations &seen, const path::Thread &thread)
{
	std::map<std::string, uint64_t> parts;
	uint64_t known_ns = 0;
	if (!path::lost_within(seen, gap.begin_ns, gap.end_ns))
		for (const path::Interference &one : path::interferences(seen, thread, gap.begin_ns, gap.end_ns)) {
			parts[path::culprit_name(one.who, seen.task_names)] += one.ns;
			known_ns += one.ns;
		}
	if (known_ns < gap.ns())
		parts[kUnknown] += gap.ns() - known_ns;
	return parts;
}

std::string counted_for(const std::map<std::string, uint64_t> &parts)
{
	const auto unknown = parts.find(kUnknown);
	std::string name = kUnknown;
	uint64_t longest_ns = unknown == parts.end() || unknown->second <= kEnteringNs ? 0 : unknown->second;
	for (const auto &[part, ns] : parts)
		if (part != kUnknown && ns > longest_ns) {
			name = part;
			longest_ns = ns;
		}
	return name;
}

} // namespace

bool is_task(std::string_view source)
{
	if (source == kUnknown || source == "throttled" || source.starts_with("idle ") || source.starts_with("NMI"))
		return false;
	return source.find("interrupt") == std::string_view::npos && source.find("softirq ") == std::string_view::npos &&
		   !source.ends_with(" softirq");
}

Spun spin(uint64_t ns_in_all, std::span<Gap> room)
{
	Spun spun;
	spun.begin_ns = icepath_now_ns();
	const uint64_t until_ns = spun.begin_ns + ns_in_all;
	uint64_t last_ns = spun.begin_ns;
	while (last_ns < until_ns) {
		const uint64_t now_ns = icepath_now_ns(), ns = now_ns - last_ns;
		if (ns > kLeastGapNs) {
			if (spun.gaps < room.size())
				room[spun.gaps] = {last_ns, now_ns};
			spun.gaps++;
			spun.ns += ns;
			spun.longest_ns = std::max(spun.longest_ns, ns);
		}
		last_ns = now_ns;
	}
	spun.end_ns = last_ns;
	return spun;
}

void add(const Spun &spun, std::span<const Gap> gaps, const path::Observations *seen, uint32_t tid,
		 model::CpuNoise &noise)
{
	noise.of_ns += spun.end_ns - spun.begin_ns;
	noise.gaps += spun.gaps;
	noise.ns += spun.ns;
	const bool has_longest = spun.longest_ns > noise.longest_ns;
	noise.longest_ns = std::max(noise.longest_ns, spun.longest_ns);
	if (!seen)
		return;
	if (has_longest)
		noise.longest_source = kUnknown; // unless it is among `gaps`
	const path::Thread &thread = seen->threads.at(tid);
	const auto source_of = [&](const std::string &name) -> model::NoiseSource & {
		const auto source = std::ranges::find(noise.sources, name, &model::NoiseSource::name);
		return source != noise.sources.end() ? *source : noise.sources.emplace_back(model::NoiseSource{name});
	};
	uint64_t gaps_left = spun.gaps, ns_left = spun.ns;
	for (const Gap &gap : gaps) {
		const auto parts = parts_of(gap, *seen, thread);
		for (const auto &[name, ns] : parts) {
			model::NoiseSource &source = source_of(name);
			source.ns += ns;
			source.longest_ns = std::max(source.longest_ns, ns);
		}
		const std::string name = counted_for(parts);
		source_of(name).gaps++;
		if (has_longest && gap.ns() == spun.longest_ns)
			noise.longest_source = name;
		gaps_left--;
		ns_left -= gap.ns();
	}
	if (gaps_left > 0) { // there was no room for them
		model::NoiseSource &unknown = source_of(kUnknown);
		unknown.gaps += gaps_left;
		unknown.ns += ns_left;
		unknown.longest_ns = std::max(unknown.longest_ns, spun.longest_ns);
	}
	std::ranges::stable_sort(noise.sources, std::ranges::greater(), &model::NoiseSource::ns);
}

} // namespace icepath::noise
