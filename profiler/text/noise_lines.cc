// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/noise_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/stats/quantity.h"
#include "profiler/text/table.h"

namespace icepath::text {
namespace {

constexpr size_t kNamedInLine = 3;

std::string time_of(uint64_t ns) { return stats::duration(static_cast<double>(ns)); }

} // namespace

std::string noise_text(const model::CpuNoise &noise)
{
	if (noise.gaps == 0)
		return fmt::format("no gap in {}", time_of(noise.of_ns));
	return fmt::format("{} gap{}, {} of {}, longest {}{}", stats::count(noise.gaps), noise.gaps == 1 ? "" : "s",
					   time_of(noise.ns), time_of(noise.of_ns), time_of(noise.longest_ns),
					   noise.longest_source.empty() ? "" : fmt::format(" ({})", noise.longest_source));
}

void add_noise_of_cpus(Page &page, const std::vector<model::CpuNoise> &noise)
{
	for (const model::CpuNoise &one : noise) {
		page.paragraph(fmt::format("CPU {}", one.cpu), noise_text(one));
		Table table({{}, {Side::Right, 8}, {Side::Right, 8}, {Side::Right, 8}});
		if (!one.sources.empty())
			table.add({"what took it", "gaps", "in all", "longest"});
		for (const model::NoiseSource &source : one.sources)
			table.add({source.name, stats::count(source.gaps), time_of(source.ns), time_of(source.longest_ns)});
		table.add_to(page);
	}
}

void add_quiet(Page &page, const model::Head &head)
{
	std::string text;
	for (const model::CpuNoise &one : head.noise) {
		text += fmt::format("{}CPU {}: {}", text.empty() ? "" : " · ", one.cpu, noise_text(one));
		for (const model::CpuNoise &before : head.noise_before)
			if (before.cpu == one.cpu)
				text += fmt::format("; before it was isolated {}", noise_text(before));
	}
	if (!text.empty())
		page.paragraph("quiet", "before the first block: " + text);
}

void add_interference(Page &page, const std::vector<model::CpuNoise> &interference)
{
	std::string text;
	for (const model::CpuNoise &one : interference) {
		if (one.gaps == 0)
			continue;
		text +=
			fmt::format("{}CPU {} {} of {}:", text.empty() ? "" : " · ", one.cpu, time_of(one.ns), time_of(one.of_ns));
		for (size_t i = 0; i < std::min(one.sources.size(), kNamedInLine); ++i)
			text +=
				fmt::format("{} {} {} in {} time{}", i == 0 ? "" : ",", one.sources[i].name, time_of(one.sources[i].ns),
							stats::count(one.sources[i].gaps), one.sources[i].gaps == 1 ? "" : "s");
	}
	if (!text.empty())
		page.paragraph("kept off", "workers that could have run, of their time in blocks with probes: " + text);
}

} // namespace icepath::text
