// SPDX-License-Identifier: Apache-2.0
// Which of the loaded programs are attached, and how often the kernel skipped them.
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "profiler/capture/bpf_object.h"
#include "profiler/capture/capture.h"
#include "profiler/capture/skip_times.h"

namespace icepath::capture {

ProbeSet Capture::refused_when_attached()
{
	const ProbeSet loaded = available_;
	attach(loaded);
	attach(0);
	return loaded & ~available_;
}

void Capture::attach(ProbeSet wanted)
{
	attached_ = wanted;
	if (families_ > 0)
		wanted |= bit(number_of("task_newtask"));
	wanted &= available_;
	for (size_t i = 0; i < kProbes.size(); i++) {
		const bool want = (wanted & bit(i)) != 0;
		if (want == (links_[i] != nullptr))
			continue;
		if (!want) {
			detach_probe(i);
		} else if (!attach_probe(i)) {
			const int why = errno;
			detach_probe(i);
			selection_[i] = {
				false, {}, fmt::format("{}: attaching: {}", described(selection_[i].candidate), std::strerror(why))};
			available_ &= ~bit(i);
		}
	}
}

bool Capture::attach_probe(size_t probe)
{
	const Candidate &candidate = selection_[probe].candidate;
	for (const bpf_program *program : beside(bpf_, candidate)) {
		bpf_link *link = bpf_program__attach(program);
		if (!link)
			return false;
		links_beside_[probe].push_back(link);
	}
	links_[probe] = bpf_program__attach(program_of(bpf_, candidate));
	if (!links_[probe])
		return false;
	if (const bpf_program *second = second_of(bpf_, candidate))
		second_links_[probe] = bpf_program__attach(second); // without it, the first one's skips are losses
	return true;
}

void Capture::detach_probe(size_t probe)
{
	bpf_link__destroy(std::exchange(links_[probe], nullptr)); // takes null
	bpf_link__destroy(std::exchange(second_links_[probe], nullptr));
	for (bpf_link *link : std::exchange(links_beside_[probe], {}))
		bpf_link__destroy(link);
}

Misses Capture::misses() const
{
	Misses misses;
	for (size_t i = 0; i < kProbes.size(); i++) {
		// Of two programs one always runs, as long as they know the context (sockets.bpf.h).
		if (!links_[i] || (second_links_[i] && links_[number_of("softirq_entry")]))
			continue;
		uint64_t &sum = is_of_an_instant(kProbes[i]) ? misses.of_an_instant : misses.lasting;
		sum += misses_of(program_of(bpf_, selection_[i].candidate), links_[i]);
		const std::vector<bpf_program *> others = beside(bpf_, selection_[i].candidate);
		for (size_t k = 0; k < others.size(); k++)
			sum += misses_of(others[k], links_beside_[i][k]);
	}
	return misses;
}

} // namespace icepath::capture
