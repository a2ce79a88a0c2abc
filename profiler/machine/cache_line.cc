// SPDX-License-Identifier: Apache-2.0
#include "profiler/machine/cache_line.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "icepath/plugin.h"
#include "profiler/machine/wakes.h"
#include "profiler/rundir/limits.h"

namespace icepath::machine {
namespace {

constexpr size_t kBatches = 31;
constexpr uint32_t kTrips = 50; // of a batch: enough to make the cost of reading the clock small
constexpr uint64_t kPeriodNs = 250'000'000;
constexpr size_t kMostLines = 8;
constexpr uint32_t kOver = UINT32_MAX;

// Starts at 0. The first thread stores n, the second answers n + 1; kOver ends the exchange.
struct alignas(256) Word {
	std::atomic<uint32_t> value{0};
};

// False: time is up, or the exchange is over.
bool await(const Word &word, uint32_t wanted, uint64_t give_up_ns)
{
	constexpr uint32_t kLooks = 1024; // between looks at the clock
	for (;;) {
		for (uint32_t look = 0; look < kLooks; look++) {
			const uint32_t value = word.value.load(std::memory_order_acquire);
			if (value == wanted)
				return true;
			if (value == kOver)
				return false;
		}
		if (icepath_now_ns() >= give_up_ns)
			return false;
	}
}

std::vector<uint64_t> batches(Word &word, uint64_t give_up_ns)
{
	std::vector<uint64_t> took_ns;
	uint32_t next = 1;
	// The first batch waits for the other thread to begin, and isn't kept.
	for (size_t batch = 0; batch <= kBatches; batch++) {
		const uint64_t begin_ns = icepath_now_ns();
		for (uint32_t trip = 0; trip < kTrips; trip++, next += 2) {
			word.value.store(next, std::memory_order_release);
			if (!await(word, next + 1, give_up_ns))
				return took_ns;
		}
		if (batch > 0)
			took_ns.push_back(icepath_now_ns() - begin_ns);
	}
	return took_ns;
}

void answer(Word &word, uint64_t give_up_ns)
{
	for (uint32_t wanted = 1; await(word, wanted, give_up_ns); wanted += 2) {
		uint32_t expected = wanted;
		word.value.compare_exchange_strong(expected, wanted + 1, std::memory_order_acq_rel);
	}
}

} // namespace

std::optional<uint64_t> round_trip_ns(uint32_t from_cpu, uint32_t to_cpu)
{
	Word word;
	const uint64_t give_up_ns = icepath_now_ns() + kLongestLineNs;
	std::vector<uint64_t> took_ns;
	std::thread from([&] {
		if (stay_on(from_cpu))
			took_ns = batches(word, give_up_ns);
		word.value = kOver;
	});
	std::thread to([&] {
		if (stay_on(to_cpu))
			answer(word, give_up_ns);
		else
			word.value = kOver;
	});
	from.join();
	to.join();
	if (took_ns.size() < kBatches / 2)
		return std::nullopt;
	std::ranges::sort(took_ns);
	return took_ns[took_ns.size() / 2] / kTrips;
}

CacheLines::CacheLines(const std::vector<uint32_t> &cpus, double budget_s)
	: period_ns_(std::max(kPeriodNs, static_cast<uint64_t>(2 * budget_s * 1e9 / rundir::kMaxLineTimes)))
{
	for (size_t i = 1; i < std::min(cpus.size(), kMostLines + 1); i++)
		lines_.push_back({cpus[0], cpus[i]});
}

void CacheLines::look()
{
	last_ns_ = icepath_now_ns();
	for (model::CacheLine &line : lines_)
		if (line.times.size() < rundir::kMaxLineTimes)
			if (const auto took_ns = round_trip_ns(line.from_cpu, line.to_cpu))
				line.times.push_back({icepath_now_ns(), *took_ns});
}

void CacheLines::look_if_due()
{
	if (icepath_now_ns() - last_ns_ >= period_ns_)
		look();
}

} // namespace icepath::machine
