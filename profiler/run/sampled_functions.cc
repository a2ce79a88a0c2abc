// SPDX-License-Identifier: Apache-2.0
#include "profiler/run/sampled_functions.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/capture/named_stacks.h"
#include "profiler/capture/sampling_timers.h"
#include "profiler/failure.h"
#include "profiler/model/printable.h"

namespace icepath::run {
namespace {

// The window's tables of functions and stacks, as they grow.
class Tables {
public:
	explicit Tables(model::Window &window) : window_(window) {}

	uint32_t function(const std::string &name)
	{
		const auto [at, is_new] =
			functions_.try_emplace(model::printable(name, model::kLongestName), window_.functions.size());
		if (is_new)
			window_.functions.push_back(at->first);
		return at->second;
	}

	uint32_t stack(const std::vector<uint32_t> &functions)
	{
		const auto [at, is_new] = stacks_.try_emplace(functions, window_.stacks.size());
		if (is_new)
			window_.stacks.push_back(functions);
		return at->second;
	}

private:
	model::Window &window_;
	std::map<std::string, uint32_t> functions_;
	std::map<std::vector<uint32_t>, uint32_t> stacks_;
};

// From the outermost function on.
std::vector<uint32_t> kernel_stack(const capture::NamedStack &stack, const capture::FunctionNames &names,
								   Tables &tables)
{
	std::vector<uint32_t> functions;
	for (uint32_t i = std::min<uint32_t>(stack.depth, ICEPATH_STACK_DEPTH); i-- > 0;) {
		const auto &name = names.names[std::min<size_t>(stack.functions[i], capture::kMostFunctions - 1)];
		functions.push_back(tables.function({name.data(), strnlen(name.data(), name.size())}));
	}
	return functions;
}

} // namespace

uint64_t sampling_period_ns(std::optional<double> rate_hz, uint64_t block_ns)
{
	constexpr double kUsualNs = 250'000, kTickNs = 4'000'000, kGolden = 0.618034;
	constexpr double kRoom = capture::kStacksOfCpu * 0.5; // a golden period may be so much shorter than wanted
	const double wanted_ns = std::max(kUsualNs, static_cast<double>(block_ns) / kRoom);
	const double of_ns = rate_hz && *rate_hz > 0 ? 1e9 / *rate_hz : kTickNs;
	const auto golden = [](double ratio) { return std::max(0.0, std::round(ratio - kGolden)) + kGolden; };
	const double period_ns = of_ns > wanted_ns ? of_ns / golden(of_ns / wanted_ns) : of_ns * golden(wanted_ns / of_ns);
	return static_cast<uint64_t>(std::llround(std::min(period_ns, double{capture::kLongestPeriodNs})));
}

SampledFunctions::SampledFunctions(Fd named) : named_(std::move(named))
{
	struct stat status{};
	void *memory = MAP_FAILED;
	if (fstat(named_.get(), &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(capture::FunctionNames)))
		memory = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_SHARED, named_.get(), 0);
	if (memory == MAP_FAILED)
		throw Failure(ExitCode::MachineCannot,
					  fmt::format("cannot map the sampled functions' names: {}", std::strerror(errno)));
	memory_ = memory;
	bytes_ = static_cast<size_t>(status.st_size);
}

SampledFunctions::~SampledFunctions()
{
	if (memory_)
		munmap(const_cast<void *>(memory_), bytes_);
}

SampledFunctions &SampledFunctions::operator=(SampledFunctions &&other) noexcept
{
	std::swap(named_, other.named_);
	std::swap(memory_, other.memory_);
	std::swap(bytes_, other.bytes_);
	std::swap(user_, other.user_);
	return *this;
}

void SampledFunctions::name(model::Window &window)
{
	user_.look_again();
	Tables tables(window);
	const auto *names = static_cast<const capture::FunctionNames *>(memory_);
	const auto *stacks = reinterpret_cast<const capture::NamedStack *>(names + 1);
	const size_t room = memory_ ? (bytes_ - sizeof(capture::FunctionNames)) / sizeof(capture::NamedStack) : 0;
	for (model::SlotCapture &slot : window.slots)
		for (icepath_record &record : slot.records) {
			if (record.type != ICEPATH_RECORD_SAMPLE)
				continue;
			const uint64_t address = std::exchange(record.sample.user_address, 0);
			const uint32_t number = std::exchange(record.sample.stack, 0);
			std::vector<uint32_t> functions;
			if (address != 0)
				functions = {tables.function(user_.name(record.sample.tgid, address))};
			else if (number != 0 && number <= room)
				functions = kernel_stack(stacks[number - 1], *names, tables);
			if (!functions.empty())
				record.sample.stack = tables.stack(functions) + 1;
		}
}

} // namespace icepath::run
